"""Word pieces, and the words that they are of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_STOPWORDS = Path(__file__).with_name("data") / "stopwords.txt"


@dataclass(frozen=True, slots=True)
class Word:
    """A word made of pieces ``start`` to ``end``: "refill", "##s" are both of "refills"."""

    text: str
    start: int
    end: int

    @property
    def has_subject(self) -> bool:
        """Whether it names anything: not a stop word, not a number."""
        return self.text not in stopwords() and not self.text.isdigit()


def whole_words(pieces: Sequence[str]) -> list[Word]:
    """The words of some word pieces, in order."""
    if not pieces:
        return []
    starts = [n for n, piece in enumerate(pieces) if n == 0 or not piece.startswith("##")]
    ends = [*starts[1:], len(pieces)]
    return [
        Word("".join(p.removeprefix("##") for p in pieces[start:end]), start, end)
        for start, end in zip(starts, ends, strict=True)
    ]


@cache
def stopwords() -> frozenset[str]:
    """Words without a subject of their own (``rag/data/stopwords.txt``)."""
    lines = _STOPWORDS.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("# "))


_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_PLURAL = re.compile(r"(?:['’]s|(?<=[^su])s)$")
_ENDINGS = re.compile(r"(?:ings?|edly|ed|ie|ly|ment|ations?|able|ible|y|e)$")


@lru_cache(maxsize=16384)
def stems_of(text: str) -> frozenset[str]:
    """The words of ``text`` without their endings."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """``word`` without its ending, if at least three letters stay: "parking" and "park" agree."""
    word = _PLURAL.sub("", word) if len(word) > 3 else word
    shorter = _ENDINGS.sub("", word)
    if len(shorter) < 3:
        return word
    # "cancel" and "cancell-ed"
    return shorter[:-1] if len(shorter) > 4 and shorter[-1] == shorter[-2] else shorter
