"""A voice as a Pipecat service: its phrases, streamed as each is ready."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from pipecat.frames.frames import ErrorFrame, Frame, TTSAudioRawFrame, TTSSpeakFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService
from pipecat.transcriptions.language import Language

from frontdesk import SpeechError, Spoken
from speech.audio import resample
from speech.phrased import PhrasedVoice
from speech.reading import read_aloud


async def speakable(text: str, text_type: str) -> str:
    """``text``, proven free of citations; '' if there is nothing in it to say ("...").

    As a Pipecat text transform, which runs before anything is opened or announced: what it
    raises becomes an ``ErrorFrame``, and neither audio nor a ``TTSTextFrame`` follows, nor do
    they for ''. (Pipecat gives a voice up for good after three texts without audio.)

    Raises:
        CitationInSpeechError: if the text still carries a bracketed id.
    """
    return text if read_aloud(Spoken(text)) else ""


@dataclass
class SlowSpeakFrame(TTSSpeakFrame):
    """A text to be said slowly, to a caller who writes it down; other voices say it as usual."""


class LocalTTSService(TTSService):
    """Speaks for one call, at the pipeline's output rate."""

    def __init__(self, voice: PhrasedVoice, **kwargs: Any) -> None:
        """Make the service of one call on the voice of all calls."""
        language = next((one for one in Language if one.value == voice.language), None)
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=type(voice).__name__.lower(), voice=None, language=language),
            **kwargs,
        )
        self._voice = voice
        self._slow = False
        self.add_text_transformer(speakable)

    def can_generate_metrics(self) -> bool:
        """Time to the first audio is reported."""
        return True

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Speak a text slowly where its frame says so."""
        if isinstance(frame, TTSSpeakFrame):
            self._slow = isinstance(frame, SlowSpeakFrame)
        await super().process_frame(frame, direction)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Audio frames of ``text``, one a phrase, as each phrase is ready.

        Yields an ``ErrorFrame`` and no audio for text that carries a citation; an
        ``ErrorFrame`` in place of the rest where the voice fails.
        """
        try:
            spoken = Spoken(text, slow=self._slow)
            await self.start_tts_usage_metrics(text)
            async for samples in self._voice.phrases_async(spoken):
                if not samples.size:
                    continue
                audio = resample(samples, self._voice.sample_rate_hz, self.sample_rate)
                yield TTSAudioRawFrame(audio.tobytes(), self.sample_rate, 1, context_id=context_id)
        except SpeechError as error:
            yield ErrorFrame(error=str(error), exception=error)

    async def on_turn_context_completed(self) -> None:
        """Close what was opened for the text, audio or not.

        ``run_tts`` has yielded all there is. Pipecat takes the lack of audio for audio yet to
        come, and would hold the context of a text whose voice failed for 3 s.
        """
        self._is_yielding_frames_synchronously = True
        await super().on_turn_context_completed()
