"""SentencePiece's unigram tokenizer (Kudo, ACL 2018), word by word, with character ranges.

No piece of this vocabulary reaches over a space, so each word is cut on its own and the cut is
kept. The ``tokenizers`` library does the same, but holds the 250,000 pieces in a trie of 268 MB,
against 17 MB here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.embedders.packed import Vocabulary

# The sign that stands for the space before a word (U+2581).
SPACE = "\u2581"
# What SentencePiece takes off the least likely piece for a character that it does not know.
_UNKNOWN_PENALTY = 10.0
_KEPT_WORDS = 16384


@dataclass(frozen=True, slots=True)
class Token:
    """One piece: its ``id``, its ``text`` as in the vocabulary, its range in the source.

    The space sign at the front of ``text`` is not part of the range, which is empty for a token
    that is nothing else.
    """

    id: int
    text: str
    start: int
    end: int


class Unigram:
    """The most likely cut of a text into pieces. Safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ids = {piece: n for n, piece in enumerate(vocabulary.pieces)}
        self._scores = vocabulary.scores
        self._unknown = vocabulary.unknown
        self._unknown_score = float(vocabulary.scores.min()) - _UNKNOWN_PENALTY
        self._longest = max(map(len, vocabulary.pieces))
        self._replacements = vocabulary.replacements
        self._cut = lru_cache(_KEPT_WORDS)(self._best_cut)

    def tokens(self, text: str) -> list[Token]:
        """The pieces of ``text`` in order."""
        return [token for word in self._words(text) for token in word]

    def _words(self, text: str) -> Iterator[list[Token]]:
        normal, places = self._normalise(text)
        for match in re.finditer("[^ ]+", normal):
            at = match.start()
            found = []
            for number, start, end in self._cut(SPACE + match.group()):
                # Character 0 of the word is the space sign: its place is that of the next one.
                first, last = at + max(start - 1, 0), at + end - 1
                span = (places[first][0], places[last - 1][1] if last > first else places[first][0])
                piece = (SPACE + match.group())[start:end]
                found.append(Token(number, piece, *span))
            yield found

    def _normalise(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """The text as the model reads it, and the source range of each of its characters."""
        characters: list[str] = []
        places: list[tuple[int, int]] = []
        for at, source in enumerate(text):
            for character in self._replacements.get(source, source):
                characters.append(character)
                places.append((at, at + 1))
        return "".join(characters), places

    def _best_cut(self, word: str) -> tuple[tuple[int, int, int], ...]:
        """Viterbi over one word: (id, start, end) of each piece."""
        best = [0.0] + [float("-inf")] * len(word)
        back: list[tuple[int, int]] = [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                number = self._ids.get(word[start:end], self._unknown)
                if number != self._unknown:
                    score = best[start] + float(self._scores[number])
                elif end == start + 1:
                    score = best[start] + self._unknown_score
                else:
                    continue
                if score > best[end]:
                    best[end], back[end] = score, (number, start)
        cut = []
        end = len(word)
        while end > 0:
            number, start = back[end]
            cut.append((number, start, end))
            end = start
        return tuple(reversed(cut))
