"""Exotel's side: the Voicebot applet's request, the messages of its socket.

Protocol: https://developer.exotel.com/docs/agentstream/websocket-protocol.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np

from frontdesk import WireError
from telephony.far_end import Dialled, Message, Request, json_message, media_payload
from telephony.far_ends.json_stream import JsonStream
from telephony.g711 import ulaw_decode, ulaw_encode

_FRAMES_A_MESSAGE = 5
_MIN_BYTES, _MAX_BYTES, _MULTIPLE = 3200, 102_400, 320


class ExotelFarEnd(JsonStream):
    """One call at Exotel: 16-bit linear audio, 100 ms a message.

    ``secret`` is what the applet's URL carries.
    """

    name = "exotel"
    path = "/exotel/voice"
    account_id = "exotel1"
    stream_key = "stream_sid"
    number_key = "sequence_number"

    def __init__(
        self, call_id: str, *, caller: str = "", called: str = "", secret: str = ""
    ) -> None:
        super().__init__(call_id, caller=caller, called=called)
        self._secret = secret
        self._chunk = 0
        self._gathered: list[bytes] = []
        self._first_frame = 0

    def request(self) -> Request:
        """What the applet asks of its HTTPS URL, by GET."""
        query = {
            "CallSid": self.call_id,
            "CallFrom": self.caller,
            "CallTo": self.called,
            "Direction": "incoming",
            **({"key": self._secret} if self._secret else {}),
        }
        return Request(f"{self.path}?{urlencode(query)}", method="GET")

    def dialled(self, body: str) -> Dialled:
        """The ``url`` of the JSON answer."""
        url = json_message(body).get("url")
        if not isinstance(url, str):
            raise WireError("its answer holds no url; the call was refused")
        return Dialled(url)

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``connected`` and ``start``."""
        start = {
            "stream_sid": self._stream_id,
            "call_sid": self.call_id,
            "account_sid": self.account_id,
            "from": self.caller,
            "to": self.called,
            "custom_parameters": dict(parameters),
            "media_format": {"encoding": "audio/x-raw", "sample_rate": "8000", "bit_rate": "16"},
        }
        return [json.dumps({"event": "connected"}), self.message("start", start=start)]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """A media message with every fifth frame."""
        if not self._gathered:
            self._first_frame = frame
        self._gathered.append(payload)
        return self._sent() if len(self._gathered) == _FRAMES_A_MESSAGE else []

    def lost(self) -> None:
        """The frame leaves a gap; what was gathered before it goes out as silence would."""
        if self._gathered:
            self._gathered.append(bytes([0xFF]) * 160)

    def press(self, digit: str) -> list[Message]:
        """A dtmf message, behind the audio before it."""
        return [*self._sent(), self.message("dtmf", dtmf={"digit": digit, "duration": "100"})]

    def hang_up(self) -> list[Message]:
        """The stop message."""
        stop = {"call_sid": self.call_id, "account_sid": self.account_id, "reason": "callended"}
        return [*self._sent(), self.message("stop", stop=stop)]

    def audio(self, message: Mapping[str, Any]) -> bytes:
        """The agent's audio, in messages of the sizes that Exotel plays well."""
        linear = media_payload(message)
        if not _MIN_BYTES <= len(linear) <= _MAX_BYTES or len(linear) % _MULTIPLE:
            raise WireError("the agent sent audio in a size that Exotel does not play")
        return ulaw_encode(np.frombuffer(linear, "<i2").astype(np.int16))

    def _sent(self) -> list[Message]:
        if not self._gathered:
            return []
        linear = ulaw_decode(b"".join(self._gathered)).astype("<i2").tobytes()
        self._gathered = []
        self._chunk += 1
        media = {
            "chunk": str(self._chunk),
            "timestamp": str(self._first_frame * 20),
            "payload": base64.b64encode(linear).decode("ascii"),
        }
        return [self.message("media", media=media)]
