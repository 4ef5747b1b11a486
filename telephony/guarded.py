"""What every media socket's serializer shares: strict about what comes in, exact about time.

A provider's own is this and Pipecat's serializer for it:
``class TelnyxSerializer(Guarded, TelnyxFrameSerializer)``.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    AudioRawFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputDTMFFrame,
)
from pipecat.serializers.base_serializer import FrameSerializer
from starlette.websockets import WebSocket

from frontdesk import WireError
from telephony.gaps import Timeline, filling
from telephony.start import MAX_MESSAGE_BYTES
from telephony.wire import Listener

MAX_AHEAD_S = 30.0
"""Of audio that came sooner than it could be spoken. A call that brings more is no call: it would
fill the memory that the others need."""
MAX_PAYLOAD_S = 1.0
"""Of audio in one message; providers send 20 ms, Genesys and Exotel up to 200."""


class Guarded(FrameSerializer):
    """The wire's format, strict about what comes in; what is unknown is ignored.

    A message that breaks the protocol sets ``error`` once, is told to ``listener``, and every
    later message is dropped. ``stopped`` is True from when the far end said that the call has
    ended. Frames that got lost, by the timestamps of those that came, are made up for (see
    ``telephony.gaps``). Audio at ``rate_hz`` passes without a resampler; set the pipeline's rates
    to it. Calls are hung up by ``telephony.wire.Line.hang_up``, never from here.
    """

    rate_hz = 8000
    close_is_stop: ClassVar[bool] = False
    """Whether this far end hangs up by closing its socket, with no message before."""

    def guard(self, listener: Listener, *, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Set up; call it in ``__init__`` after Pipecat's."""
        self.error: WireError | None = None
        self.stopped = False
        self.listener = listener
        self.max_bytes = max_bytes
        self.send: Callable[[str], Awaitable[None]] | None = None
        """Sends a message past the pipeline: for replies, which must not wait behind audio."""
        self._timeline = Timeline()
        self._before: NDArray[np.int16] = np.zeros(0, np.int16)
        self._since_s = time.monotonic()
        self._came_s = 0.0

    def mark(self, name: str) -> dict[str, Any] | None:
        """The message that the far end returns once what was sent before was played or dropped."""
        return None

    def hand_over(self, to: str, summary: str) -> dict[str, Any] | None:
        """The message that hands the caller to ``to``; None where that is done by REST."""
        return None

    async def part(self, websocket: WebSocket) -> None:
        """Wait, for a second or two, for what ends the call after the last message we sent."""

    @abstractmethod
    def encode(self, samples: NDArray[np.int16]) -> str | bytes:
        """The message for ``samples`` (int16, ``rate_hz``, never empty)."""

    @abstractmethod
    async def event(self, data: str | bytes) -> Frame | None:
        """What ``data`` says.

        Raises:
            WireError: it breaks the protocol.
        """

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``: media, clear on an interruption, a mark; None for others.

        Nothing is sent once the far end has ended the call or broken the protocol.
        """
        if self.stopped or self.error:
            return None
        if isinstance(frame, AudioRawFrame) and frame.sample_rate == self.rate_hz:
            return self.encode(np.frombuffer(frame.audio, np.int16)) if frame.audio else None
        if isinstance(frame, EndFrame | CancelFrame):
            return None
        return await super().serialize(frame)  # type: ignore[safe-super]

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """The audio or keypad frame in ``data``; None for what the listener is told of."""
        if self.error or self.stopped:
            return None
        try:
            return await self.event(data)
        except WireError as error:
            self.error = error
            await self.listener.failed(error)
            return None

    async def stop(self) -> None:
        """The far end said that the call has ended."""
        self.stopped = True
        await self.listener.gone()

    def heard(self, samples: NDArray[np.int16], timestamp_ms: Any = None) -> Frame | None:
        """The frame of ``samples``, with what was lost before it; None if there are none.

        Raises:
            WireError: they come far faster than they were spoken.
        """
        if not samples.size:
            return None
        self._came_s += samples.size / self.rate_hz
        if self._came_s > time.monotonic() - self._since_s + MAX_AHEAD_S:
            raise WireError("audio faster than anyone speaks")
        missing = self._missing(timestamp_ms, samples.size)
        audio = samples.tobytes()
        if missing:
            audio = filling(self._before, missing).tobytes() + audio
        self._before = samples
        return InputAudioRawFrame(audio=audio, sample_rate=self.rate_hz, num_channels=1)

    def _missing(self, timestamp_ms: Any, length: int) -> int:
        """How many samples to fill before ``length`` that come; none where there is no time."""
        try:
            at_ms = float(timestamp_ms)
        except (TypeError, ValueError, OverflowError):
            return 0
        if not math.isfinite(at_ms):
            return 0
        missing_ms = self._timeline.missing_ms(at_ms, length * 1000 / self.rate_hz)
        return round(missing_ms * self.rate_hz / 1000)


def keypad(digit: Any) -> Frame | None:
    """The frame of a pressed key; None for A to D, which are on the wire but on no telephone.

    Raises:
        WireError: ``digit`` is no text.
    """
    if not isinstance(digit, str):
        raise WireError("dtmf message without a digit")
    try:
        return InputDTMFFrame(KeypadEntry(digit))
    except ValueError:
        return None
