"""A sentence and its evidence as a row of named numbers, from 0 to about 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.grounding import changes
from rag.grounding.closeness import Reads, closeness
from rag.grounding.evidence import Evidence, Sentence
from rag.grounding.words import Word, is_known

NEAR = 3  # sentences of the evidence that are looked at
BY_WORDS = (
    "overlap",
    "number_lacking",
    "name_lacking",
    "together",
    "opposite",
    "negation_new",
    "negation_lost",
    "negation_differs",
    "absolute_new",
    "hedge_lost",
    "self",
    "length",
)
"""What the words tell."""
BY_EMBEDDING = (
    "similarity",
    "whole",
    "lacking_close",
)
"""What the embedder adds."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A sentence beside its evidence; ``reason`` is the plainest thing that is wrong, or ''."""

    said: Sentence
    near: tuple[Sentence, ...]
    values: dict[str, float]
    reason: str


def seen(said: Sentence, evidence: Evidence) -> Seen:
    """What the words alone tell."""
    near = tuple(evidence.nearest(said, NEAR))
    lacking = changes.missing(said, evidence)
    opposite = changes.opposite(said, evidence, near)
    best = near[0] if near else said
    own = said.content
    numbers = [word for word in lacking if word.is_number]
    names = [word for word in own if word.is_name]
    new_not, lost_not = changes.flipped(said, near)
    said_no, near_no = changes.negators(said.words), changes.negators(best.words)
    values = {
        "overlap": 1 - _weight(lacking) / _weight(own),
        "number_lacking": min(1.0, float(len(numbers))),
        "name_lacking": sum(word in names for word in lacking) / max(1, len(names)),
        "together": changes.together(said, evidence),
        "opposite": float(bool(opposite)),
        "negation_new": float(bool(new_not)),
        "negation_lost": float(bool(lost_not)),
        "negation_differs": float((said_no > 0) != (near_no > 0)),
        "absolute_new": min(1.0, changes.new_of(changes.ABSOLUTE, said, near) / 2),
        "hedge_lost": min(1.0, changes.new_of(changes.HEDGES, best, [said]) / 2),
        "self": float(changes.new_of(changes.SELF, said, near) > 0),
        "length": min(1.0, len(own) / 20),
    }
    return Seen(
        said, near, values, _reason(numbers, lacking, opposite, (new_not, lost_not), values)
    )


def by_embedding(one: Seen, embedder: Reads) -> dict[str, float]:
    """What the embedder tells."""
    close = closeness(one.said, one.near, embedder)
    own = one.said.content
    known = frozenset(s for sentence in one.near for s in sentence.stems)
    lacking = np.array([not is_known(word, known) for word in own], bool)
    return {
        "similarity": close.sentence,
        "whole": close.whole,
        "lacking_close": float(close.words[lacking].mean()) if lacking.any() else 1.0,
    }


def _weight(said: Sequence[Word]) -> float:
    return sum(word.rarity for word in said)


def _reason(
    numbers: Sequence[Word],
    lacking: Sequence[Word],
    opposite: str,
    flipped: tuple[str, str],
    values: dict[str, float],
) -> str:
    if numbers:
        return f"{numbers[0].text} is not in the evidence"
    if opposite:
        return opposite
    if any(flipped):
        new, lost = flipped
        return f"the evidence does not deny: {new}" if new else f"the evidence denies: {lost}"
    if lacking:
        return f"nothing in the evidence says {max(lacking, key=lambda w: w.rarity).text}"
    if values["absolute_new"]:
        return "says more than the evidence"
    return "the words stand there, not so put together"
