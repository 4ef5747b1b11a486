"""Vonage's side: its answer webhook, NCCOs, the messages of its WebSocket.

Protocol: https://developer.vonage.com/en/voice/voice-api/concepts/websockets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from frontdesk import WireError
from telephony.far_end import (
    Clear,
    Dialled,
    FarEnd,
    FromAgent,
    Mark,
    Media,
    Message,
    Request,
    json_message,
)
from telephony.far_ends.halfband import Doubler, Halver
from telephony.far_ends.json_answer import json_array
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.linear import read_linear, write_linear

_MESSAGE_SAMPLES = 320
_CONTENT_TYPE = "audio/l16;rate=16000"


class VonageFarEnd(FarEnd):
    """One call at Vonage. A mark is a payload of the agent's, in JSON."""

    name = "vonage"
    path = "/vonage/voice"

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._up, self._down = Doubler(), Halver()

    def request(self) -> Request:
        """The answer webhook's JSON."""
        return Request(
            self.path,
            json={
                "uuid": self.call_id,
                "conversation_uuid": f"CON-{self.call_id}",
                "from": self.caller,
                "to": self.called,
            },
        )

    def dialled(self, body: str) -> Dialled:
        """What the NCCO's connect action says."""
        for action in json_array(body):
            for endpoint in action.get("endpoint", []):
                if isinstance(endpoint, dict) and endpoint.get("type") == "websocket":
                    if endpoint.get("content-type") != _CONTENT_TYPE:
                        raise WireError(f"its answer asks for another stream than {_CONTENT_TYPE}")
                    headers = endpoint.get("headers", {})
                    return Dialled(endpoint.get("uri", ""), {k: str(v) for k, v in headers.items()})
        raise WireError("its answer offers no media stream; the call was refused")

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``websocket:connected``, with the NCCO's headers in it."""
        numbers = {"call_id": self.call_id, "caller": self.caller, "called": self.called}
        head = {"event": "websocket:connected", "content-type": _CONTENT_TYPE}
        return [json.dumps({**head, **numbers, **parameters})]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """640 bytes of linear audio."""
        return [write_linear(self._up(ulaw_decode(payload)))]

    def played(self, names: Sequence[str]) -> list[Message]:
        """The payloads come back."""
        return [_event("notify", payload=json.loads(name)) for name in names]

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """One message, whatever was dropped."""
        return [_event("cleared")]

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        return [_event("dtmf", digit=digit, duration=260)]

    def read(self, data: Message) -> list[FromAgent]:
        """Media, notifies and clears."""
        if isinstance(data, bytes):
            if len(data) != 2 * _MESSAGE_SAMPLES:
                raise WireError("the agent sent audio that is not 20 ms")
            samples = read_linear(data, _MESSAGE_SAMPLES)
            return [Media(ulaw_encode(self._down(samples)))]
        message = json_message(data)
        match message.get("action"):
            case "clear":
                return [Clear()]
            case "notify" if isinstance(message.get("payload"), dict):
                return [Mark(json.dumps(message["payload"]))]
        raise WireError("the agent sent an action that is not notify or clear")


def _event(name: str, **fields: Any) -> str:
    return json.dumps({"event": f"websocket:{name}", **fields})
