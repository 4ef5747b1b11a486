"""Whether a sentence is about a namesake: another thing of the kind that was asked for.

"How much is a hepatitis shot" finds "a flu shot costs $30": every word but one is there, and the
one that is not is the one that counts. Three signs of it, none of which needs a list of things:

- a word that is not found right before one that is, where the sentence puts another word in its
  place ("flu" shot);
- two words in a row that are not found ("is the billing office open" against the clinic's hours);
- a follow-up of whose own words none is found ("and what about hepatitis").

On the sample clinic these tell well; a caller who uses other words than the documents looks the
same, so the first two are a feature of the score and no check: over the made-up businesses of
``tools/businesses`` they hold for 28 % of right sentences, and for 39 % of the best wrong ones.
The third is a check too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rag.embed import Vectors
from rag.pieces import Word, stem, stems_of, whole_words

# Cosines of word pieces. Over the clinic's questions as typed, words that were found lay above
# 0.6 and names that were not below 0.4.
_FOUND = 0.5
_MISSING = 0.4
_UNASKED = 0.6

# Too general to name one thing among others.
_GENERAL = frozenset(
    "accept always ask available big bring come cost day different do earliest find first full "
    "general get give good have help large last late latest like little long look main make many "
    "more much new next normal offer old open other own pay per regular same see service show "
    "small someone special standard start take think time under use usual way work".split()
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names, looked for in one sentence after the other.

    ``pairs`` are neighbours among its words that both name something, ``named`` the words that
    say what it is about, ``new`` those of them that a follow-up brought in.
    """

    pairs: tuple[tuple[Word, Word], ...]
    named: frozenset[Word]
    new: frozenset[Word]

    @classmethod
    def of(cls, pieces: Sequence[str], focus: Collection[str]) -> Named:
        """What a question of these word ``pieces`` names; ``focus`` as in :class:`Query`."""
        words = tuple(whole_words(pieces))
        named = frozenset(w for w in words if w.text not in _GENERAL and w.has_subject)
        return cls(tuple(_pairs(words)), named, frozenset(w for w in named if w.text in focus))

    def missed(self, pieces: tuple[str, ...], near: Vectors, beside: str = "") -> str:
        """What the sentence of these ``pieces`` names in place of what was asked for, or ''.

        ``near`` (asked, pieces) are the cosines of the question's pieces and the sentence's. Of
        the new words one at least has to be found. Words that stand ``beside`` the sentence, in
        the question that its source sets there, are not missing.
        """
        lacking = self._lacking(near, beside)
        if not lacking:
            return ""
        if self.new and self.new <= lacking:
            return _not_there(self.new)
        in_sentence = near.max(axis=1).tolist()
        # What a follow-up took over is not what it asks for.
        rows = [n for w in self.new for n in range(w.start, w.end)]
        in_question = near[rows or slice(None)].max(axis=0).tolist()
        for name, kind in self.pairs:
            if name not in lacking or (self.new and name not in self.new):
                continue
            if kind in lacking and not self.new:
                return _not_there((name, kind))
            if _mean(in_sentence, kind) < _FOUND:
                continue
            column = int(near[kind.start : kind.end].max(axis=0).argmax())
            for other, same in _pairs_said(pieces):
                if same.start <= column < same.end and _mean(in_question, other) < _UNASKED:
                    return f"asked about {name.text} {kind.text}, has {other.text} {same.text}"
        return ""

    def new_missed(self, near: Vectors, beside: str = "") -> str:
        """The words that a follow-up brought in, if none of them is found; else ''."""
        is_missed = self.new and self.new <= self._lacking(near, beside)
        return _not_there(self.new) if is_missed else ""

    def _lacking(self, near: Vectors, beside: str) -> set[Word]:
        """The words named that are not found."""
        in_sentence = near.max(axis=1).tolist()
        known = stems_of(beside) if beside else frozenset()
        return {
            w for w in self.named
            if _mean(in_sentence, w) < _MISSING and stem(w.text) not in known
        }  # fmt: skip


@lru_cache(maxsize=16384)  # sentences come again
def _pairs_said(pieces: tuple[str, ...]) -> tuple[tuple[Word, Word], ...]:
    return tuple(_pairs([w for w in whole_words(pieces) if not _is_letter(w)]))


def _not_there(words: Collection[Word]) -> str:
    text = " ".join(word.text for word in sorted(words, key=lambda word: word.start))
    return f"asked about {text}, which is not there"


def _pairs(words: Sequence[Word]) -> list[tuple[Word, Word]]:
    """Neighbours that both name something."""
    return [(a, b) for a, b in pairwise(words) if a.has_subject and b.has_subject]


def _is_letter(word: Word) -> bool:
    """Whether it is the "D" of "vitamin D test"."""
    return len(word.text) == 1 and word.text.isalpha() and word.text not in "ai"


def _mean(values: Sequence[float], word: Word) -> float:
    return sum(values[word.start : word.end]) / (word.end - word.start)
