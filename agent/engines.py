"""What all calls share: the models, the index and the threads they run on."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService

import speech.engines
from agent.session import FIXED_SENTENCES
from agent.settings import Settings
from frontdesk import SpeechError, Spoken
from rag import Index, Policy, open_index
from rag.vocabulary import vocabulary
from speech import sessions
from speech.audio import resample, to_float32

P = ParamSpec("P")
T = TypeVar("T")

_TURN_MODEL_HZ = 16000
_LOWEST_PRIORITY = 19


class Engines:
    """Models, voice and index, loaded and warmed once.

    Raises:
        ModelFileError: a model file is missing or altered.
        KnowledgeBaseError: the documents or the index cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self.index: Index = open_index(settings.kb)
        self.policy = Policy()
        self._settings = settings
        self._speech = speech.engines.Engines.load(
            words=vocabulary(self.index.kb), cache_bytes=settings.voice.cache_mb * 1_000_000
        )
        self._closing = threading.Event()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``function`` on an inference thread, off the event loop."""
        return await sessions.run(function, *args, **kwargs)

    async def prepare_first_phrase(self, words: Spoken) -> None:
        """Render the start of ``words``, so that the voice can begin at once.

        A voice that fails here fails again, and is reported, when it is asked to speak.
        """
        try:
            async for _ in self._speech.voice.phrases_async(words):
                return
        except SpeechError as error:
            logger.warning("cannot prepare speech: {}", error)

    async def turn_probability(self, audio: np.ndarray, rate_hz: int) -> float:
        """Probability that a turn is over, from int16 mono audio."""

        def ask() -> float:
            heard = resample(to_float32(audio), rate_hz, _TURN_MODEL_HZ)
            return self._speech.smart_turn.probability(heard)

        return await sessions.run(ask)

    def vad_analyzer(self) -> VADAnalyzer:
        """A VAD for one call."""
        vad = self._settings.vad
        return self._speech.vad_analyzer(
            params=VADParams(
                confidence=vad.confidence,
                start_secs=vad.start_ms / 1000,
                stop_secs=vad.stop_ms / 1000,
                min_volume=0.0,
            )
        )

    def stt(self) -> STTService:
        """A recogniser for one call."""
        return self._speech.stt()

    def tts(self) -> TTSService:
        """A voice for one call."""
        return self._speech.tts()

    def prerender(self, limit: int) -> None:
        """Render the agent's own sentences now, then up to ``limit`` of the documents'.

        The documents' are rendered in a thread of the lowest priority, so that no call waits
        for them.
        """
        own = (Spoken(self._settings.voice.greeting), Spoken(self.policy.refusal))
        self._speech.voice.prepare([*own, *FIXED_SENTENCES])
        quoted = [Spoken.strip(sentence.text) for sentence in self.index.sentences[:limit]]
        threading.Thread(target=self._render, args=(quoted,), daemon=True).start()

    def _render(self, sentences: list[Spoken]) -> None:
        if sys.platform == "linux":  # elsewhere a thread has no priority of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
        for sentence in sentences:
            if self._closing.is_set():
                return
            try:
                self._speech.voice.prepare([sentence])
            except SpeechError as error:
                logger.warning("cannot prerender a sentence: {}", error)

    def versions(self) -> dict[str, Any]:
        """What a record says about how its answers came about."""
        return {
            "kb": self.index.kb.sha256[:16],
            "passages": len(self.index.kb.passages),
            "embedder": self.index.embedder.hash[:16],
            "floors": {
                language: round(floors.floor, 4)
                for language, floors in self.index.calibrations.items()
            },
        }

    def close(self) -> None:
        """Stop what runs in the background."""
        self._closing.set()
