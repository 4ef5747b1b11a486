"""Whether what would be spoken stands against the other sentences that were found.

A fact may break no rule and still not be the one asked for: of the deposit and the price only one
holds the word that was used. Each sentence gets one number: how far the words asked are found,
beside the value and around it, rare ones counting more; what it says that was not asked; and how
its slots fit. One that another sentence beats is not spoken. The weights are those of a pairwise
logistic regression over the made-up businesses (``tools/businesses``): the right sentence against
each other one of its business with a value of the same kind. So they are log-odds, and what an
embedder makes of the sentences can be added as such.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rag.facts.contrasts import Contrasts
from rag.facts.fitting import fits
from rag.facts.kinds import value_kinds
from rag.facts.opposites import other
from rag.facts.types import Fact, Fit, Slots

FEATURES = (
    "own", "around", "said_before", "not_asked", "kind", "day", "no_day", "side", "other_side",
    "service", "other_service",
)  # fmt: skip
WEIGHTS = (1.9, 2.4, 0.4, -1.7, 2.0, 1.1, -0.7, 1.2, -0.3, 1.0, -0.4)
MARGIN = 0.3
"""A rival must be better by more than this: less decides as often wrongly as rightly."""


def stands(
    slots: Slots,
    spoken: int,
    candidates: Sequence[Sequence[Fact]],
    *,
    closeness: Sequence[float] | None = None,
    rarity: Mapping[str, float] | None = None,
    contrasts: Contrasts | None = None,
    margin: float = MARGIN,
) -> Fit:
    """Whether sentence number ``spoken`` of ``candidates`` may be spoken.

    It must fit (:func:`rag.facts.fits`), and no other that fits may beat it by more than
    ``margin``. ``closeness`` is what an embedder makes of each candidate, in log-odds; ``rarity``
    is by stem (:func:`rarity_of`; of the candidates alone if not given).
    """
    found = fits(slots, candidates[spoken], contrasts)
    if not found.ok:
        return found
    rarity = rarity_of(candidates) if rarity is None else rarity
    extra = closeness or [0.0] * len(candidates)
    own = score(slots, candidates[spoken], rarity) + extra[spoken]
    for number, facts in enumerate(candidates):
        if number == spoken:
            continue
        other_score = score(slots, facts, rarity) + extra[number]
        if other_score > own + margin and fits(slots, facts, contrasts).ok:
            why = f"another fits better by {other_score - own:.2f}"
            return Fit(False, found.fact, "rival", why)
    return found


def rarity_of(sentences: Iterable[Sequence[Fact]]) -> dict[str, float]:
    """How rare each stem is among some sentences: 1 in one of them, less in more."""
    counts: Counter[str] = Counter()
    number = 0
    for number, facts in enumerate(sentences, 1):  # noqa: B007
        counts.update(frozenset[str]().union(*(fact.around for fact in facts)))
    most = math.log(1 + number)
    return {one: math.log(1 + number / count) / most for one, count in counts.items()}


def score(slots: Slots, facts: Sequence[Fact], rarity: Mapping[str, float]) -> float:
    """How well the best of the facts of a sentence answers; log-odds up to a constant."""
    return max(
        sum(w * x for w, x in zip(WEIGHTS, features(slots, fact, rarity), strict=True))
        for fact in facts
    )


def features(slots: Slots, fact: Fact, rarity: Mapping[str, float]) -> tuple[float, ...]:
    """What is seen of one fact, in the order of ``FEATURES``."""
    asked, stated = slots.qualifiers, fact.qualifiers
    before = slots.subject - slots.asked
    return (
        _share(slots.asked & fact.subject, slots.asked, rarity),
        _share(slots.asked & fact.around, slots.asked, rarity),
        _share(before & fact.around, before, rarity),
        _share(fact.around - slots.subject, fact.around, rarity),
        fact.kind in value_kinds(slots.kind),
        bool(asked.days & stated.days),
        bool(asked.days) and not stated.days,
        bool(slots.attribute & fact.attribute),
        any(other(one) in fact.attribute - slots.attribute for one in slots.attribute),
        bool(asked.service & stated.service),
        bool(stated.service - asked.service),
    )


def _share(some: frozenset[str], every: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The share of ``every`` that ``some`` is, rare words counting more."""
    if not some:
        return 0.0
    return sum(rarity.get(one, 1.0) for one in some) / sum(rarity.get(one, 1.0) for one in every)
