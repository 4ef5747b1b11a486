"""The voices of simulated callers: recorded ones, and our own for words that nobody recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.simulated.fresh_espeak import spoken_afresh
from frontdesk import ConfigError, Spoken
from telephony.recording import load_audio

if TYPE_CHECKING:
    from speech.piper import Voice

MADE: Mapping[str, str] = {
    "piper": "",
    "espeak": "en",
    "espeak-scotland": "en-gb-scotland",
    "espeak-caribbean": "en-029",
    "espeak-rp": "en-gb-x-rp",
}
"""Voices that say anything, the same samples each time; of eSpeak NG with its name for the accent.
"""


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording: its file, and the noise that is in it already ('' for none)."""

    file: Path
    noise: str = ""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who can say what. ``recorded`` maps a text to the voices that recorded it."""

    recorded: Mapping[str, Mapping[str, Clip]]

    @property
    def voices(self) -> tuple[str, ...]:
        """Every voice there is, the recorded ones first."""
        names = {voice for clips in self.recorded.values() for voice in clips}
        return (*sorted(names), *MADE)

    def says(self, voice: str, words: str) -> bool:
        """Whether ``voice`` can say ``words``."""
        return voice in MADE or voice in self.recorded.get(words, {})

    def clip(self, voice: str, words: str) -> Clip | None:
        """The recording of ``words``, if ``voice`` is a recorded one.

        Raises:
            ConfigError: if that voice has not said them.
        """
        if voice in MADE:
            return None
        found = self.recorded.get(words, {}).get(voice)
        if found is None:
            raise ConfigError(
                f"voice {voice!r} has no recording of {words!r}; voices that say anything: "
                f"{', '.join(MADE)}"
            )
        return found

    def speak(self, voice: str, words: str) -> NDArray[np.int16]:
        """``words`` as int16 at 8 kHz, one-dimensional.

        Raises:
            ConfigError: if that voice does not say them.
            ModelFileError: if a voice's files are missing.
        """
        clip = self.clip(voice, words)
        return load_audio(clip.file) if clip else _made(voice, words).copy()


@lru_cache(maxsize=512)
def _made(voice: str, words: str) -> NDArray[np.int16]:
    accent = MADE[voice]
    return spoken_afresh(accent, words) if accent else _piper().render(Spoken(words))


@cache
def _piper() -> Voice:
    from speech.piper import Voice

    return Voice()


def cast_of(questions: Path, audio: Path) -> Cast:
    """The clips in folder ``audio`` that the rows of file ``questions`` name; none without them."""
    recorded: dict[str, dict[str, Clip]] = {}
    for row in _rows(questions) if questions.is_file() else []:
        for clip in row.get("audio", ()):
            file = audio / clip.get("file", ".")
            if file.is_file():
                said = recorded.setdefault(row["text"], {})
                said[clip["voice"]] = Clip(file, clip.get("noise") or "")
    return Cast(recorded)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
