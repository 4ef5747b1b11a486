"""Every speech model of the process, loaded and warmed once; a call's parts are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.processors.frame_processor import FrameProcessor

from speech import sessions
from speech.gathering import BUDGET_MS
from speech.moonshine import Moonshine
from speech.phrased import CACHE_BYTES, Phrase, PhrasedVoice
from speech.recogniser import Recogniser
from speech.recognisers import recogniser_for
from speech.services import LocalSTTService, LocalTTSService
from speech.third_party import Recognisers, Speakers
from speech.turn import SmartTurn
from speech.vad import SharedSileroAnalyzer
from speech.voices import SpokenElsewhere, voice_for

_SILERO_WINDOW_BYTES = 512
_FIRST_WORDS = Phrase("One moment please, while I look that up.")


@dataclass(frozen=True, slots=True)
class Hearing:
    """Which recogniser: a name, or "package.module:Class" of a Pipecat ``STTService``.

    ``model`` is a folder or a name, ``languages`` are codes such as "hi". ``arguments`` and
    ``budget_ms``, the wait for its last words, are for a service.
    """

    engine: str = "moonshine"
    model: str = ""
    languages: tuple[str, ...] = ("en",)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    budget_ms: float = BUDGET_MS


@dataclass(frozen=True, slots=True)
class Speaking:
    """Which voice: a name, or "package.module:Class" of a Pipecat ``TTSService``.

    ``arguments`` are for a service, ``languages`` and ``cache_bytes``, of rendered speech kept in
    memory, for a voice of our own.
    """

    engine: str = "piper"
    languages: tuple[str, ...] = ("en",)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cache_bytes: int = CACHE_BYTES

    def voice(self, sample_rate_hz: int = 8000) -> PhrasedVoice:
        """The voice of our own, at ``sample_rate_hz``; where a service speaks, one that is mute.

        Raises:
            ConfigError: if there is no such voice, or it does not speak a language.
            ModelFileError: if its extra or a model file is missing or altered.
        """
        if is_path(self.engine):
            return SpokenElsewhere()
        return voice_for(self.engine, self.languages, sample_rate_hz, self.cache_bytes)


def is_path(engine: str) -> bool:
    """Whether ``engine`` is the import path of a service, not a name."""
    return ":" in engine


@dataclass(frozen=True, slots=True)
class Engines:
    """The recogniser, the turn model and the voice that all calls share.

    ``heard_by`` and ``spoken_by`` make services of others, where one is configured; then there
    is no recogniser, and the voice is mute. The turn model is None where the recogniser itself
    tells how finished a turn sounds.
    """

    hearing: Hearing
    recogniser: Recogniser | None
    smart_turn: SmartTurn | None
    voice: PhrasedVoice
    heard_by: Recognisers | None = None
    spoken_by: Speakers | None = None

    @classmethod
    def load(
        cls,
        hearing: Hearing = Hearing(),
        speaking: Speaking = Speaking(),
        *,
        words: Iterable[str] = (),
        sample_rate_hz: int = 8000,
        warm: bool = True,
    ) -> Engines:
        """Check the model files, open the sessions and, with ``warm``, run each model once.

        Blocks for about two seconds. The recogniser leans towards ``words``; ``sample_rate_hz``
        is the voice's.

        Raises:
            frontdesk.ConfigError: if an engine, its model or an argument is not known.
            frontdesk.ModelFileError: if a model file or an extra is missing or altered.
        """
        heard_by = spoken_by = recogniser = None
        if is_path(hearing.engine):
            heard_by = Recognisers(
                hearing.engine, hearing.arguments, hearing.languages[0], hearing.budget_ms
            )
        else:
            recogniser = _recogniser(hearing, words)
        if is_path(speaking.engine):
            spoken_by = Speakers(speaking.engine, speaking.arguments)
        voice = speaking.voice(sample_rate_hz)
        smart_turn = None if isinstance(recogniser, Moonshine) else SmartTurn()
        engines = cls(hearing, recogniser, smart_turn, voice, heard_by, spoken_by)
        if warm:
            engines.warm()
        sessions.release_memory()
        return engines

    def warm(self) -> None:
        """Run each model once."""
        if self.recogniser is not None:
            self.recogniser.warm()
        if self.smart_turn is not None:
            self.smart_turn.warm()
        self.voice.synthesise(_FIRST_WORDS)
        silero = self.vad_analyzer(8000)
        silero.set_sample_rate(8000)
        silero.voice_confidence(bytes(_SILERO_WINDOW_BYTES))

    def listening_for(self, words: Iterable[str]) -> Engines:
        """The same, but for a recogniser that leans towards ``words``; models are not read again.

        Raises:
            frontdesk.ModelFileError: if a model file is missing or altered.
        """
        if self.recogniser is None:
            return self
        return replace(self, recogniser=_recogniser(self.hearing, words))

    def vad_analyzer(
        self, sample_rate_hz: int | None = None, params: VADParams | None = None
    ) -> SharedSileroAnalyzer:
        """The VAD of one call, at 8000 or 16000 Hz; None takes the pipeline's rate."""
        return SharedSileroAnalyzer(sample_rate=sample_rate_hz, params=params)

    def stt(self, **kwargs: Any) -> FrameProcessor:
        """What hears one call; ``kwargs`` are Pipecat's ``STTService``'s, for our own."""
        if self.heard_by is not None:
            return self.heard_by.service()
        assert self.recogniser is not None
        return LocalSTTService(self.recogniser, **kwargs)

    def tts(self, **kwargs: Any) -> FrameProcessor:
        """What speaks in one call; ``kwargs`` are Pipecat's ``TTSService``'s, for our own."""
        if self.spoken_by is not None:
            return self.spoken_by.service()
        return LocalTTSService(self.voice, **kwargs)


def _recogniser(hearing: Hearing, words: Iterable[str]) -> Recogniser:
    return recogniser_for(hearing.engine, hearing.model, hearing.languages, words)
