"""Log-odds as a probability."""

from __future__ import annotations

import math

_LARGEST = 30.0  # beyond it the probability is 0 or 1 to 13 places


def probability(log_odds: float) -> float:
    """The probability, in 0 to 1, whose log-odds these are; the logistic function."""
    return 1 / (1 + math.exp(-max(-_LARGEST, min(_LARGEST, log_odds))))
