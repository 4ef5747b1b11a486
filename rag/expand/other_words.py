"""A second wording of a question: other words that callers use for the same thing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent.parent / "data" / "other_words.txt"


def in_other_words(question: str) -> str:
    """``question`` by the first line of ``rag/data/other_words.txt`` that fits it; '' if none."""
    for pattern, other in _lines():
        if pattern.search(question):
            return " ".join(pattern.sub(other, question, count=1).split())
    return ""


@cache
def _lines() -> tuple[tuple[re.Pattern[str], str], ...]:
    """A pattern for each line of the file, and what to put in its place."""
    found = []
    for line in _DATA.read_text("utf-8").splitlines():
        known, _, other = (part.strip() for part in line.partition("#")[0].partition("="))
        if not known:
            continue
        pattern = rf"\b{re.escape(known)}\b"
        if "*" in known:
            pattern = "^" + re.escape(known).replace(r"\ \*", r"\b ?\*") + "$"
        first, *rest = other.split("*")
        other = first + "".join(rf"\g<{n}>{part}" for n, part in enumerate(rest, 1))
        found.append((re.compile(pattern.replace(r"\*", "(.*?)")), other))
    return tuple(found)
