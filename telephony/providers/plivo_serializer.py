"""Plivo audio streaming in Pipecat: strict, with checkpoints.

Protocol: https://www.plivo.com/docs/voice-agents/audio-streaming/concepts/
audio-streaming-reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from pipecat.frames.frames import Frame, InterruptionFrame, OutputTransportMessageFrame
from pipecat.serializers.plivo import PlivoFrameSerializer

from telephony.marks import MarksOut
from telephony.providers.envelope import Enveloped
from telephony.start import CallStart
from telephony.wire import Listener


class PlivoSerializer(Enveloped, PlivoFrameSerializer):
    """Plivo's wire format.

    Plivo never returns a checkpoint whose audio it cleared; it confirms the clear, and the
    checkpoints sent before it are then told to the listener here.
    """

    known_events = frozenset({"media", "dtmf", "playedStream", "clearedAudio", "stop"})
    stream_key = "streamId"
    close_is_stop = True  # Plivo documents no message before it closes the socket
    audio_event = "playAudio"
    audio_fields = {"contentType": "audio/x-mulaw", "sampleRate": 8000}  # noqa: RUF012

    def __init__(self, call: CallStart, listener: Listener, *, max_bytes: int) -> None:
        super().__init__(
            stream_id=call.stream_id,
            call_id=call.call_id,
            params=PlivoFrameSerializer.InputParams(auto_hang_up=False),
        )
        self.begin(call, listener, max_bytes)
        self._marks = MarksOut()

    def mark(self, name: str) -> dict[str, Any]:
        """A checkpoint."""
        return self.message("checkpoint", name=name)

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``; checkpoints and clears are noted as they leave."""
        message = await super().serialize(frame)
        if message is not None and isinstance(frame, InterruptionFrame):
            self._marks.clear_sent()
        elif message is not None and _is_checkpoint(frame):
            self._marks.sent(frame.message["name"])
        return message

    async def known(self, event: str, message: Mapping[str, Any]) -> Frame | None:
        """What a message of a known event says."""
        if event == "playedStream":
            self._marks.reached(await self.returned(message, event))
            return None
        if event == "clearedAudio":
            for name in self._marks.cleared():
                await self.listener.played(name)
            return None
        return await super().known(event, message)


def _is_checkpoint(frame: Frame) -> TypeGuard[OutputTransportMessageFrame]:
    return (
        isinstance(frame, OutputTransportMessageFrame)
        and frame.message.get("event") == "checkpoint"
    )
