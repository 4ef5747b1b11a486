"""Twilio's side: its webhook's form, the messages of Media Streams.

Protocol: https://www.twilio.com/docs/voice/media-streams/websocket-messages.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from telephony.far_end import Dialled, Message, Request
from telephony.far_ends.json_stream import JsonStream, connected_stream


class TwilioFarEnd(JsonStream):
    """One call at Twilio."""

    name = "twilio"
    path = "/twilio/voice"
    id_prefix = "CA"
    account_id = "AC" + "0" * 32
    stream_key = "streamSid"

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._stream_id = f"MZ{uuid.uuid4().hex}"

    def request(self) -> Request:
        """The voice webhook's form."""
        return Request(
            self.path,
            form={
                "CallSid": self.call_id,
                "AccountSid": self.account_id,
                "From": self.caller,
                "To": self.called,
                "Caller": self.caller,
                "Called": self.called,
                "CallStatus": "ringing",
                "Direction": "inbound",
                "ApiVersion": "2010-04-01",
            },
        )

    def dialled(self, body: str) -> Dialled:
        """What the TwiML's ``<Connect><Stream>`` says."""
        return connected_stream(body)

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``connected`` and ``start``."""
        start = {
            "accountSid": self.account_id,
            "streamSid": self._stream_id,
            "callSid": self.call_id,
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "customParameters": dict(parameters),
        }
        return [
            json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}),
            self.message("start", start=start),
        ]

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        return [self.message("dtmf", dtmf={"track": "inbound_track", "digit": digit})]

    def hang_up(self) -> list[Message]:
        """The stop message."""
        stop = {"accountSid": self.account_id, "callSid": self.call_id}
        return [self.message("stop", stop=stop)]
