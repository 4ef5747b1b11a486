"""How long a model is waited for, and when it is not asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GenerationPolicy:
    """``budget_ms`` is for everything, a retry included; then the extractive answer is spoken.

    ``fast_score`` is the answerability from which a factoid is quoted without asking the model;
    above 1 it always is asked. ``passages`` are shown at most. ``temperature`` is left to the
    server when negative: some models accept none. ``max_tokens`` is how long a reply may be, so
    that one that never ends does not keep the server busy; 0 leaves it to the server.
    """

    budget_ms: float = 2500.0
    fast_score: float = 0.7
    passages: int = 4
    temperature: float = 0.0
    max_tokens: int = 300


DEFAULT = GenerationPolicy()
