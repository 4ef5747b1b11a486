"""Recognisers and voices that are Pipecat services by import path: one a call, in our pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp
from pipecat.frames.frames import Frame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.ai_service import AIService
from pipecat.services.stt_service import SegmentedSTTService, STTService
from pipecat.services.tts_service import TTSService

from speech.gathering import BUDGET_MS, TurnText
from speech.imported import SESSION, make, needs_session, service_class
from speech.tts import speakable


class Recognisers:
    """Makes a service for each call, behind which every turn has exactly one text."""

    def __init__(
        self,
        path: str,
        arguments: Mapping[str, Any],
        language: str = "en",
        budget_ms: float = BUDGET_MS,
    ) -> None:
        """``path`` is "package.module:Class"; ``language`` that of texts without one.

        Raises:
            ConfigError: if it is no Pipecat recogniser or cannot be made of ``arguments``.
        """
        self._class = service_class(path, STTService)  # type: ignore[type-abstract]
        self._arguments, self._language, self._budget_ms = arguments, language, budget_ms
        _try(self._class, arguments)

    def service(self) -> FrameProcessor:
        """The recogniser of one call; in the loop that the call runs in."""
        service, *after = _make(self._class, self._arguments)
        one_a_pause = issubclass(self._class, SegmentedSTTService)
        turn_text = TurnText(self._language, self._budget_ms, one_a_pause=one_a_pause)
        return Pipeline([service, turn_text, *after])


class Speakers:
    """Makes a service for each call. What it is to speak carries no citation."""

    def __init__(self, path: str, arguments: Mapping[str, Any]) -> None:
        """``path`` is "package.module:Class".

        Raises:
            ConfigError: if it is no Pipecat voice or cannot be made of ``arguments``.
        """
        self._class = service_class(path, TTSService)  # type: ignore[type-abstract]
        self._arguments = arguments
        _try(self._class, arguments)

    def service(self) -> FrameProcessor:
        """The voice of one call; in the loop that the call runs in."""
        # Pipecat gives a voice up for the rest of the call after three replies without audio; a
        # server that was down for three may be back for the fourth.
        patient = {"max_consecutive_zero_audio_contexts": 0, **self._arguments}
        service, *after = _make(self._class, patient)
        service.add_text_transformer(speakable)
        return Pipeline([service, *after])


class _Closes(FrameProcessor):
    """Passes everything on, and closes ``session`` with the call."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        super().__init__()
        self._session = session

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass ``frame`` on."""
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """Close the session."""
        await super().cleanup()
        await self._session.close()


def _try(service: type[AIService], arguments: Mapping[str, Any]) -> None:
    """Make one for nothing: what is wrong shows at the start, not at the first call."""
    make(service, arguments, **{SESSION: None})


def _make(service: type[Any], arguments: Mapping[str, Any]) -> list[Any]:
    if not needs_session(service):
        return [make(service, arguments)]
    session = aiohttp.ClientSession()
    return [make(service, arguments, **{SESSION: session}), _Closes(session)]
