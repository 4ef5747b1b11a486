"""The Pipecat processor between voice and wire: it tells :class:`Playback` what is played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.playback import Playback
from agent.trace import CallTrace

Marks = Callable[[str], dict[str, Any] | None]
"""Makes the wire's message for a mark of that name; the far end returns it once played."""

# A mark that is not back this long after the audio left was lost.
_MARK_TIMEOUT_S = 1.0
# A voice that streams in small pieces gets a mark a second of audio.
_MARK_EVERY_MS = 1000.0


class Playing(FrameProcessor):
    """Follows the agent's audio out; ``marks``, where the wire has them, make it exact.

    ``BotStoppedSpeakingFrame`` goes up when the last mark has come back (:meth:`marked`), so that
    the agent counts as speaking for as long as the caller hears it; after a second without it, it
    goes up anyway.
    """

    def __init__(self, playback: Playback, trace: CallTrace, marks: Marks | None = None) -> None:
        super().__init__()
        self._playback = playback
        self._trace = trace
        self._marks = marks
        self._unmarked_ms = 0.0
        self._held: BotStoppedSpeakingFrame | None = None
        self._waiting: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note what passes; pass it on."""
        await super().process_frame(frame, direction)
        up = direction is FrameDirection.UPSTREAM
        now = self._trace.now_ms()
        match frame:
            case BotStartedSpeakingFrame() if up:
                await self._release()
                self._playback.started(now)
            case BotStoppedSpeakingFrame() if up:
                self._playback.ended(now)
                if self._playback.awaited:
                    self._held = frame
                    self._waiting = self.create_task(self._wait())
                    return
            case InterruptionFrame() | EndFrame() | CancelFrame():
                self._unmarked_ms = 0.0
                await self._release()
            case TTSAudioRawFrame():
                self._playback.queued(frame.audio, frame.sample_rate)
            case TTSStoppedFrame():
                self._playback.completed()
        await self.push_frame(frame, direction)
        if self._marks is not None and not up:
            await self._mark(frame)

    async def cleanup(self) -> None:
        """Leave no task behind."""
        await self._release()
        await super().cleanup()

    async def marked(self, name: str) -> None:
        """The wire returned mark ``name``: what was sent before it was played, or dropped."""
        self._playback.marked(name, self._trace.now_ms())
        if self._held is not None and not self._playback.awaited:
            await self._release()

    async def _mark(self, frame: Frame) -> None:
        """Send a mark behind enough audio, and behind the last."""
        assert self._marks is not None
        if isinstance(frame, TTSAudioRawFrame):
            self._unmarked_ms += len(frame.audio) / 2 / frame.sample_rate * 1000
            due = self._unmarked_ms >= _MARK_EVERY_MS
        else:
            due = isinstance(frame, TTSStoppedFrame) and self._unmarked_ms > 0
        if due:
            self._unmarked_ms = 0.0
            message = self._marks(self._playback.mark())
            if message is not None:
                await self.push_frame(OutputTransportMessageFrame(message))

    async def _wait(self) -> None:
        await asyncio.sleep(_MARK_TIMEOUT_S)
        self._playback.forget_marks()
        self._waiting = None
        await self._release()

    async def _release(self) -> None:
        held, self._held = self._held, None
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            await self.cancel_task(waiting)
        if held is not None:
            await self.push_frame(held, FrameDirection.UPSTREAM)
