"""Whether a sentence is about a namesake: another thing of the kind that was asked for.

"How much is a hepatitis shot" finds "a flu shot costs $30": every word but one is there, and the
one that is not is the one that counts. Three signs of it, none of which needs a list of things:

- a word that is not found right before one that is, where the sentence puts another word in its
  place ("flu" shot);
- two words in a row that are not found ("is the billing office open" against the clinic's hours);
- a follow-up of whose own words none is found ("and what about hepatitis").
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from rag.embed import Embedding, Vectors
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


def namesake(
    asked: Embedding,
    focus: Collection[str],
    pieces: Sequence[str],
    vectors: Vectors,
    beside: str = "",
) -> str:
    """What the sentence of these ``pieces`` names in place of what was asked for, or ''.

    ``vectors`` (pieces, dim) are the sentence's unit vectors. Of the words in ``focus``,
    which a follow-up brought in, one at least has to be found. Words that stand ``beside`` the
    sentence, in the question that its source sets there, are not missing.
    """
    if not pieces or not len(asked.piece_vectors):
        return ""
    near = asked.piece_vectors @ vectors.T
    in_sentence = near.max(axis=1)
    question = [w for w in whole_words(asked.pieces) if w.text not in _GENERAL and w.has_subject]
    known = stems_of(beside)
    lacking = {
        w for w in question if _mean(in_sentence, w) < _MISSING and stem(w.text) not in known
    }
    new = {w for w in question if w.text in focus}
    # What a follow-up took over is not what it asks for.
    in_question = near[[n for w in new for n in range(w.start, w.end)] or slice(None)].max(axis=0)
    if new and new <= lacking:
        return f"asked about {_text(new)}, which is not there"
    others = _pairs([w for w in whole_words(pieces) if not _is_letter(w)])
    for name, kind in _pairs(whole_words(asked.pieces)):
        if name not in lacking or (new and name not in new):
            continue
        if kind in lacking and not focus:
            return f"asked about {name.text} {kind.text}, which is not there"
        if _mean(in_sentence, kind) < _FOUND:
            continue
        column = int(near[kind.start : kind.end].max(axis=0).argmax())
        for other, same in others:
            if same.start <= column < same.end and _mean(in_question, other) < _UNASKED:
                return f"asked about {name.text} {kind.text}, has {other.text} {same.text}"
    return ""


def _text(words: Collection[Word]) -> str:
    return " ".join(word.text for word in sorted(words, key=lambda word: word.start))


def _pairs(words: Sequence[Word]) -> list[tuple[Word, Word]]:
    """Neighbours that both name something."""
    return [(a, b) for a, b in pairwise(words) if a.has_subject and b.has_subject]


def _is_letter(word: Word) -> bool:
    """Whether it is the "D" of "vitamin D test"."""
    return len(word.text) == 1 and word.text.isalpha() and word.text not in "ai"


def _mean(values: Vectors, word: Word) -> float:
    return float(np.mean(values[word.start : word.end]))
