"""What all calls share: the models, the index and the threads they run on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from tqdm import tqdm

import speech.engines
from agent.generation import generator_of, rewriter_of
from agent.knowledge import Knowledge
from agent.retrieval import index_of, policy_of
from agent.session import FIXED_SENTENCES
from agent.settings import Settings
from frontdesk import SpeechError, Spoken
from rag import Index, store
from rag.vocabulary import vocabulary
from speech import sessions
from speech.audio import resample, to_float32
from speech.moonshine import Moonshine

P = ParamSpec("P")
T = TypeVar("T")

_TURN_MODEL_HZ = 16000
_SPEECH_FILE = "speech.npz"


class Engines:
    """Models, voice and index, loaded and warmed once.

    ``generator`` and ``rewriter`` ask a language model, and are None where none is configured.

    Raises:
        ConfigError: a language model is half configured.
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
        self._settings = settings
        _ = self.index.lexicon  # made now, not when the first caller is misheard
        self._speech = speech.engines.Engines.load(
            words=vocabulary(self.index.kb), cache_bytes=settings.voice.cache_mb * 1_000_000
        )

    @property
    def index(self) -> Index:
        """The index in service; another one after a build."""
        return self.knowledge.index

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``function`` on an inference thread, off the event loop."""
        return await sessions.run(function, *args, **kwargs)

    async def close(self) -> None:
        """Close the lines to a language model's server; in the loop that used them."""
        for one in (self.generator, self.rewriter):
            if one is not None:
                await one.close()

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
        """Render what is sure or likely to be said: the agent's own sentences and the documents'.

        Blocks until up to ``limit`` sentences are rendered, with a progress bar on a terminal;
        they are kept beside the index, so that only the first start takes its time. An answer
        that had to be rendered during a call came 0.3 s later.
        """
        voice = self._speech.voice
        path = store.artefact_path(self._settings.kb).with_name(_SPEECH_FILE)
        voice.load(path)
        own = (Spoken(self._settings.voice.greeting), Spoken(self.policy.refusal))
        quoted = (Spoken.strip(sentence.text) for sentence in self.index.sentences[:limit])
        missing = [
            words for words in (*own, *FIXED_SENTENCES, *quoted) if not voice.is_ready(words)
        ]
        if not missing:
            return
        logger.info("rendering {} sentences once, about 0.2 s each", len(missing))
        rendered = sessions.rendering_pool().map(voice.render, missing)
        bar = tqdm(
            rendered, "rendering speech, once", len(missing), disable=not sys.stderr.isatty()
        )
        try:
            for _ in bar:
                pass
            voice.save(path)
        except SpeechError as error:
            logger.warning("cannot prerender: {}", error)
        except OSError as error:
            logger.warning("rendered speech is not kept ({}: {})", path, error.strerror)

    def _listen_for(self, index: Index) -> None:
        """Have calls that begin from now on lean towards the words of ``index``."""
        _ = index.lexicon  # made here, not when the first caller is misheard
        self._speech = replace(self._speech, moonshine=Moonshine(vocabulary(index.kb)))

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
