"""Asterisk's side of ``chan_websocket``, as its dialplan ``Dial(WebSocket/…/c(ulaw)f(json))``.

Protocol: see ``telephony.asterisk_control``.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence

from telephony.asterisk_control import read_command
from telephony.asterisk_formats import FORMATS
from telephony.far_end import Clear, Dialled, FarEnd, FromAgent, HangUp, Mark, Media, Message, Reply

FORMAT = FORMATS["ulaw"]
PASSWORD = "ASTERISK_PASSWORD"


class AsteriskFarEnd(FarEnd):
    """One call at Asterisk; with ``plain`` the control is plain text.

    ``password`` is its login; None: what the variable holds that the agent's own server reads.
    """

    name = "asterisk"
    path = "/asterisk/media"

    def __init__(
        self,
        call_id: str,
        *,
        caller: str = "",
        called: str = "",
        user: str = "frontdesk",
        password: str | None = None,
        plain: bool = False,
        returned: str = "",
    ) -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._user = user
        self._password = os.environ.get(PASSWORD, "") if password is None else password
        self._plain = plain
        self._returned = returned
        self._channel_id = f"1764530000.{sum(call_id.encode()) % 10000}"

    def socket(self, url: str) -> Dialled:
        """With HTTP Basic and the subprotocol ``media``."""
        login = base64.b64encode(f"{self._user}:{self._password}".encode()).decode("ascii")
        headers = {"Authorization": f"Basic {login}"} if self._password else {}
        return Dialled(url, headers=headers, subprotocols=("media",))

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``MEDIA_START``, with the channel variables of our dialplan."""
        fields: dict[str, object] = {
            "connection_id": "frontdesk",
            "channel": "WebSocket/frontdesk/0x7f0000000000",
            "channel_id": self._channel_id,
            "format": "ulaw",
            "optimal_frame_size": FORMAT.frame_bytes,
            "ptime": 20,
        }
        if self._plain:
            words = " ".join(f"{name}:{value}" for name, value in fields.items())
            return [f"MEDIA_START {words}"]
        variables = {
            "__FRONTDESK_CALL": self.call_id,
            "__FRONTDESK_CHANNEL": "PJSIP/201-00000000",
            "__FRONTDESK_CALLER": self.caller,
            "__FRONTDESK_CALLED": self.called,
            "DIALEDPEERNUMBER": "frontdesk/c(ulaw)f(json)",
        }
        if self._returned:
            variables["__FRONTDESK_RETURNED"] = self._returned
        return [json.dumps({"event": "MEDIA_START", **fields, "channel_variables": variables})]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """The frame as it is."""
        return [payload]

    def played(self, names: Sequence[str]) -> list[Message]:
        """The marks come back."""
        return [self._event("MEDIA_MARK_PROCESSED", correlation_id=name) for name in names]

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """Marks that are flushed never come back."""
        return []

    def press(self, digit: str) -> list[Message]:
        """The end of a key's tone."""
        if self._plain:
            return [f"DTMF_END digit:{digit} channel_id:{self._channel_id}"]
        return [self._event("DTMF_END", digit=digit)]

    def read(self, data: Message) -> list[FromAgent]:
        """Whole frames of audio, and commands."""
        if isinstance(data, bytes):
            whole = len(data) - len(data) % FORMAT.frame_bytes  # the rest is lost, as there
            return [Media(data[:whole])] if whole else []
        name, correlation_id = read_command(data)
        match name:
            case "MARK_MEDIA":
                return [Mark(correlation_id)]
            case "FLUSH_MEDIA":
                return [Clear()]
            case "HANGUP":
                return [HangUp()]
            case "GET_STATUS":
                return [Reply((self._event("STATUS", queue_length=0),))]
        return []

    def _event(self, event: str, **fields: object) -> str:
        if self._plain:
            words = " ".join(str(value) for value in fields.values())
            return f"{event} {words}".rstrip()
        return json.dumps({"event": event, "channel_id": self._channel_id, **fields})
