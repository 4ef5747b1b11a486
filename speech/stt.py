"""Any recogniser as a Pipecat service: interims while the caller speaks, the turn at a pause."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import replace
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
    InterimTranscriptionFrame,
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

from frontdesk import SpeechError
from speech import sessions
from speech.audio import resample, to_float32
from speech.decode import Decode, InterimsDroppedFrame, TextFrame, text_frame
from speech.hints import HintFrame
from speech.noise import without_noise
from speech.recogniser import Recogniser
from speech.scheduling import Dropped, Priority
from speech.streaming import FIRST_MS, joined, pace_ms, quiet_place, stable_prefix
from speech.types import Hint, Utterance
from speech.voice_activity import SpeechPausingFrame

__all__ = ["LONG_MS", "PRE_ROLL_MS", "InterimsDroppedFrame", "LocalSTTService"]

# Kept from before the VAD's start: 300 ms of lead and the 100 to 150 ms the VAD takes to be sure.
PRE_ROLL_MS = 450
# A turn that goes on after a pause this late is heard in parts: what was heard up to the pause
# stays, and only what follows is decoded from then on. Real prompts joined to turns of 20 to 28 s
# (714 words): word error rate whole 5.6 %, in parts from 8 s on 8.5, 12 s 8.3, 16 s 7.0, 20 s 6.6;
# work of the last decode, the one waited for, at the 95th percentile 1.5 s, 0.4, 0.5, 0.6, 1.3.
LONG_MS = 16_000
# Speech that goes on sooner than this after the VAD has told of its end did not pause.
_PAUSE_MS = 200
# Without a pause it is cut at a quiet place of its last seconds.
_LONGEST_MS = 25_000
_CUT_WITHIN_MS = (17_000, 24_000)
# Parts of one turn that are kept: 10 minutes of a television, not a night of it.
_MAX_PARTS = 24
_MODEL_HZ = 16_000
# The least between two decodes at silent windows: a crackling line has many of them.
_EARLY_APART_MS = 150


class LocalSTTService(STTService):
    """Hears one call. Frames in, besides audio, which passes through unchanged:

    - audio while the caller speaks: the growing turn is decoded again and again, as often as load
      allows. Each text, also '' (noise), goes downstream as an ``InterimTranscriptionFrame``.
      Only a recogniser that takes a ``width``, which 1 makes quick, is asked for these.
    - ``SpeechPausingFrame``: the turn is decoded as if it ended here: an interim, or if it does
      pause the text at the pause.
    - ``VADUserStoppedSpeakingFrame``: all audio since the turn began is decoded, ahead of any
      interim, unless that has begun; an ``EagerTranscriptionFrame`` goes downstream.
    - ``VADUserStartedSpeakingFrame``: a provisional result or decode of this turn no longer
      holds; an ``EagerEndOfTurnCancelFrame`` goes downstream if a result was out.
    - ``UserStoppedSpeakingFrame`` (the turn logic's, from either side): the turn is committed. A
      finalized ``TranscriptionFrame`` goes downstream, the provisional result if nothing was
      said since. Its text is '' where nothing was recognised, so that nobody waits for ever.
    - ``HintFrame`` (from either side): what the agent has asked for, so that what follows is heard
      accordingly, until another comes: an echo or a cough between does not end it.

    The ``result`` of each of these frames is the ``Utterance``. A call has one interim asked for
    at a time, one decode running besides and at most one provisional decode waiting, and a
    committed turn is always answered, in order. A decode that fails, however it does, is an
    ``ErrorFrame`` upstream and, for a committed turn, an empty text.
    """

    def __init__(self, recogniser: Recogniser, **kwargs: Any) -> None:
        """Make the service of one call on the recogniser of all calls."""
        settings = STTSettings(model=type(recogniser).__name__.lower(), language=Language.EN)
        # 73 ms of decoding for 2.5 s of speech, 111 at the 95th percentile; Pipecat warns where no
        # figure is given.
        kwargs.setdefault("ttfs_p99_latency", 0.15)
        super().__init__(settings=settings, **kwargs)
        self._recogniser = recogniser
        takes = inspect.signature(recogniser.transcribe).parameters
        self._has_interims = "width" in takes
        self._audio = bytearray()
        self._speaking = False
        self._in_turn = False
        self._hint = Hint.NONE
        self._parts: deque[Decode] = deque(maxlen=_MAX_PARTS)
        self._latest: Decode | None = None
        self._eager_out = False
        self._waiting: deque[Decode] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._interim: asyncio.Task[None] | None = None
        self._early: Decode | None = None
        self._interim_text = ""
        self._dropped = 0
        self._new_bytes = 0
        self._due_bytes = 0

    def can_generate_metrics(self) -> bool:
        """Time to the transcript is reported."""
        return True

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Transcript of one piece of int16 audio at the pipeline's rate, or an ``ErrorFrame``
        (Pipecat's contract; the turns of a call go another way).
        """
        try:
            yield self._final_frame(await sessions.run(self._transcribe, audio, call=self))
        except SpeechError as error:
            yield ErrorFrame(error=str(error), exception=error)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Handle one frame and pass it on; see the class."""
        await super().process_frame(frame, direction)
        if isinstance(frame, SpeechPausingFrame):
            await self._begin_early()
        elif isinstance(frame, VADUserStoppedSpeakingFrame):
            await self._pause(frame.stop_secs)
        elif isinstance(frame, UserStoppedSpeakingFrame):
            await self._commit()
        elif isinstance(frame, HintFrame):
            self._hint = frame.hint

    async def process_audio_frame(
        self, frame: InputAudioRawFrame, direction: FrameDirection
    ) -> None:
        """Add to the turn, or outside of one to the pre-roll."""
        if self._muted:
            return
        self._user_id = frame.user_id if isinstance(frame, UserAudioRawFrame) else ""
        self._audio += frame.audio
        if not self._in_turn:
            del self._audio[: max(0, len(self._audio) - self._bytes(PRE_ROLL_MS))]
            return
        self._new_bytes += len(frame.audio)
        if len(self._audio) >= self._bytes(_LONGEST_MS):
            self._cut()
        if self._has_interims and self._speaking and self._new_bytes >= self._due_bytes:
            self._ask_interim()

    async def stop(self, frame: EndFrame) -> None:
        """End gracefully: committed turns are still answered."""
        await self._drop_interim()
        if self._worker is not None:
            await self._worker
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """End at once: what is waiting is dropped."""
        await self._drop_work()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Release the tasks and the audio."""
        await self._drop_work()
        self._audio.clear()
        await super().cleanup()

    async def _handle_vad_user_started_speaking(self, frame: VADUserStartedSpeakingFrame) -> None:
        await super()._handle_vad_user_started_speaking(frame)
        self._speaking = self._in_turn = True
        self._new_bytes = 0
        self._due_bytes = self._bytes(max(0, int(FIRST_MS - frame.start_secs * 1000)))
        self._keep_long_part()
        await self._outspoken()

    # The turn.

    async def _pause(self, stop_secs: float) -> None:
        """Hear the turn so far, which may be all of it."""
        self._speaking = False
        if not self._in_turn:
            return
        early, self._early = self._early, None
        since = len(self._audio) - len(early.audio) if early is not None else 0
        if early is not None and since <= self._bytes(round(stop_secs * 1000)):
            early.pause = True
            if self._interim is early.task:
                self._interim = None
                sessions.pool().promote(self, Priority.INTERIM, Priority.EAGER)
        else:
            early = Decode(bytes(self._audio), self._hint, tuple(self._parts))
        await self._drop_interim()
        await self._outspoken()
        self._latest = early
        self._wait_for(early)

    async def _outspoken(self) -> None:
        """The provisional decode or result of this turn, if any, no longer holds."""
        if self._latest is not None and not self._latest.part:
            self._latest.drop()
            if self._latest in self._waiting:
                self._waiting.remove(self._latest)
            elif self._latest.heard is None:
                sessions.pool().give_up(self)
        self._latest = None
        if self._eager_out:
            self._eager_out = False
            await self.push_frame(EagerEndOfTurnCancelFrame())

    async def _commit(self) -> None:
        """The turn is over: answer it with what holds, and begin another."""
        await self._drop_interim()
        decode = self._latest
        if decode is None:
            decode = self._asked_for(bytes(self._audio) if self._in_turn else b"")
        decode.final = True
        sessions.pool().promote(self, Priority.EAGER, Priority.FINAL)
        dropped, self._dropped = self._dropped, 0
        self._latest, self._eager_out = None, False
        self._parts.clear()
        self._interim_text = ""
        self._in_turn = self._speaking
        self._new_bytes = 0
        del self._audio[: max(0, len(self._audio) - self._bytes(PRE_ROLL_MS))]
        if dropped:
            await self.push_frame(InterimsDroppedFrame(dropped))
        if decode.told:
            await self.push_frame(self._final_frame(decode.whole()))

    def _keep_long_part(self) -> None:
        """The caller goes on after a pause: if the turn is long, what was heard so far stays."""
        decode = self._latest
        if decode is None or len(decode.audio) < self._bytes(LONG_MS):
            return
        if len(self._audio) - len(decode.audio) >= self._bytes(_PAUSE_MS):
            del self._audio[: len(decode.audio)]
            self._put_away(decode)

    def _cut(self) -> None:
        """The turn grows too long to be decoded at once: put its start away as a part, or in a
        pause leave out the silence.
        """
        if self._latest is not None:
            heard = len(self._latest.audio)
            del self._audio[heard : max(heard, len(self._audio) - self._bytes(PRE_ROLL_MS))]
            return
        samples = np.frombuffer(bytes(self._audio), np.int16, len(self._audio) // 2)
        at = 2 * quiet_place(samples, self.sample_rate, *_CUT_WITHIN_MS)
        part = self._asked_for(bytes(self._audio[:at]))
        del self._audio[:at]
        self._put_away(part)

    def _put_away(self, part: Decode) -> None:
        part.become_part()
        self._parts.append(part)
        self._interim_text, self._early = "", None

    def _asked_for(self, audio: bytes) -> Decode:
        decode = Decode(audio, self._hint, tuple(self._parts))
        self._wait_for(decode)
        return decode

    def _wait_for(self, decode: Decode) -> None:
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

    async def _decode(self, decode: Decode) -> None:
        await decode.tried()
        if decode.heard is None and not decode.stale:
            decode.heard = await self._hear(decode)
        if decode.stale or decode.heard is None:
            return
        if decode.part:
            decode.become_part()
        elif decode.final:
            await self.push_frame(self._final_frame(decode.whole()))
        else:
            self._eager_out = decode.told = True
            await self.push_frame(self._text_frame(EagerTranscriptionFrame, decode.whole()))

    async def _hear(self, decode: Decode) -> Utterance | None:
        """What was said; '' after a failure, None if nobody wants to know any more."""
        priority = Priority.FINAL if decode.final else Priority.EAGER
        try:
            heard = await sessions.run_or_drop(
                self._transcribe, decode.audio, decode.hint, priority=priority, call=self
            )
        except SpeechError as error:
            await self.push_error(str(error), exception=error)
            return Utterance("", 0.0, 0.0, float("-inf"))
        return None if isinstance(heard, Dropped) else heard

    def _transcribe(self, audio: bytes, hint: Hint = Hint.NONE, greedy: bool = False) -> Utterance:
        options = {"width": 1} if greedy else {}
        with sessions.failing("recogniser failed"):
            samples = np.frombuffer(audio, np.int16)
            model_audio = resample(to_float32(samples), self.sample_rate, _MODEL_HZ)
            heard = self._recogniser.transcribe(model_audio, hint=hint, **options)
            heard = without_noise(model_audio, replace(heard, provisional=greedy))
            return replace(heard, audio=samples, rate_hz=self.sample_rate, stable=heard.text)

    # The interims.

    def _ask_interim(self) -> None:
        if self._interim is None and all(part.heard is not None for part in self._parts):
            self._begin_interim(greedy=True)

    async def _begin_early(self) -> None:
        """A silent window: if a pause follows, what is said until here is all there is to hear."""
        since = len(self._audio) - (0 if self._early is None else len(self._early.audio))
        if not self._has_interims or since < self._bytes(_EARLY_APART_MS):
            return
        if self._speaking and all(part.heard is not None for part in self._parts):
            await self._drop_interim()
            self._early = self._begin_interim(greedy=False)

    def _begin_interim(self, *, greedy: bool) -> Decode:
        decode = Decode(bytes(self._audio), self._hint, tuple(self._parts))
        self._new_bytes = 0
        decode.task = self.create_task(self._hear_so_far(decode, greedy), "interim")
        self._interim = decode.task
        return decode

    async def _hear_so_far(self, decode: Decode, greedy: bool) -> None:
        clock = asyncio.get_running_loop().time
        asked = clock()
        try:
            heard = await sessions.run_or_drop(
                self._transcribe,
                decode.audio,
                decode.hint,
                greedy,
                priority=Priority.INTERIM,
                call=self,
            )
        except SpeechError as error:
            await self.push_error(str(error), exception=error)
            heard = Dropped.DROPPED
        finally:
            if self._interim is asyncio.current_task():
                self._interim = None
        took_ms = (clock() - asked) * 1000
        self._due_bytes = self._bytes(int(pace_ms(took_ms, sessions.queue_delay_ms())))
        if isinstance(heard, Dropped):
            self._dropped += not decode.stale
            return
        decode.heard = heard
        if not decode.pause:
            await self._push_interim(decode, heard)

    async def _push_interim(self, decode: Decode, heard: Utterance) -> None:
        stable = stable_prefix(self._interim_text, heard.text)
        self._interim_text = heard.text
        earlier = [part.heard for part in decode.after if part.heard is not None]
        heard = replace(heard, audio=None, rate_hz=0, stable=stable, provisional=True)
        whole = joined([*earlier, heard])
        await self.push_frame(self._text_frame(InterimTranscriptionFrame, whole))

    async def _drop_interim(self) -> None:
        interim, self._interim = self._interim, None
        self._early = None
        if interim is not None:
            await self.cancel_task(interim)

    def _final_frame(self, heard: Utterance) -> TranscriptionFrame:
        frame = self._text_frame(TranscriptionFrame, heard)
        frame.finalized = True
        return frame

    def _text_frame(self, kind: type[TextFrame], heard: Utterance) -> TextFrame:
        return text_frame(kind, heard, self._user_id)

    def _bytes(self, ms: int) -> int:
        return self.sample_rate * ms // 1000 * 2

    async def _drop_work(self) -> None:
        await self._drop_interim()
        for decode in self._waiting:
            decode.drop()
        self._waiting.clear()
        if self._worker is not None:
            await self.cancel_task(self._worker)
            self._worker = None
