"""One text a turn from a recogniser that speaks when it likes: behind any Pipecat STTService."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from loguru import logger
from pipecat.frames.frames import (
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.utils.time import time_now_iso8601

from speech.types import Utterance

BUDGET_MS = 1000.0
_PRE_ROLL_MS = 450
_MAX_AUDIO_MS = 30_000
# Services tell no probability that could be compared; what they say counts as sure.
_SURE = 0.0


class TurnText(FrameProcessor):
    """Makes the texts of a third party's recogniser keep to the frames of ``LocalSTTService``.

    The finals of a turn are gathered. Those that came by a pause go on as an
    ``EagerTranscriptionFrame``, taken back by an ``EagerEndOfTurnCancelFrame`` if the caller goes
    on, and interims behind what is final. After ``UserStoppedSpeakingFrame`` exactly one
    finalized ``TranscriptionFrame`` follows: at once if a final came since the caller's last
    words, else when one comes, at the latest after ``budget_ms`` with what there is, which may be
    ''. A final that comes later still is dropped: it belongs to a turn that was answered (nothing
    tells it from one of the next, if that has begun). The ``result`` of each frame is an
    ``Utterance``, with the audio of the turn.
    """

    def __init__(
        self, language: str = "en", budget_ms: float = BUDGET_MS, *, one_a_pause: bool = False
    ) -> None:
        """``language`` is that of texts for which the service names none; ``one_a_pause`` says
        that it makes one final of what lies between two pauses (``SegmentedSTTService``).
        """
        super().__init__()
        self._language = language
        self._usual = language
        self._budget_s = budget_ms / 1000
        self._texts: list[str] = []
        self._interim = ""
        self._speaking = False
        self._in_turn = False
        self._one_a_pause = one_a_pause
        self._missing = 0
        self._has_last = False
        self._eager_out = False
        self._waiting: asyncio.Task[None] | None = None
        self._audio = bytearray()
        self._rate_hz = 8000

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Gather texts; pass everything else on."""
        await super().process_frame(frame, direction)
        match frame:
            case TranscriptionFrame():
                await self._final(frame)
                return
            case InterimTranscriptionFrame():
                await self._heard_so_far(frame)
                return
            case InputAudioRawFrame():
                self._keep(frame)
            case VADUserStartedSpeakingFrame():
                await self._started()
            case VADUserStoppedSpeakingFrame():
                self._speaking = self._has_last = False
                self._missing += 1
            case EndFrame():
                if self._waiting is not None:
                    await self._push_final()
            case CancelFrame():
                await self._stop_waiting()
        await self.push_frame(frame, direction)
        if isinstance(frame, UserStoppedSpeakingFrame):
            await self._commit()

    async def cleanup(self) -> None:
        """Release the task and the audio."""
        await self._stop_waiting()
        self._audio.clear()
        await super().cleanup()

    async def _started(self) -> None:
        self._speaking = self._in_turn = True
        self._has_last = False
        if self._eager_out:
            self._eager_out = False
            await self.push_frame(EagerEndOfTurnCancelFrame())

    async def _final(self, frame: TranscriptionFrame) -> None:
        if not self._in_turn and self._waiting is None:
            logger.warning(
                "the recogniser was too late; words dropped: {}", len(frame.text.split())
            )
            return
        if frame.text.strip():
            self._texts.append(frame.text.strip())
        self._interim = ""
        if frame.language is not None:
            self._language = str(frame.language).split("-")[0].lower()
        self._missing = max(0, self._missing - 1) if self._one_a_pause else 0
        self._has_last = not self._speaking and not self._missing
        if self._waiting is not None and self._has_last:
            await self._push_final()
        elif self._has_last:
            self._eager_out = True
            await self._push(EagerTranscriptionFrame)
        else:
            await self._push(InterimTranscriptionFrame)

    async def _heard_so_far(self, frame: InterimTranscriptionFrame) -> None:
        if self._in_turn:
            self._interim = frame.text.strip()
            await self._push(InterimTranscriptionFrame)

    async def _commit(self) -> None:
        if self._waiting is not None:  # of the turn before, which nobody waits for any more
            await self._push_final()
        if self._in_turn and not (self._has_last and not self._interim):
            self._waiting = self.create_task(self._wait())
            return
        await self._push_final()

    async def _wait(self) -> None:
        await asyncio.sleep(self._budget_s)
        self._waiting = None
        logger.warning("the recogniser said nothing final within {:g} s", self._budget_s)
        await self._push_final()

    async def _push_final(self) -> None:
        await self._stop_waiting()
        # What was only provisional is better than nothing, and no more is to come.
        await self._push(TranscriptionFrame, finalized=True)
        self._texts.clear()
        self._interim, self._language, self._missing = "", self._usual, 0
        self._eager_out = self._has_last = False
        self._in_turn = self._speaking
        del self._audio[: max(0, len(self._audio) - self._bytes(_PRE_ROLL_MS))]

    async def _push(self, kind: Any, **fields: Any) -> None:
        text = " ".join([*self._texts, self._interim]).strip()
        heard = self._utterance(text, provisional=kind is InterimTranscriptionFrame)
        frame = kind(text, "", time_now_iso8601(), None, result=heard, **fields)
        await self.push_frame(frame)

    def _utterance(self, text: str, *, provisional: bool) -> Utterance:
        samples = np.frombuffer(bytes(self._audio), np.int16)
        return Utterance(
            text,
            samples.size * 1000 / self._rate_hz,
            0.0,
            _SURE,
            self._language,
            audio=None if provisional else samples,
            rate_hz=self._rate_hz,
            stable=" ".join(self._texts),
            provisional=provisional,
        )

    def _keep(self, frame: InputAudioRawFrame) -> None:
        self._rate_hz = frame.sample_rate
        self._audio += frame.audio
        kept = self._bytes(_MAX_AUDIO_MS if self._in_turn else _PRE_ROLL_MS)
        if len(self._audio) > 2 * kept:
            del self._audio[: len(self._audio) - kept]

    def _bytes(self, ms: int) -> int:
        return ms * self._rate_hz // 1000 * 2

    async def _stop_waiting(self) -> None:
        task, self._waiting = self._waiting, None
        if task is not None and not task.done():
            await self.cancel_task(task)
