"""Telnyx's side: its TeXML webhook's form, the messages of media streaming.

Protocol: https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Literal

from telephony.far_end import Dialled, Message, Request
from telephony.far_ends.json_stream import JsonStream, connected_stream
from telephony.g711 import alaw_encode, ulaw_decode


class TelnyxFarEnd(JsonStream):
    """One call at Telnyx, its audio in ``encoding``; what the agent sends is µ-law always."""

    name = "telnyx"
    path = "/telnyx/voice"
    id_prefix = "v3:"
    account_id = "00000000-0000-4000-8000-000000000000"
    stream_key = "stream_id"
    number_key = "sequence_number"
    agent_names_stream = False

    def __init__(
        self,
        call_id: str,
        *,
        caller: str = "",
        called: str = "",
        encoding: Literal["PCMU", "PCMA"] = "PCMU",
    ) -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._encoding = encoding

    def request(self) -> Request:
        """The voice webhook's form."""
        return Request(
            self.path,
            form={
                "AccountSid": self.account_id,
                "CallSid": self.call_id,
                "CallSidLegacy": self.call_id,
                "From": self.caller,
                "To": self.called,
                "CallStatus": "ringing",
                "Direction": "inbound",
            },
        )

    def dialled(self, body: str) -> Dialled:
        """What the TeXML's ``<Connect><Stream>`` says."""
        return connected_stream(body, bidirectionalMode="rtp")

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``connected`` and ``start``."""
        start = {
            "user_id": self.account_id,
            "call_control_id": self.call_id,
            "call_session_id": str(uuid.uuid4()),
            "from": self.caller,
            "to": self.called,
            "custom_parameters": dict(parameters),
            "media_format": {"encoding": self._encoding, "sample_rate": 8000, "channels": 1},
        }
        return [
            json.dumps({"event": "connected", "version": "1.0.0"}),
            self.message("start", start=start),
        ]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """A media message, in A-law where the stream is."""
        if self._encoding == "PCMA":
            payload = alaw_encode(ulaw_decode(payload))
        return super().media(frame, payload)

    def hang_up(self) -> list[Message]:
        """The stop message."""
        stop = {"user_id": self.account_id, "call_control_id": self.call_id}
        return [self.message("stop", stop=stop)]
