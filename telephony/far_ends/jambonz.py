"""jambonz' side: its calling webhook, verbs, the messages of the listen verb's WebSocket.

Protocol: https://docs.jambonz.org/verbs/verbs/listen,
https://docs.jambonz.org/reference/webhooks/call-hook-post.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from frontdesk import WireError
from telephony.far_end import (
    Clear,
    Dialled,
    FarEnd,
    FromAgent,
    HangUp,
    Mark,
    Media,
    Message,
    Request,
    json_message,
)
from telephony.far_ends.json_answer import json_array
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.linear import read_linear, write_linear

_SUBPROTOCOL = "audio.jambonz.org"
_RATE_HZ = 8000
_MAX_SAMPLES = 60 * _RATE_HZ


class JambonzFarEnd(FarEnd):
    """One call at jambonz."""

    name = "jambonz"
    path = "/jambonz/voice"
    account_id = "0" * 32

    def request(self) -> Request:
        """The calling webhook's JSON."""
        return Request(
            self.path,
            json={
                "call_sid": self.call_id,
                "account_sid": self.account_id,
                "call_id": f"{self.call_id}@sip",
                "direction": "inbound",
                "from": self.caller,
                "to": self.called,
                "call_status": "trying",
                "sip_status": 100,
            },
        )

    def dialled(self, body: str) -> Dialled:
        """What the listen verb says."""
        for verb in json_array(body):
            if verb.get("verb") in ("listen", "stream"):
                _check(verb)
                return Dialled(verb.get("url", ""), subprotocols=(_SUBPROTOCOL,))
        raise WireError("its answer offers no media stream; the call was refused")

    def socket(self, url: str) -> Dialled:
        """With the subprotocol that every listen verb asks for."""
        return Dialled(url, subprotocols=(_SUBPROTOCOL,))

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """The call's attributes."""
        attributes = {
            "sampleRate": _RATE_HZ,
            "mixType": "mono",
            "callSid": self.call_id,
            "direction": "inbound",
            "from": self.caller,
            "to": self.called,
            "callId": f"{self.call_id}@sip",
            "sipStatus": 200,
            "callStatus": "in-progress",
            "accountSid": self.account_id,
        }
        return [json.dumps(attributes)]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """320 bytes of linear audio."""
        return [write_linear(ulaw_decode(payload))]

    def played(self, names: Sequence[str]) -> list[Message]:
        """The marks come back."""
        return [_mark(name, "playout") for name in names]

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """The marks come back as cleared."""
        return [_mark(name, "cleared") for name in names]

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        return [json.dumps({"event": "dtmf", "dtmf": digit, "duration": "1600"})]

    def read(self, data: Message) -> list[FromAgent]:
        """Media, marks, the two messages of a clear, and the end of the verb."""
        if isinstance(data, bytes):
            return [Media(ulaw_encode(read_linear(data, _MAX_SAMPLES)))]
        message = json_message(data)
        match message:
            case {"type": "killAudio"}:
                return [Clear()]
            case {"type": "clearMarks"}:
                return []  # the playout drops them with its audio
            case {"type": "disconnect"}:
                return [HangUp()]
            case {"type": "mark", "data": {"name": str(name)}}:
                return [Mark(name)]
        raise WireError("the agent sent a type that is not mark, clearMarks or killAudio")


def _check(verb: Mapping[str, object]) -> None:
    """Refuse a stream that jambonz would not play, or would play at another speed."""
    both = verb.get("bidirectionalAudio")
    streams = isinstance(both, dict) and both.get("streaming") is True
    if not streams or not isinstance(both, dict) or both.get("sampleRate") != _RATE_HZ:
        raise WireError("its answer does not stream audio back at 8 kHz")
    if verb.get("sampleRate", _RATE_HZ) != _RATE_HZ or verb.get("mixType", "mono") != "mono":
        raise WireError("its answer asks for another stream than 8 kHz mono")


def _mark(name: str, event: str) -> str:
    return json.dumps({"type": "mark", "data": {"name": name, "event": event}})
