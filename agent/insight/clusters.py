"""Like questions put together: each joins the cluster it is closest to, the most frequent first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LIKE = 0.64
"""Cosine from which two questions ask the same; measured by ``python -m bench.wanted``."""


def clustered(
    vectors: NDArray[np.float32], weights: Sequence[int], like: float = LIKE
) -> list[list[int]]:
    """Numbers of the rows of ``vectors`` (questions, dim; unit length) that ask the same.

    Rows come in the order in which they are placed. One joins the cluster whose mean, weighted by
    ``weights``, is the closest to it, if that is at least ``like``; else it begins one.
    """
    members: list[list[int]] = []
    sums = np.zeros_like(vectors)
    for number, vector in enumerate(vectors):
        at = _closest(sums[: len(members)], vector, like)
        if at is None:
            at = len(members)
            members.append([])
        members[at].append(number)
        sums[at] += weights[number] * vector
    return members


def _closest(sums: NDArray[np.float32], vector: NDArray[np.float32], like: float) -> int | None:
    if not len(sums):
        return None
    close = sums @ vector / np.linalg.norm(sums, axis=1)
    best = int(np.argmax(close))
    return best if close[best] >= like else None
