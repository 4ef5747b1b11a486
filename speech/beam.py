"""Beam search over a recogniser's tokens. No model in here: ``step`` is handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from speech.bias import Node, Vocabulary

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
    """Tokens so far, their log probabilities and the sum of these, and the bonus of listed words.

    ``listed`` is where it stands in a listed word.
    """

    tokens: tuple[int, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    log_probability: float = 0.0
    bonus: float = 0.0
    listed: Node | None = None


class _Longer(NamedTuple):
    """A beam with one more token, not made yet. In the order of the search: best first, ties by
    parent and token, so that two machines agree.
    """

    cost: float
    parent: int
    token: int
    log_probability: float
    bonus: float
    listed: Node | None

    def made(self, beams: Sequence[Hypothesis]) -> Hypothesis:
        parent = beams[self.parent]
        return Hypothesis(
            (*parent.tokens, self.token),
            (*parent.log_probabilities, self.log_probability),
            parent.log_probability + self.log_probability,
            self.bonus,
            self.listed,
        )


def search(
    step: Step, vocabulary: Vocabulary, *, start: int, end: int, limit: int, width: int = WIDTH
) -> Hypothesis:
    """The best hypothesis of at most ``limit`` tokens, ``start`` and ``end`` left out.

    One that ended counts before any that did not; ``start`` is never chosen.
    """
    return search_all(step, vocabulary, start=start, end=end, limit=limit, width=width)[0]


def search_all(
    step: Step, vocabulary: Vocabulary, *, start: int, end: int, limit: int, width: int = WIDTH
) -> list[Hypothesis]:
    """Every hypothesis that ended before the search did, the best first; see :func:`search`.

    The best one that did not end, if none did: the list is never empty.
    """
    beams = [Hypothesis()]
    tokens, parents = [start], [0]
    ended: list[tuple[float, Hypothesis]] = []
    for _ in range(limit):
        found = _extend(beams, step(tokens, parents), vocabulary, start, width)
        for one in found:
            if one.token == end:
                hypothesis = replace(beams[one.parent], bonus=one.bonus, listed=None)
                ended.append((one.cost, hypothesis))
        going = [longer for longer in found if longer.token != end][:width]
        if not going or (ended and min(cost for cost, _ in ended) <= going[0].cost):
            break
        beams = [longer.made(beams) for longer in going]
        tokens, parents = [one.token for one in going], [one.parent for one in going]
    return [hypothesis for _, hypothesis in sorted(ended, key=itemgetter(0))] or beams[:1]


def _extend(
    beams: Sequence[Hypothesis],
    logits: NDArray[np.float32],
    vocabulary: Vocabulary,
    start: int,
    width: int,
) -> list[_Longer]:
    """Every hypothesis one token longer that could matter, best first."""
    log_p = logits - logits.max(axis=1, keepdims=True)
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    log_p[:, start] = -np.inf
    found: list[_Longer] = []
    for parent, (beam, row) in enumerate(zip(beams, log_p, strict=True)):
        # The few worth a look are sought first: ordering all 32,768 takes 0.35 ms and more.
        worth = np.flatnonzero(row > _HOPELESS)
        if worth.size > width + 2:
            worth = worth[np.argsort(-row[worth], kind="stable")[: width + 2]]
        likely = set(worth.tolist())
        likely.update(vocabulary.starts[row[vocabulary.starts] > _FIRST_HOPELESS].tolist())
        if beam.listed is not None:
            likely.update(t for t in beam.listed.next if row[t] > _HOPELESS)
        chosen = sorted(likely)
        for token, log_probability in zip(chosen, row[chosen].tolist(), strict=True):
            listed, change = vocabulary.follow(beam.listed, token)
            bonus = beam.bonus + change
            cost = -(beam.log_probability + log_probability + bonus)
            found.append(_Longer(cost, parent, token, log_probability, bonus, listed))
    return sorted(found)
