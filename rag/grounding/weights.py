"""The measured numbers of the grounding check (``weights.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model: the log-odds of doubt are ``bias`` and the weighted sum of the features.

    At ``limit`` and above, a sentence is not spoken. Between ``sure_yes`` and ``sure_no`` the
    words leave it to the embedder; with less overlap than ``least_overlap`` it is not spoken either
    way. ``embedder`` is the hash of the one it was fitted with.
    """

    weights: Mapping[str, float]
    bias: float
    limit: float
    sure_yes: float = 0.0
    sure_no: float = 1.0
    least_overlap: float = 0.0
    embedder: str = ""


@cache
def weights(name: str) -> Weights:
    """Those of "words", or of "embedding"."""
    return Weights(**json.loads(FILE.read_text("utf-8"))[name])
