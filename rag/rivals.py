"""How a sentence stands against the next best one that says something else.

A sentence that answers is ahead of all others; where two that differ are as close, the question
was for one of them, and a score alone does not tell which. Sentences with the same values are no
rivals: a price that stands in two places is still the price.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.facts import Fact

MOST_AHEAD, MOST = 4.0, 8.0
"""Log-odds beyond which being further ahead, or surer, tells nothing more."""


def values(facts: Sequence[Fact]) -> frozenset[tuple[str, str]]:
    """What a sentence states, as kinds and values; empty for one without any."""
    return frozenset((f.kind, f.value.value) for f in facts if f.kind != "statement")


def differ(one: Sequence[Fact], other: Sequence[Fact]) -> bool:
    """Whether two sentences say something else: other values, or in other words without any."""
    return values(one) != values(other) or not values(one)


def seen(own: float, rival: float) -> tuple[float, float, float]:
    """What the standing is made of, from the log-odds of a sentence and of its rival."""
    own, rival = (min(max(one, -MOST), MOST) for one in (own, rival))
    return own, min(own - rival, MOST_AHEAD), 1.0


def standing(weights: NDArray[np.float64], own: float, rival: float) -> float:
    """The score, from 0 to 1, of a sentence with log-odds ``own`` whose rival has ``rival``."""
    return float(1 / (1 + np.exp(-np.dot(weights, seen(own, rival)))))


def log_odds(score: float, surest: float = 1e-9) -> float:
    """The log-odds of a score from 0 to 1, which is taken as ``surest`` from either at least."""
    kept = min(max(score, surest), 1 - surest)
    return float(np.log(kept / (1 - kept)))
