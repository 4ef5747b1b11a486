"""The Pipecat services of this package, by their public names."""

from speech.stt import MoonshineSTTService
from speech.tts import PiperTTSService

__all__ = ["MoonshineSTTService", "PiperTTSService"]
