"""How far a sentence answers a question, read word by word.

Decomposable attention (Parikh et al., EMNLP 2016) over the word pieces as the embedder sees them
in their sentence: every piece asked is set beside what it finds in the sentence, every piece said
beside what it finds in the question; how such a pair fits, how much it weighs and what they come
to together is learned. What a cosine cannot tell apart (check-in and check-out, a deposit and a
price) differs in a few pieces, and these are looked at one by one.

``tools/fit_answerability.py`` trains it. The forward pass is here, in NumPy: some 70,000 weights,
1 ms for ten sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.embed import Vectors

MOST_ASKED, MOST_SAID = 24, 44
"""Pieces that are read of a question, and of a sentence; it was trained on as many."""

SHARES, RARITIES = 5.0, 0.2
"""What shares and rarities are multiplied with, to be near 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The pieces of some texts, one text after the other.

    ``vectors`` (pieces, dim), ``ids`` (pieces,) equal for the same piece on both sides, ``weight``
    (pieces,): of a question the shares that its pieces count with, of a sentence their rarity.
    ``sizes`` (texts,) are the pieces of each text, at least one.
    """

    vectors: Vectors
    ids: NDArray[np.int64]
    weight: Vectors
    sizes: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What is learned for the pieces asked, or for those said.

    ``shift`` (d,) and ``extra`` (3, d) tell how a piece starts; ``compare`` (4 d, h) and its
    ``bias`` (h,) how it fits what it found; ``weigh`` (h,) and ``weigh_bias`` (1,) its weight.
    """

    shift: Vectors
    extra: Vectors
    compare: Vectors
    bias: Vectors
    weigh: Vectors
    weigh_bias: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """The learned arrays. ``project`` (dim, d); ``temper`` (2,) how sharply a piece looks;
    ``mix`` (2 h, h) with ``mix_bias`` (h,), ``end`` (h,) and ``end_bias`` (1,) the rest."""

    project: Vectors
    temper: Vectors
    asked: Side
    said: Side
    mix: Vectors
    mix_bias: Vectors
    end: Vectors
    end_bias: Vectors

    @classmethod
    def of(cls, arrays: Mapping[str, Vectors]) -> Reader:
        """From arrays by name; those of a side start with ``asked_`` or ``said_``."""
        asked, said = (
            Side(**{name: arrays[f"{side}_{name}"] for name in Side.__slots__})
            for side in ("asked", "said")
        )
        return cls(
            arrays["project"], arrays["temper"], asked, said,
            arrays["mix"], arrays["mix_bias"], arrays["end"], arrays["end_bias"],
        )  # fmt: skip

    def __call__(self, asked: Words, said: Words, cosines: Vectors) -> NDArray[np.float64]:
        """One number a text of ``said`` for the one question ``asked``: higher, better.

        ``cosines`` (asked, said) are those of their pieces.
        """
        q, q_ids = asked.vectors[:MOST_ASKED], asked.ids[:MOST_ASKED]
        place, there = _places(said.sizes)
        near = cosines[:MOST_ASKED, place].transpose(1, 0, 2)  # texts, asked, said
        same = (q_ids[:, None] == said.ids)[:, place].transpose(1, 0, 2) & there[:, None]
        near_there = np.where(there[:, None], near, -1.0)
        shares = np.broadcast_to(asked.weight[:MOST_ASKED] * SHARES, near.shape[:2])
        rarity = said.weight[place] * RARITIES
        x = _started(
            q @ self.project, self.asked, (near_there.max(axis=2), same.any(axis=2), shares)
        )
        y = _started(
            (said.vectors @ self.project)[place],
            self.said,
            (near.max(axis=1), same.any(axis=1), rarity),
        )
        sharp, close = self.temper
        look = x @ y.transpose(0, 2, 1) * (sharp / np.sqrt(x.shape[2])) + close * near
        look = np.where(there[:, None], look, -1e4)
        everywhere = np.ones(near.shape[:2], bool)
        parts = [
            _summed(self.asked, x, _softmax(look) @ y, shares, everywhere),
            _summed(self.said, y, _softmax(look.transpose(0, 2, 1)) @ x, rarity, there),
        ]
        hidden = np.maximum(np.concatenate(parts, axis=1) @ self.mix + self.mix_bias, 0)
        found: NDArray[np.float64] = (hidden @ self.end + self.end_bias).astype(np.float64)
        return found


def _places(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where the pieces of each text stand, and which places there are: both (texts, longest)."""
    read = np.minimum(sizes, MOST_SAID)
    starts = np.cumsum(sizes) - sizes
    steps = np.arange(int(read.max(initial=1)))
    there = steps < read[:, None]
    return np.where(there, starts[:, None] + steps, 0), there


def _started(projected: Vectors, side: Side, extras: tuple[NDArray[np.generic], ...]) -> Vectors:
    """The pieces of one side, (texts, pieces, d), with what is plainly seen of each."""
    seen = np.stack(extras, axis=2).astype(np.float32)
    started: Vectors = projected + (side.shift + seen @ side.extra)
    return started


def _summed(
    side: Side, own: Vectors, found: Vectors, plain: Vectors, there: NDArray[np.bool_]
) -> Vectors:
    """Each piece compared with what it found, summed by weight: (texts, h)."""
    pair = np.concatenate([own, found, own * found, np.abs(own - found)], axis=2)
    fits = np.maximum(pair @ side.compare + side.bias, 0)
    logits = fits @ side.weigh + side.weigh_bias + 0.5 * np.log(np.maximum(plain, 1e-3))
    weights = _softmax(np.where(there, logits, -1e4))
    total: Vectors = (weights[:, None] @ fits)[:, 0]
    return total


def _softmax(logits: Vectors) -> Vectors:
    """Along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Vectors = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    return shares
