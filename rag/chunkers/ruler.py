"""Lengths in an embedder's own tokens, and a text's words as units that are never too long."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain

from rag.chunkers.types import Span
from rag.embed import Embedder

_WORD = re.compile(r"\S+")
# White space that every tokenizer takes as such, so that the two sides don't change each other.
_GAP = frozenset(" \t\r\n")
_JOINERS = frozenset("\u200c\u200d")


class Ruler:
    """Measures one text."""

    def __init__(self, text: str, embedder: Embedder) -> None:
        self.text = text
        self._embedder = embedder
        self._starts = [start for start, _ in embedder.token_spans(text)]

    def tokens(self, start: int, end: int) -> int:
        """How many tokens ``text[start:end]`` is, read by itself."""
        if self._is_edge(start) and self._is_edge(end):
            return bisect_left(self._starts, end) - bisect_left(self._starts, start)
        return len(self._embedder.token_spans(self.text[start:end]))

    def words(self, start: int, end: int, limit: int) -> list[Span]:
        """The words between two places; one of more than ``limit`` tokens comes in parts."""
        return [
            part
            for word in _WORD.finditer(self.text, start, end)
            for part in self._parts(*word.span(), limit)
        ]

    def fill(self, units: Sequence[Span], limit: int, overlap: int = 0) -> list[Span]:
        """Neighbouring ``units`` joined to spans of at most ``limit`` tokens, each as long as it
        can be; a longer unit stands alone.

        A span begins with the last units of the one before that are at most ``overlap`` tokens
        together, if there is then room for a new one.
        """
        spans: list[Span] = []
        first = 0
        for number, (_, end) in enumerate(units):
            if number > first and self.tokens(units[first][0], end) > limit:
                spans.append((units[first][0], units[number - 1][1]))
                first = self._resume(units, first, number, limit, overlap)
        if units:
            spans.append((units[first][0], units[-1][1]))
        return spans

    def _resume(
        self, units: Sequence[Span], first: int, number: int, limit: int, overlap: int
    ) -> int:
        """With which unit the span starts that takes in unit ``number``."""
        repeated, end = units[number - 1][1], units[number][1]
        start = number
        while (
            start - 1 > first
            and self.tokens(units[start - 1][0], repeated) <= overlap
            and self.tokens(units[start - 1][0], end) <= limit
        ):
            start -= 1
        return start

    def _parts(self, start: int, end: int, limit: int) -> list[Span]:
        parts = []
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        while last - first > limit or self.tokens(start, end) > limit:
            cut = self._cut(start, self._starts[first + 1 : min(first + limit + 1, last)], limit)
            parts.append((start, cut))
            start, first = cut, bisect_left(self._starts, cut)
        return [*parts, (start, end)]

    def _cut(self, start: int, places: Sequence[int], limit: int) -> int:
        """The last of ``places`` at which a part of a word that begins at ``start`` fits.

        A part is not read in the tokens that it has inside its word, so it is read again. No letter
        loses its vowel signs, unless there is no other way.
        """
        whole_letters = map(self._before_marks, reversed(places))
        cuts = (cut for cut in chain(whole_letters, reversed(places)) if cut > start)
        return next((cut for cut in cuts if self.tokens(start, cut) <= limit), start + 1)

    def _before_marks(self, place: int) -> int:
        """``place``, or the start of the letter that its vowel sign or joiner belongs to."""
        while place > 0 and (
            unicodedata.category(self.text[place])[0] == "M"
            or self.text[place] in _JOINERS
            or self.text[place - 1] in _JOINERS
        ):
            place -= 1
        return place

    def _is_edge(self, place: int) -> bool:
        text = self.text
        return place in (0, len(text)) or text[place] in _GAP or text[place - 1] in _GAP
