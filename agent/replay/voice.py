"""A voice without sound: every phrase takes as long as one would, and is made in no time.

What a caller hears is compared as words. How long it takes decides where a reply is cut.
"""

from __future__ import annotations

import numpy as np

from speech.audio import Int16
from speech.phrased import Phrase, PhrasedVoice

_MS_A_LETTER = 67.0
_RATE_HZ = 8000


class StandInVoice(PhrasedVoice):
    """A low hum, 67 ms a letter of what is read aloud, as a telephone voice takes."""

    def __init__(self) -> None:
        super().__init__(b"stand-in", _RATE_HZ, 8 * 1024 * 1024)

    def synthesise(self, phrase: Phrase) -> Int16:
        """``phrase`` as a hum."""
        size = round(len(phrase.words) * _MS_A_LETTER * phrase.slowness * _RATE_HZ / 1000)
        times = np.arange(size) / _RATE_HZ
        return np.asarray(600 * np.sin(2 * np.pi * 100 * times), np.int16)
