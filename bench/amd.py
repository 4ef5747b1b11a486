"""A yardstick: who answered, by lengths of voice and silence alone, as Asterisk's ``AMD()`` does.

Written after its documentation, with the values of its sample ``amd.conf``
(https://docs.asterisk.org/Latest_API/API_Documentation/Dialplan_Applications/AMD/).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from speech.audio import Int16

_FRAME_MS = 20
_SILENCE_BELOW = 256  # mean magnitude of a frame, int16
_INITIAL_SILENCE_MS = 2500
_GREETING_MS = 1500
_AFTER_GREETING_MS = 800
_TOTAL_MS = 5000
_WORD_MS = 100
_BETWEEN_WORDS_MS = 50
_MOST_WORDS = 3

Decision = Literal["person", "machine", "not sure"]


@dataclass
class _Heard:
    """What was heard so far, in ms."""

    silence: int = 0
    voice: int = 0
    in_a_row: int = 0
    words: int = 0
    in_word: bool = False

    def quiet(self) -> Decision | None:
        self.silence += _FRAME_MS
        if self.silence >= _BETWEEN_WORDS_MS:
            self.in_word, self.in_a_row = False, 0
        if not self.words and self.silence >= _INITIAL_SILENCE_MS:
            return "machine"
        return "person" if self.words and self.silence >= _AFTER_GREETING_MS else None

    def loud(self) -> Decision | None:
        self.silence = 0
        self.voice += _FRAME_MS
        self.in_a_row += _FRAME_MS
        if self.in_a_row >= _WORD_MS and not self.in_word:
            self.in_word, self.words = True, self.words + 1
        over = self.words >= _MOST_WORDS or (self.words and self.voice >= _GREETING_MS)
        return "machine" if over else None


def by_lengths(audio: Int16, rate_hz: int) -> Decision:
    """Who answered, by the first five seconds of ``audio``."""
    size = rate_hz * _FRAME_MS // 1000
    heard = _Heard()
    for at in range(0, min(audio.size, rate_hz * _TOTAL_MS // 1000) - size + 1, size):
        frame = audio[at : at + size].astype(np.int32)
        is_quiet = np.abs(frame).mean() < _SILENCE_BELOW
        decision = heard.quiet() if is_quiet else heard.loud()
        if decision is not None:
            return decision
    return "not sure"
