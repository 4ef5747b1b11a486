"""Word errors as recognisers are measured: how something is written does not count.

Numbers, marks and contractions are written out, as by the English normaliser of Radford et al.
(arXiv 2212.04356, appendix C); a compound is the same in one word or in two, as in the scoring of
NIST's evaluations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from num2words import num2words

from rag.distance import edits

_NOT_SAID = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_SAME = {"okay": "ok", "cancelled": "canceled", "alright": "all right", "cannot": "can not"}
_WRITTEN_OUT = (
    ("&", " and "), ("*", " star "), ("#", " pound "), ("won't", "will not"), ("can't", "can not"),
    ("n't", " not"), ("i'm", "i am"), ("'re", " are"), ("'ll", " will"), ("'ve", " have"),
)  # fmt: skip


def said(text: str) -> list[str]:
    """The words of ``text`` in lower case, numbers as words, what stands in brackets left out."""
    text = _NOT_SAID.sub(" ", text).lower().replace("’", "'")
    for short, long in _WRITTEN_OUT:
        text = text.replace(short, long)
    text = re.sub(r"\d+", lambda number: f" {num2words(int(number.group()))} ", text)
    return " ".join(_SAME.get(word, word) for word in _WORD.findall(text)).split()


@dataclass(frozen=True, slots=True)
class Errors:
    """Wrong words of those that were said."""

    wrong: int
    words: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Errors:
        """Of pairs of what was said and what was heard."""
        both = [_alike(said(one), said(other)) for one, other in pairs]
        return cls(sum(edits(*pair) for pair in both), sum(len(one) for one, _ in both))

    @property
    def percent(self) -> float:
        """The word error rate."""
        return round(100 * self.wrong / max(self.words, 1), 2)


def _alike(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both with the compounds joined that the other has in one word: file name, filename."""
    return _joined(one, set(other)), _joined(other, set(one))


def _joined(parts: Sequence[str], wholes: Container[str]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if found and found[-1] + part in wholes:
            found[-1] += part
        else:
            found.append(part)
    return found


def invented(pairs: Iterable[tuple[str, str]], listed: Container[str]) -> int:
    """How many of the ``listed`` words (lower case) were heard more often than they were said."""
    return sum(
        (Counter(w for w in said(heard) if w in listed) - Counter(said(spoken))).total()
        for spoken, heard in pairs
    )
