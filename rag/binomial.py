"""The exact binomial bound on a rate, and how many questions it takes.

Clopper and Pearson, Biometrika 26 (1934): with ``k`` of ``n`` independent questions answered, the
rate lies below :func:`upper` with the stated confidence, whatever the scores' distribution. Put
the other way round it is the tolerance limit of Wilks (Annals of Mathematical Statistics 12, 1941)
and split-conformal calibration with its confidence (Vovk, Machine Learning 92, 2013).
"""

from __future__ import annotations

import math


def at_most(k: int, n: int, p: float) -> float:
    """The probability that at most ``k`` of ``n`` happen, each with probability ``p``."""
    if k >= n or p <= 0:
        return 1.0 if k >= 0 else 0.0
    if k < 0 or p >= 1:
        return 0.0
    log_p, log_q, log_n = math.log(p), math.log1p(-p), math.lgamma(n + 1)
    return min(
        1.0,
        math.fsum(
            math.exp(
                log_n - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q
            )
            for i in range(k + 1)
        ),
    )


def upper(k: int, n: int, confidence: float) -> float:
    """The one-sided upper bound on a rate of which ``k`` of ``n`` were seen; 1 where n is 0."""
    if k >= n:
        return 1.0
    low, high = k / n, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_most(k, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def most_allowed(n: int, alpha: float, confidence: float) -> int:
    """The largest ``k`` whose :func:`upper` bound is at most ``alpha``; -1 where none is."""
    k = -1
    while k + 1 < n and at_most(k + 1, n, alpha) <= 1 - confidence:
        k += 1
    return k


def needed(alpha: float, confidence: float) -> int:
    """The fewest questions, none of them answered, that show a rate of at most ``alpha``."""
    n = max(math.ceil(math.log(1 - confidence) / math.log1p(-alpha)) - 1, 1)
    while most_allowed(n, alpha, confidence) < 0:  # rounding may put the quotient one off
        n += 1
    return n


def least_alpha(n: int, confidence: float) -> float:
    """The lowest rate that ``n`` questions, none of them answered, can show."""
    return 1.0 - (1 - confidence) ** (1 / n) if n else 1.0
