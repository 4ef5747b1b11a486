"""Plivo's side: its answer webhook's form, the messages of audio streaming.

Protocol: https://www.plivo.com/docs/voice-agents/audio-streaming/concepts/
audio-streaming-reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from frontdesk import WireError
from telephony.far_end import Dialled, Message, Request, media_payload, xml_answer
from telephony.far_ends.json_stream import JsonStream

_ULAW = {"contentType": "audio/x-mulaw", "sampleRate": 8000}


class PlivoFarEnd(JsonStream):
    """One call at Plivo."""

    name = "plivo"
    path = "/plivo/voice"
    account_id = "MA" + "X" * 18
    stream_key = "streamId"
    numbers = int
    agent_names_stream = False
    audio_event = "playAudio"
    mark_event = "checkpoint"
    clear_event = "clearAudio"
    epoch_ms = 1_700_000_000_000  # its timestamps are of the day, not of the stream

    def request(self) -> Request:
        """The answer webhook's form."""
        return Request(
            self.path,
            form={
                "CallUUID": self.call_id,
                "From": self.caller,
                "To": self.called,
                "CallStatus": "ringing",
                "Direction": "inbound",
                "Event": "StartApp",
                "ParentAuthID": self.account_id,
            },
        )

    def dialled(self, body: str) -> Dialled:
        """What the XML's ``<Stream>`` says."""
        stream = xml_answer(body).find("./Stream")
        if stream is None or stream.get("bidirectional") != "true":
            raise WireError("its answer offers no media stream both ways; the call was refused")
        if stream.get("keepCallAlive") != "true":
            raise WireError("its answer does not keep the call alive")
        if stream.get("contentType") != "audio/x-mulaw;rate=8000":
            raise WireError("its answer asks for another format")
        extra = stream.get("extraHeaders", "")
        pairs = (pair.partition("=") for pair in extra.split(",") if pair)
        return Dialled((stream.text or "").strip(), {name: value for name, _, value in pairs})

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``start``, which has its stream's id inside only."""
        self._sequence += 1
        start = {
            "callId": self.call_id,
            "streamId": self._stream_id,
            "accountId": self.account_id,
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
        }
        message = {
            "event": "start",
            "sequenceNumber": self._sequence,
            "start": start,
            "extra_headers": ",".join(f"{name}={value}" for name, value in parameters.items()),
        }
        return [json.dumps(message)]

    def played(self, names: Sequence[str]) -> list[Message]:
        """The checkpoints come back."""
        return [self.message("playedStream", name=name) for name in names]

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """A confirmation; the checkpoints of what was dropped never come back."""
        return [self.message("clearedAudio")]

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        pressed = {"track": "inbound", "digit": digit, "timestamp": str(self.epoch_ms)}
        return [self.message("dtmf", dtmf=pressed)]

    def audio(self, message: Mapping[str, Any]) -> bytes:
        """The µ-law of the agent's playAudio, which must be of the stream's format."""
        payload = media_payload(message)
        if any(message["media"].get(name) != due for name, due in _ULAW.items()):
            raise WireError("the agent sent audio of another format than the stream's")
        return payload

    def mark(self, message: Mapping[str, Any]) -> str:
        """The name of the agent's checkpoint."""
        name = message.get("name")
        if not isinstance(name, str):
            raise WireError("the agent sent a checkpoint without a name")
        return name
