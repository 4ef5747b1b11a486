"""How good a ranking is: the usual figures, each over ids ranked best first.

Relevance is binary. A ranking names an id once; one in which nothing relevant was found scores 0,
and one for which nothing is relevant has no figures (Manning, Raghavan and Schütze, Introduction
to Information Retrieval, 2008, chapter 8).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

NAMES = ("recall_at_1", "recall_at_3", "hit_at_10", "mrr", "ndcg")
DEPTH = 10


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant that is among the first ``k``."""
    return sum(one in relevant for one in ranked[:k]) / len(relevant)


def hit_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 if one of the first ``k`` is relevant, else 0."""
    return float(any(one in relevant for one in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str], k: int = DEPTH) -> float:
    """One over the rank of the first relevant one; 0 if it is not among the first ``k``."""
    return next((1 / rank for rank, one in enumerate(ranked[:k], 1) if one in relevant), 0.0)


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int = DEPTH) -> float:
    """Discounted cumulative gain of the first ``k`` over that of the best ranking.

    Järvelin and Kekäläinen, ACM TOIS 20 (2002), with the discount ``1 / log2(rank + 1)``.
    """
    gain = sum(1 / math.log2(rank + 1) for rank, one in enumerate(ranked[:k], 1) if one in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))


def figures(rankings: Iterable[tuple[Sequence[str], Collection[str]]]) -> dict[str, float]:
    """The mean of each of :data:`NAMES` over pairs of a ranking and what is relevant, and ``n``.

    ``mrr`` and ``ndcg`` are at 10. Pairs for which nothing is relevant are left out.
    """
    rows = [
        (
            recall_at(ranked, relevant, 1),
            recall_at(ranked, relevant, 3),
            hit_at(ranked, relevant, DEPTH),
            reciprocal_rank(ranked, relevant),
            ndcg(ranked, relevant),
        )
        for ranked, relevant in rankings
        if relevant
    ]
    n = len(rows)
    columns = zip(*rows, strict=True) if rows else [(0.0,)] * len(NAMES)
    means = {
        name: round(sum(column) / max(n, 1), 4) for name, column in zip(NAMES, columns, strict=True)
    }
    return {**means, "n": n}
