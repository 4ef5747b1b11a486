"""Every speech model of the process, loaded and warmed once; a call's parts are made from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipecat.audio.vad.vad_analyzer import VADParams

from speech import sessions
from speech.moonshine import Moonshine
from speech.piper import CACHE_BYTES, Voice
from speech.services import MoonshineSTTService, PiperTTSService
from speech.turn import SmartTurn
from speech.vad import SharedSileroAnalyzer

_SILERO_WINDOW_BYTES = 512


@dataclass(frozen=True, slots=True)
class Engines:
    """The recogniser, the turn model and the voice that all calls share."""

    moonshine: Moonshine
    smart_turn: SmartTurn
    voice: Voice

    @classmethod
    def load(
        cls,
        *,
        words: Iterable[str] = (),
        sample_rate_hz: int = 8000,
        cache_bytes: int = CACHE_BYTES,
        warm: bool = True,
    ) -> Engines:
        """Check the model files, open the sessions and, with ``warm``, run each model once.

        Blocks for about two seconds. The recogniser leans towards ``words``; ``sample_rate_hz``
        and ``cache_bytes``, of rendered speech kept, are the voice's.

        Raises:
            frontdesk.ModelFileError: if a model file or the voice extra is missing or altered.
        """
        engines = cls(Moonshine(words), SmartTurn(), Voice(sample_rate_hz, cache_bytes))
        silero = engines.vad_analyzer(8000)
        if warm:
            engines.moonshine.warm()
            engines.smart_turn.warm()
            engines.voice.warm()
            silero.set_sample_rate(8000)
            silero.voice_confidence(bytes(_SILERO_WINDOW_BYTES))
        sessions.release_memory()
        return engines

    def vad_analyzer(
        self, sample_rate_hz: int | None = None, params: VADParams | None = None
    ) -> SharedSileroAnalyzer:
        """The VAD of one call, at 8000 or 16000 Hz; None takes the pipeline's rate."""
        return SharedSileroAnalyzer(sample_rate=sample_rate_hz, params=params)

    def stt(self, **kwargs: Any) -> MoonshineSTTService:
        """The recogniser service of one call; ``kwargs`` are Pipecat's ``STTService``'s."""
        return MoonshineSTTService(self.moonshine, **kwargs)

    def tts(self, **kwargs: Any) -> PiperTTSService:
        """The voice service of one call; ``kwargs`` are Pipecat's ``TTSService``'s."""
        return PiperTTSService(self.voice, **kwargs)
