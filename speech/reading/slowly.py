"""Words that are read aloud, with the pauses that let a caller write them down.

A comma is a pause to every voice. Digits are grouped in twos and threes, as people dictate them;
the halves of a range of times, of an amount of money and of an address stand apart.
"""

from __future__ import annotations

import re

from speech.hindi_numbers import BELOW_HUNDRED

_ENGLISH = ("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT = "|".join((*_ENGLISH, *BELOW_HUNDRED[:10]))
_RUN = re.compile(rf"(?<!\S)(?:{_DIGIT})(?: (?:{_DIGIT})(?![^\s.,;:!?।])){{3,}}")
_PAUSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(AM|PM|o'clock) (?=to\b)"), r"\1, "),
    (re.compile(r"\b(dollars?|euros?|pounds?|rupees?) (?=and\b)"), r"\1, "),
    (re.compile(r" at (?=(?:\S+ ){1,4}?dot )"), ", at, "),
    (re.compile(r" एट (?=(?:\S+ ){1,4}?डॉट )"), ", एट, "),
    (re.compile(r"(?<=[^\s,]) (?=slash |स्लैश )"), ", "),
)


def slowed(words: str) -> str:
    """``words`` with their pauses; twice is as once."""
    words = _RUN.sub(lambda match: _grouped(match[0].split()), words)
    for pattern, pause in _PAUSES:
        words = pattern.sub(pause, words)
    return words


def _grouped(digits: list[str]) -> str:
    """Threes, and twos at the end: 3 2 2 of seven, 3 3 2 2 of ten, 2 2 of four."""
    groups: list[str] = []
    while digits:
        left = len(digits)
        size = 2 if left in (2, 4) else min(3, left)
        groups.append(" ".join(digits[:size]))
        digits = digits[size:]
    return ", ".join(groups)
