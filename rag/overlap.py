"""Which questions keep the two groups from being told apart, and what other floors would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.binomial import most_allowed
from rag.calibration import Rate
from rag.floor import BEARABLE, CONFIDENCE, Groups, Measured, lowest_floor, share_below


@dataclass(frozen=True, slots=True)
class Overlap:
    """A question on the wrong side of the line, or one that keeps the line from moving."""

    text: str
    score: float
    kind: str
    say: str


def costs(
    measured: Sequence[Measured],
    confidence: float = CONFIDENCE,
    alphas: Sequence[float] = (0.05, 0.10, 0.15, 0.20, 0.30),
) -> list[tuple[float, float, Rate]]:
    """What each alpha that the questions can show would cost: alpha, its floor, over-refusal."""
    groups = Groups.of(measured)
    scores = list(groups.unanswerable.values())
    found = []
    for alpha in alphas:
        if most_allowed(len(scores), alpha, confidence) < 0:
            continue
        floor = lowest_floor(scores, alpha, confidence)
        refused = sum(share_below(s, floor) for s in groups.answerable.values())
        found.append((alpha, floor, Rate.of(refused, len(groups.answerable))))
    return found


def overlapping(measured: Sequence[Measured], floor: float) -> tuple[list[Overlap], list[Overlap]]:
    """The questions that keep the groups from being told apart, worst first.

    Unanswerable ones that score at least as high as the floor that a business could bear (of the
    answerable, at most ``BEARABLE`` below it), or as ``floor`` where that is lower; and answerable
    ones that score below ``floor``. Those that fail a check are in neither list: no floor would
    change that.
    """
    groups = Groups.of(measured)
    means = np.sort(groups.means())
    bearable = float(means[int(BEARABLE * len(means))]) if len(means) else 0.0
    line = min(floor, bearable)
    worst: dict[str, Measured] = {}
    for one in measured:
        if one.score < 0 or (one.is_answerable and not one.asked.is_heard):
            continue
        sign = -1 if one.is_answerable else 1
        before = worst.get(one.asked.question.id)
        if before is None or sign * one.score > sign * before.score:
            worst[one.asked.question.id] = one
    low = [m for m in worst.values() if m.is_answerable and m.score < floor]
    high = [m for m in worst.values() if not m.is_answerable and m.score >= line]
    return (
        [_overlap(m) for m in sorted(high, key=lambda m: -m.score)],
        [_overlap(m) for m in sorted(low, key=lambda m: m.score)],
    )


def _overlap(one: Measured) -> Overlap:
    question = one.asked.question
    return Overlap(one.asked.query.text, one.score, question.kind, one.say)
