"""The VAD in the pipeline: Pipecat's processor, which also tells of a pause before it is sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipecat.frames.frames import Frame, InputAudioRawFrame, SystemFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection

from speech.vad import SharedSileroAnalyzer


@dataclass
class SpeechPausingFrame(SystemFrame):
    """The first silent window after speech. Either a pause follows, or speech goes on.

    What is heard of a turn can be worked out from here on: two windows (64 ms) before
    ``VADUserStoppedSpeakingFrame``.
    """


class VoiceActivity(VADProcessor):
    """Speech and pauses of one call. It works where the audio arrives, without a queue."""

    def __init__(self, analyzer: SharedSileroAnalyzer, **kwargs: Any) -> None:
        super().__init__(vad_analyzer=analyzer, enable_direct_mode=True, **kwargs)
        self._analyzer = analyzer
        self._pausing = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass the frame on; push what the audio in it begins or ends."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame) and self._analyzer.is_pausing != self._pausing:
            self._pausing = not self._pausing
            if self._pausing:
                await self.push_frame(SpeechPausingFrame())
