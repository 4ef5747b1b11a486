"""Rankings joined by reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

# The constant of the paper. It was not tuned there either: results barely depend on it.
_K = 60


def rrf(rankings: Iterable[Sequence[int]], k: int = _K) -> list[int]:
    """Rows of all ``rankings`` (each best first), by the sum of ``1 / (k + rank)``, best first.

    Ranks count from 1. Equal sums are ordered by the best rank, then by row, so that the result
    does not depend on the order of the rankings. A row that a ranking names twice counts once.
    """
    ranks: dict[int, list[int]] = {}
    for ranking in rankings:
        for rank, row in enumerate(dict.fromkeys(int(r) for r in ranking), start=1):
            ranks.setdefault(row, []).append(rank)
    # fsum: the order of addition would show in the last digit, and unmake ties.
    score = {row: fsum(1 / (k + rank) for rank in found) for row, found in ranks.items()}
    return sorted(score, key=lambda row: (-score[row], min(ranks[row]), row))
