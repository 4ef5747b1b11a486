"""Moonshine as a Pipecat service: the whole turn, decoded anew at every pause."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    UserAudioRawFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.transcriptions.language import Language
from pipecat.utils.time import time_now_iso8601

from frontdesk import SpeechError
from speech import sessions
from speech.audio import resample, to_float32
from speech.moonshine import MAX_AUDIO_MS, Moonshine
from speech.moonshine import SAMPLE_RATE_HZ as MODEL_HZ
from speech.types import Utterance

# Kept from before the VAD's start: 300 ms of lead and the 100 to 150 ms the VAD takes to be sure.
PRE_ROLL_MS = 450


@dataclass(slots=True, eq=False)
class _Decode:
    """One decode asked for: ``final`` once its turn is committed, ``stale`` once outspoken."""

    audio: bytes
    final: bool = False
    stale: bool = False
    heard: Utterance | None = None


class MoonshineSTTService(STTService):
    """Hears one call. Frames in, besides audio, which passes through unchanged:

    - ``VADUserStoppedSpeakingFrame``: all audio since the turn began is decoded on a hearing
      thread; an ``EagerTranscriptionFrame`` goes downstream, its ``result`` an ``Utterance``.
    - ``VADUserStartedSpeakingFrame``: a provisional result or decode of this turn no longer
      holds; an ``EagerEndOfTurnCancelFrame`` goes downstream if a result was out.
    - ``UserStoppedSpeakingFrame`` (the turn logic's, from either side): the turn is committed. A
      finalized ``TranscriptionFrame`` goes downstream, the provisional result if nothing was
      said since. Its text is '' where nothing was recognised, so that nobody waits for ever.

    A call has one decode running and at most one provisional decode waiting, and a committed
    turn is always answered, in order. A decode that fails, however it does, is an ``ErrorFrame``
    upstream and, for a committed turn, an empty text.
    """

    def __init__(self, moonshine: Moonshine, **kwargs: Any) -> None:
        """Make the service of one call on the recogniser of all calls."""
        settings = STTSettings(model="moonshine-tiny-en", language=Language.EN)
        # 73 ms of decoding for 2.5 s of speech, 111 at the 95th percentile; Pipecat warns where no
        # figure is given.
        kwargs.setdefault("ttfs_p99_latency", 0.15)
        super().__init__(settings=settings, **kwargs)
        self._moonshine = moonshine
        self._audio = bytearray()
        self._speaking = False
        self._in_turn = False
        self._latest: _Decode | None = None
        self._eager_out = False
        self._waiting: deque[_Decode] = deque()
        self._worker: Any = None

    def can_generate_metrics(self) -> bool:
        """Time to the transcript is reported."""
        return True

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Transcript of one piece of int16 audio at the pipeline's rate, or an ``ErrorFrame``
        (Pipecat's contract; the turns of a call go another way).
        """
        try:
            yield self._final_frame(await sessions.run(self._transcribe, audio))
        except SpeechError as error:
            yield ErrorFrame(error=str(error), exception=error)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Handle one frame and pass it on; see the class."""
        await super().process_frame(frame, direction)
        if isinstance(frame, UserStoppedSpeakingFrame):
            await self._commit()

    async def process_audio_frame(
        self, frame: InputAudioRawFrame, direction: FrameDirection
    ) -> None:
        """Add to the turn, or outside of one to the pre-roll."""
        if self._muted:
            return
        self._user_id = frame.user_id if isinstance(frame, UserAudioRawFrame) else ""
        self._audio += frame.audio
        kept = self._bytes(MAX_AUDIO_MS if self._in_turn else PRE_ROLL_MS)
        if len(self._audio) > kept:
            del self._audio[: len(self._audio) - kept]

    async def stop(self, frame: EndFrame) -> None:
        """End gracefully: committed turns are still answered."""
        if self._worker is not None:
            await self._worker
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """End at once: what is waiting is dropped."""
        await self._drop_work()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Release the task and the audio."""
        await self._drop_work()
        self._audio.clear()
        await super().cleanup()

    async def _handle_vad_user_started_speaking(self, frame: VADUserStartedSpeakingFrame) -> None:
        await super()._handle_vad_user_started_speaking(frame)
        self._speaking = self._in_turn = True
        await self._outspoken()

    async def _handle_vad_user_stopped_speaking(self, frame: VADUserStoppedSpeakingFrame) -> None:
        await super()._handle_vad_user_stopped_speaking(frame)
        self._speaking = False
        if self._in_turn:
            await self._outspoken()
            self._ask(_Decode(bytes(self._audio)))

    async def _outspoken(self) -> None:
        """The provisional decode or result of this turn, if any, no longer holds."""
        if self._latest is not None:
            self._latest.stale = True
            if self._latest in self._waiting:
                self._waiting.remove(self._latest)
            self._latest = None
        if self._eager_out:
            self._eager_out = False
            await self.push_frame(EagerEndOfTurnCancelFrame())

    async def _commit(self) -> None:
        """The turn is over: answer it with what holds, and begin another."""
        decode = self._latest
        if decode is None:
            decode = _Decode(bytes(self._audio) if self._in_turn else b"")
            self._ask(decode)
        decode.final = True
        self._latest, self._eager_out = None, False
        self._in_turn = self._speaking
        del self._audio[: max(0, len(self._audio) - self._bytes(PRE_ROLL_MS))]
        if decode.heard is not None:
            await self.push_frame(self._final_frame(decode.heard))

    def _ask(self, decode: _Decode) -> None:
        self._latest = decode
        self._waiting.append(decode)
        if self._worker is None:
            self._worker = self.create_task(self._work(), "decodes")

    async def _work(self) -> None:
        """Decode what is waiting, one at a time, in order."""
        try:
            while self._waiting:
                await self._decode(self._waiting.popleft())
        finally:
            self._worker = None

    async def _decode(self, decode: _Decode) -> None:
        try:
            heard = await sessions.run(self._transcribe, decode.audio)
        except SpeechError as error:
            await self.push_error(str(error), exception=error)
            heard = Utterance("", 0.0, 0.0, float("-inf"))
        if decode.stale:
            return
        decode.heard = heard
        if decode.final:
            await self.push_frame(self._final_frame(heard))
        else:
            self._eager_out = True
            await self.push_frame(
                EagerTranscriptionFrame(
                    heard.text, self._user_id, time_now_iso8601(), Language.EN, result=heard
                )
            )

    def _transcribe(self, audio: bytes) -> Utterance:
        with sessions.failing("recogniser failed"):
            samples = to_float32(np.frombuffer(audio, np.int16))
            return self._moonshine.transcribe(resample(samples, self.sample_rate, MODEL_HZ))

    def _final_frame(self, heard: Utterance) -> TranscriptionFrame:
        return TranscriptionFrame(
            heard.text,
            self._user_id,
            time_now_iso8601(),
            Language.EN,
            result=heard,
            finalized=True,
        )

    def _bytes(self, ms: int) -> int:
        return self.sample_rate * ms // 1000 * 2

    async def _drop_work(self) -> None:
        self._waiting.clear()
        if self._worker is not None:
            await self.cancel_task(self._worker)
            self._worker = None
