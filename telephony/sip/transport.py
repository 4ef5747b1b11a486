"""Pipecat's transport over one SIP call's audio.

The library's own thread sends a packet every 20 ms whatever Python does; a little audio is kept
queued ahead of it, and dropped at an interruption.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from typing import Any

from baresip import AudioNotActive, AudioRestarted, CallAudio
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_transport import TransportParams

from telephony.own_transport import OwnInput, OwnOutput, OwnTransport
from telephony.sip.clocked import FRAME_MS, Clocked
from telephony.wire import Listener

MARK = "sip_mark"
AHEAD_MS = 250
"""Audio that is queued in the library, against a busy loop: an interruption drops it."""


class SipTransport(OwnTransport):
    """Both ways of one call. ``audio`` is the library's, ``rate_hz`` what it runs at."""

    def __init__(self, audio: CallAudio, rate_hz: int, listener: Listener) -> None:
        params = TransportParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_in_sample_rate=rate_hz,
            audio_out_sample_rate=rate_hz,
            audio_out_10ms_chunks=2,
            audio_out_end_silence_secs=1,  # the last word is played before the hang-up
        )
        output = _Output(params, audio, rate_hz, listener)
        super().__init__(_Input(params, audio, rate_hz, output), output)


class _Input(OwnInput):
    """Hands on what arrived every 20 ms, against the clock."""

    def __init__(
        self, params: TransportParams, audio: CallAudio, rate_hz: int, output: _Output
    ) -> None:
        super().__init__(params)
        self._audio = audio
        self._rate_hz = rate_hz
        self._output = output
        self.clocked = Clocked(rate_hz)

    async def listen(self) -> None:
        """Every 20 ms."""
        due = time.monotonic()
        while True:
            due += FRAME_MS / 1000
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            heard = self.clocked.due(self._read(), time.monotonic())
            size = self.clocked.frame_bytes
            for at in range(0, len(heard), size):
                await self.push_frame(
                    InputAudioRawFrame(heard[at : at + size], self._rate_hz, num_channels=1)
                )
            await self._output.tell_played()

    def _read(self) -> bytes:
        try:
            return self._audio.read(64 * self.clocked.frame_bytes)
        except (AudioNotActive, AudioRestarted):
            return b""  # on hold, over, or begun anew


class _Output(OwnOutput):
    """Keeps the library's queue filled, and tells what was played of it."""

    def __init__(
        self, params: TransportParams, audio: CallAudio, rate_hz: int, listener: Listener
    ) -> None:
        super().__init__(params)
        self._audio = audio
        self._bytes_per_s = rate_hz * 2
        self._listener = listener
        self._written = 0
        self._marks: deque[tuple[int, str]] = deque()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """As Pipecat does; an interruption empties the library's queue too."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            await self._clear()

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Queue a frame in the library, and wait until there is room for the next.

        On hold and between streams there is nowhere to write: time passes all the same.
        """
        length_s = len(frame.audio) / self._bytes_per_s
        try:
            self._written += self._audio.write(frame.audio)
        except AudioRestarted:
            self._marks_at_end()
            return await self._once_more(frame)
        except AudioNotActive:
            await asyncio.sleep(length_s)
            return False
        over_s = self._queued() / self._bytes_per_s - AHEAD_MS / 1000
        if over_s > 0:
            await asyncio.sleep(over_s)
        return True

    async def send_message(
        self, frame: OutputTransportMessageFrame | OutputTransportMessageUrgentFrame
    ) -> None:
        """A mark, behind the audio written so far."""
        message: Any = frame.message
        name = message.get(MARK) if isinstance(message, dict) else None
        if isinstance(name, str):
            self._marks.append((self._written, name))

    async def tell_played(self) -> None:
        """Return the marks whose audio is on the wire."""
        if not self._marks:
            return
        sent = self._written - self._queued()
        while self._marks and self._marks[0][0] <= sent:
            await self._listener.played(self._marks.popleft()[1])

    async def _once_more(self, frame: OutputAudioRawFrame) -> bool:
        try:
            self._written += self._audio.write(frame.audio)
        except (AudioRestarted, AudioNotActive):
            await asyncio.sleep(len(frame.audio) / self._bytes_per_s)
            return False
        return True

    async def _clear(self) -> None:
        with contextlib.suppress(AudioNotActive, AudioRestarted):  # then nothing is queued
            self._audio.flush_tx()
        self._marks_at_end()
        await self.tell_played()

    def _marks_at_end(self) -> None:
        """What was queued is gone: its marks are due."""
        self._marks = deque((0, name) for _, name in self._marks)

    def _queued(self) -> int:
        """Bytes in the library that are not on the wire yet."""
        try:
            return self._audio.info().tx_buffered
        except AudioNotActive:
            return 0
