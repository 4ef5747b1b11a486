"""Beam search over a recogniser's tokens. No model in here: ``step`` is handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from speech.bias import NOWHERE, Leaning, Vocabulary

WIDTH = 4
_HOPELESS = -9.0
"""A token this far below certainty (log) is not tried, whatever it would earn."""
_FIRST_HOPELESS = -6.0
"""The same for starting a listed word that is not among the likeliest tokens."""

Step = Callable[[Sequence[int], Sequence[int]], NDArray[np.float32]]
"""Next logits (beams, vocabulary): given each beam's last token, and which beam of the step
before each one goes on from."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Tokens so far, their log probabilities, and the bonus of listed words."""

    tokens: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    bonus: float = 0.0
    leaning: Leaning = NOWHERE

    @property
    def score(self) -> float:
        """What hypotheses are ordered by."""
        return sum(self.log_probabilities) + self.bonus


def search(
    step: Step, vocabulary: Vocabulary, *, start: int, end: int, limit: int, width: int = WIDTH
) -> Hypothesis:
    """The best hypothesis of at most ``limit`` tokens, ``start`` and ``end`` left out."""
    beams = [Hypothesis()]
    best: Hypothesis | None = None
    logits = step([start], [0])
    for _ in range(limit):
        found = _extend(beams, logits, vocabulary, end, width)
        for ended in (one for _, one in found if one.tokens[-1] == end):
            if best is None or ended.score > best.score:
                best = ended
        going = [(parent, one) for parent, one in found if one.tokens[-1] != end][:width]
        if not going or (best is not None and best.score >= going[0][1].score):
            break
        beams = [one for _, one in going]
        logits = step([one.tokens[-1] for one in beams], [parent for parent, _ in going])
    if best is None:
        return beams[0]
    return Hypothesis(best.tokens[:-1], best.log_probabilities[:-1], best.bonus)


def _extend(
    beams: Sequence[Hypothesis],
    logits: NDArray[np.float32],
    vocabulary: Vocabulary,
    end: int,
    width: int,
) -> list[tuple[int, Hypothesis]]:
    """Every hypothesis one token longer that could matter, best first, with its parent."""
    peak = logits.max(axis=1, keepdims=True)
    log_p = logits - peak - np.log(np.exp(logits - peak).sum(axis=1, keepdims=True))
    found: list[tuple[int, Hypothesis]] = []
    starts = np.fromiter(vocabulary.starts, int, len(vocabulary))
    for parent, (beam, row) in enumerate(zip(beams, log_p, strict=True)):
        likely = set(np.argpartition(-row, width + 1)[: width + 2].tolist())
        likely.update(starts[row[starts] > _FIRST_HOPELESS].tolist())
        likely.update(vocabulary.likely(beam.leaning))
        for token in likely:
            if row[token] > _HOPELESS:
                leaning, change = vocabulary.follow(beam.leaning, token)
                longer = Hypothesis(
                    (*beam.tokens, token),
                    (*beam.log_probabilities, float(row[token])),
                    beam.bonus + change,
                    leaning,
                )
                found.append((parent, longer))
    # Ties are broken by parent and token, so that two machines agree.
    return sorted(found, key=lambda one: (-one[1].score, one[0], one[1].tokens[-1]))
