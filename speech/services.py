"""The Pipecat services of this package, by their public names."""

from speech.decode import InterimsDroppedFrame
from speech.stt import LocalSTTService
from speech.tts import LocalTTSService

__all__ = ["InterimsDroppedFrame", "LocalSTTService", "LocalTTSService"]
