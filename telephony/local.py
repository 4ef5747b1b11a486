"""The local microphone and speaker as a line: Pipecat's local transport over PortAudio.

Both streams run all the time, in pieces of 20 and 40 ms, the speaker's with silence where the agent
says nothing: so an echo always is as late as it was, and can be taken out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from loguru import logger
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.transports.local.audio import (
    LocalAudioInputTransport,
    LocalAudioOutputTransport,
    LocalAudioTransport,
    LocalAudioTransportParams,
)

from telephony.devices import MICROPHONE, AudioDevice, quiet_alsa, quiet_stderr
from telephony.echo_canceller import EchoCanceller, Float32
from telephony.speaker import Speaker
from telephony.start import CallStart
from telephony.wire import Line, Listener

RATE_HZ = 16000
_PIECE_MS = 20
_PIECE = RATE_HZ * _PIECE_MS // 1000
_START_S = 5.0
_CONTINUE = 0  # pyaudio.paContinue


class _Input(LocalAudioInputTransport):
    """The microphone, the speaker's echo taken out by ``canceller`` where there is one."""

    def __init__(
        self, audio: Any, params: LocalAudioTransportParams, speaker: Speaker, cancels: bool
    ) -> None:
        super().__init__(audio, params)
        self._speaker = speaker
        self._canceller = EchoCanceller(RATE_HZ) if cancels else None

    def _audio_in_callback(
        self, in_data: bytes, frame_count: int, time_info: Any, status: int
    ) -> tuple[None, int]:
        """In PortAudio's thread: note what was played meanwhile, and hand both on."""
        heard = self._heard(in_data, self._speaker.heard_with())
        asyncio.run_coroutine_threadsafe(heard, self.get_event_loop())
        return None, _CONTINUE

    async def _heard(self, audio: bytes, played: bytes) -> None:
        if self._canceller is not None and len(audio) == 2 * _PIECE:
            left = _without_echo(self._canceller, _wave(played), _wave(audio))
            audio = np.clip(np.rint(left * 32768), -32768, 32767).astype(np.int16).tobytes()
        await self.push_audio_frame(InputAudioRawFrame(audio, RATE_HZ, 1))


class _Output(LocalAudioOutputTransport):
    """The speaker: what is written is queued for PortAudio's thread, and cleared on a barge-in."""

    def __init__(
        self,
        audio: Any,
        params: LocalAudioTransportParams,
        speaker: Speaker,
        listener: Listener,
    ) -> None:
        super().__init__(audio, params)
        self._speaker = speaker
        self._listener = listener

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]
        """Open the stream; Pipecat's own would block a thread for each piece."""
        await super(LocalAudioOutputTransport, self).setup(setup)
        self._out_stream = self._py_audio.open(
            format=self._py_audio.get_format_from_width(2),
            channels=1,
            rate=RATE_HZ,
            frames_per_buffer=2 * _PIECE,
            output=True,
            output_device_index=self._params.output_device_index,
            stream_callback=self._audio_out_callback,
            start=False,
        )
        self._speaker.opened(self.get_event_loop(), self._played)

    async def start(self, frame: StartFrame) -> None:
        """Start the stream, and say nothing before it plays."""
        await super(LocalAudioOutputTransport, self).start(frame)
        if self._out_stream:
            self._out_stream.start_stream()
            if not await self._speaker.runs(_START_S):
                logger.warning("the speaker plays nothing {:g} s after it was opened", _START_S)
            await self.set_transport_ready(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """An interruption silences what is queued."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._speaker.clear()

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Queue a piece, in real time."""
        return await self._speaker.play(frame.audio)

    async def send_message(
        self, frame: OutputTransportMessageFrame | OutputTransportMessageUrgentFrame
    ) -> None:
        """A mark, behind what is queued."""
        if isinstance(frame.message, dict) and "mark" in frame.message:
            self._speaker.mark(frame.message["mark"])

    def _audio_out_callback(
        self, in_data: None, frame_count: int, time_info: Mapping[str, float], status: int
    ) -> tuple[bytes, int]:
        """In PortAudio's thread: the next piece, heard when it comes out of the device."""
        later = time_info["output_buffer_dac_time"] - time_info["current_time"]
        return self._speaker.next(frame_count, later), _CONTINUE

    async def _played(self, mark: str) -> None:
        await self._listener.played(mark)


class LocalLine(Line):
    """A call by the microphone ``source`` and the speaker ``sink``.

    ``cancels``: the speaker's echo is taken out of what the microphone hears. ``shows`` is told
    the call's events.
    """

    capabilities: ClassVar = MICROPHONE
    rate_hz = RATE_HZ

    def __init__(
        self,
        start: CallStart,
        listener: Listener,
        source: AudioDevice,
        sink: AudioDevice,
        *,
        cancels: bool = True,
        shows: Callable[[Mapping[str, Any]], None] = lambda event: None,
    ) -> None:
        self.start = start
        self._shows = shows
        params = LocalAudioTransportParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            audio_in_sample_rate=RATE_HZ,
            audio_out_sample_rate=RATE_HZ,
            audio_out_10ms_chunks=_PIECE_MS // 10,
            audio_out_end_silence_secs=1,  # the last word is played before the hang-up
            input_device_index=source.index,
            output_device_index=sink.index,
        )
        quiet_alsa()
        with quiet_stderr():
            self.transport = self._devices = _Transport(params, listener, cancels)

    def mark(self, name: str) -> dict[str, Any]:
        """The mark, for our own output."""
        return {"mark": name}

    def show(self, event: Mapping[str, Any]) -> None:
        """Hand the event on."""
        self._shows(event)

    async def hang_up(self) -> None:
        """Let go of the sound devices."""
        self._devices.close()


class _Transport(LocalAudioTransport):
    """Pipecat's, with our two ends."""

    def __init__(
        self, params: LocalAudioTransportParams, listener: Listener, cancels: bool
    ) -> None:
        super().__init__(params)
        speaker = Speaker(2 * _PIECE)
        self._input = _Input(self._pyaudio, params, speaker, cancels)
        self._output = _Output(self._pyaudio, params, speaker, listener)
        self._closed = False

    def close(self) -> None:
        """Let go of PortAudio, which Pipecat keeps."""
        if not self._closed:
            self._closed = True
            with quiet_stderr():
                self._pyaudio.terminate()


def _without_echo(canceller: EchoCanceller, played: Float32, heard: Float32) -> Float32:
    """A piece in the canceller's blocks, each with what was played until then."""
    blocks = heard.reshape(-1, canceller.block)
    behind = max(0, played.size - (len(blocks) - 1) * canceller.block)
    parts = [played[:behind], *played[behind:].reshape(-1, canceller.block)]
    parts += [played[:0]] * (len(blocks) - len(parts))
    return np.concatenate([canceller.cancel(*pair) for pair in zip(parts, blocks, strict=True)])


def _wave(audio: bytes) -> Float32:
    return np.frombuffer(audio, np.int16).astype(np.float32) / np.float32(32768)
