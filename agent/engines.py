"""What all calls share: the models, the index and the threads they run on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.processors.frame_processor import FrameProcessor

import speech.engines
from agent.generation import generator_of, rewriter_of
from agent.knowledge import Knowledge
from agent.retrieval import index_of, policy_of
from agent.second_opinion import SecondOpinion, opinion_of
from agent.settings import Settings
from agent.speech_settings import hearing_of, speaking_of
from frontdesk import SpeechError, Spoken
from rag import Index, store
from rag.vocabulary import vocabulary
from speech import sessions
from speech.audio import resample, to_float32
from speech.phrased import PhrasedVoice
from speech.scheduling import Priority
from speech.vad import SharedSileroAnalyzer

T = TypeVar("T")

_TURN_MODEL_HZ = 16000


class Engines:
    """Models, voice and index, loaded and warmed once.

    ``generator`` and ``rewriter`` ask a language model, and are None where none is configured.
    ``second`` hears again what leads to an unsure answer; None where it is not wanted.

    Raises:
        ConfigError: a language model is half configured, or a recogniser or voice is not known.
        ModelFileError: a model file is missing or altered.
        KnowledgeBaseError: the documents or the index cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self.knowledge = Knowledge(
            store.artefact_path(settings.kb),
            lambda: index_of(settings),
            lambda: store.load(settings.kb, self.index.embedder),
            on_swap=self._listen_for,
        )
        self.policy = policy_of(settings)
        self.generator = generator_of(settings, lambda: self.index, run=self.run)
        self.rewriter = rewriter_of(settings)
        self.second = _second_of(settings)
        self._settings = settings
        _ = self.index.lexicon  # made now, not when the first caller is misheard
        self._speech = speech.engines.Engines.load(
            hearing_of(settings), speaking_of(settings), words=vocabulary(self.index.kb)
        )

    @property
    def index(self) -> Index:
        """The index in service; another one after a build."""
        return self.knowledge.index

    async def run(
        self,
        function: Callable[..., T],
        *args: Any,
        priority: Priority = Priority.ANSWER,
        **kwargs: Any,
    ) -> T:
        """Run ``function`` on an inference thread, off the event loop, as what an answer needs."""
        return await sessions.run(function, *args, priority=priority, **kwargs)

    async def close(self) -> None:
        """Close the lines to a language model's server; in the loop that used them."""
        for one in (self.generator, self.rewriter):
            if one is not None:
                await one.close()

    async def give_memory_back(self) -> None:
        """Return memory that calls used, and nothing uses now, to the system; takes no hurry."""
        await sessions.run(sessions.release_memory, priority=Priority.BACKGROUND)

    async def prepare_first_phrase(self, words: Spoken) -> None:
        """Render the start of ``words``, so that the voice can begin at once.

        A voice that fails here fails again, and is reported, when it is asked to speak.
        """
        try:
            async for _ in self._speech.voice.phrases_async(words):
                return
        except SpeechError as error:
            logger.warning("cannot prepare speech: {}", error)

    async def _turn_probability(self, audio: np.ndarray, rate_hz: int) -> float:
        """Probability that a turn is over, from int16 mono audio."""

        smart_turn = self._speech.smart_turn
        assert smart_turn is not None

        def ask() -> float:
            heard = resample(to_float32(audio), rate_hz, _TURN_MODEL_HZ)
            return smart_turn.probability(heard)

        return await sessions.run(ask, priority=Priority.TURN)

    @property
    def turn_model(self) -> Callable[[np.ndarray, int], Awaitable[float]] | None:
        """What judges the end of a turn; None where the recogniser does."""
        return None if self._speech.smart_turn is None else self._turn_probability

    def vad_analyzer(self) -> SharedSileroAnalyzer:
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

    def stt(self) -> FrameProcessor:
        """What hears one call."""
        return self._speech.stt()

    def tts(self) -> FrameProcessor:
        """What speaks in one call."""
        return self._speech.tts()

    @property
    def voice(self) -> PhrasedVoice:
        """The voice of all calls."""
        return self._speech.voice

    def _listen_for(self, index: Index) -> None:
        """Have calls that begin from now on lean towards the words of ``index``."""
        _ = index.lexicon  # made here, not when the first caller is misheard
        self._speech = self._speech.listening_for(vocabulary(index.kb))

    def versions(self) -> dict[str, Any]:
        """What a record says about how its answers came about."""
        index = self.index
        return {
            "kb": index.kb.sha256[:16],
            "passages": len(index.kb.passages),
            "embedder": index.embedder.hash[:16],
            "worded_by": self._settings.generation.model if self.generator else None,
            "floors": {
                language: round(floors.floor, 4) for language, floors in index.calibrations.items()
            },
        }


def _second_of(settings: Settings) -> SecondOpinion | None:
    """Whisper tiny.en, so for callers who speak English, and not where Whisper hears them first."""
    hears = settings.recogniser
    wanted = hears.second_opinion and hears.languages == ("en",) and hears.engine != "whisper"
    return opinion_of(wanted=wanted, budget_ms=hears.second_budget_ms)
