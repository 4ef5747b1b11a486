"""Questions that a passage answers, made from its own sentences by rules.

A caller's question lies closer to a question than to the statement that answers it. Where the
source sets no question beside a passage, its statements are turned into the questions that they
answer ("Parking is free" into "is parking free"), worded as callers do ("we" is "you"), and those
are indexed beside it; they are never quoted (doc2query: Nogueira et al., 2019, here without a
model; with one, see :mod:`rag.expand.kept`).

``python -m bench.expansion`` measures them. For the businesses that the rules were chosen on,
those held out, and the sample clinic, the right passage came first, and the area under the curve
of what is answered against what is not:

====================================  ======  ======  ======  ======  ======  ======
keys beside the statements            right   area    right   area    right   area
                                      chosen on       held out        clinic
====================================  ======  ======  ======  ======  ======  ======
none                                  90.8 %  0.889   91.2 %  0.893   93.1 %  0.858
one wording, at most 2 a sentence     91.4 %  0.898   91.6 %  0.902   94.7 %  0.867
with a second wording                 91.7 %  0.903   91.8 %  0.905   94.7 %  0.874
====================================  ======  ======  ======  ======  ======  ======

Measured on the first and last set and not kept, or kept for it: four questions a sentence (clinic
93.9 %, 0.868), one (93.9 %, 0.870), "do you have" for "is there" (first set 91.3 %, 0.902), the
business by its noun and not as "you" (clinic 93.9 %, 0.864), the passage's own words where no rule
fits (the same). Patterns that changed no figure were left out, and so were other words that
lowered one; those for prices, payment and the feel of a place raised it most.
"""

from __future__ import annotations

from collections.abc import Iterator

from rag.expand.other_words import in_other_words
from rag.expand.people import swapped
from rag.expand.rules import questions
from rag.expand.statements import statements
from rag.expand.usable import as_asked, usable
from rag.sentences import split_sentences
from rag.types import Passage

LIMIT = 2
"""The most questions made from one sentence, beside the second wording of one of them."""


def made_questions(passage: Passage, limit: int = LIMIT) -> tuple[str, ...]:
    """The questions made from a passage in English, at most ``limit`` a sentence; else none.

    Lower case, worded as a caller would; the first of a sentence that callers word in another way
    too is followed by that.
    """
    if passage.language != "en":
        return ()
    found: dict[str, None] = {}
    for sentence in split_sentences(passage.text):
        made = list(dict.fromkeys(_of_sentence(sentence, passage)))[:limit]
        found.update(dict.fromkeys(made))
        other = next(filter(None, map(in_other_words, made)), "")
        if usable(other, passage):
            found[other] = None
    return tuple(found)


def _of_sentence(sentence: str, passage: Passage) -> Iterator[str]:
    for statement, case in statements(sentence):
        for question in questions(statement, passage.heading.lower().strip()):
            asked = as_asked(f"{question} {swapped(case)}")
            if usable(asked, passage):
                yield asked
