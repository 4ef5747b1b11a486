"""What the settings say about hearing and speaking, for :mod:`speech.engines`."""

from __future__ import annotations

from agent.service_arguments import resolved
from agent.settings import Settings
from speech.engines import Hearing, Speaking


def hearing_of(settings: Settings) -> Hearing:
    """Which recogniser.

    Raises:
        ConfigError: if a variable that an argument names is not set.
    """
    chosen = settings.recogniser
    return Hearing(
        chosen.engine,
        chosen.model,
        chosen.languages,
        resolved(chosen.arguments, "recogniser.arguments"),
        chosen.budget_ms,
    )


def speaking_of(settings: Settings) -> Speaking:
    """Which voice.

    Raises:
        ConfigError: if a variable that an argument names is not set.
    """
    chosen = settings.voice
    return Speaking(
        chosen.engine,
        chosen.languages,
        resolved(chosen.arguments, "voice.arguments"),
        chosen.cache_mb * 1_000_000,
    )
