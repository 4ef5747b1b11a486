"""Hours asked of the day before: "when do you open on saturday", "and when do you close"."""

from __future__ import annotations

import re

from rag.follow_up import slots
from rag.follow_up.state import State

# "So you close at five": no question of its own either.
_GOES_ON = re.compile(r"^(?:(?:and|but|then) |(?=(?:you|it) (?:open|close|shut)s?\b))")
_HOURS = re.compile(
    r"\b(?:open|clos(?:e|ed|es|ing)|opens|opening|shut|shuts|hours|starts?|ends?|finish(?:es)?)\b"
)
_MOST_WORDS = 8
_NO_ON = frozenset({"today", "tomorrow"})


def of_that_day(cleaned: str, before: str, state: State) -> str:
    """``cleaned`` with the day of the question before, where both ask for hours; "" if not."""
    goes_on = _GOES_ON.match(cleaned)
    if not goes_on or not state.day or len(cleaned.split()) > _MOST_WORDS:
        return ""
    if not (_HOURS.search(cleaned) and _HOURS.search(before)) or slots.read(cleaned).day:
        return ""
    joined = " " if state.day in _NO_ON else " on "
    return f"{cleaned[goes_on.end() :]}{joined}{state.day}"
