"""The two parts of the answerability score that are learned, with torch: lens and weights.

Torch is no dependency of the product: ``pip install torch==2.13.0`` where this is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import normalize, softplus

from rag.answerability import FEATURES, Lens, View, packed, unpacked

_RANK, _EPOCHS, _RATE, _DECAY = 48, 3, 2e-3, 1e-3
_STEPS, _BATCH = 600, 1500
_ABSENT = -1e4
# Which comes first counts twice: a wrong order cannot be mended by a floor.
_ORDER = 2.0
# A wrong number spoken is the worst error; the clinic's few hundred questions stand for speech.
_NUMBER, _CLINIC = 3.0, 4.0

_FOR = frozenset(
    "sentence_cosine passage_cosine question_cosine made_cosine support_sentence support_passage "
    "same_words kind_fits same_day".split()
)
_AGAINST = frozenset(
    "not_asked kind_missing wrong_day opposite special_case is_question yes_no_for_wh".split()
)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """One business as the lens is trained on it.

    ``pieces`` (pieces, dim) with their ``passages`` and ``rarity``; ``asked`` (asked, dim) with
    their ``questions`` and ``shares``; ``right`` (questions, passages); ``weight`` (questions,).
    """

    pieces: torch.Tensor
    passages: torch.Tensor
    rarity: torch.Tensor
    asked: torch.Tensor
    questions: torch.Tensor
    shares: torch.Tensor
    right: torch.Tensor
    weight: torch.Tensor


class _Lens(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.down = torch.nn.Parameter(torch.randn(dim, _RANK) * 0.05)
        self.up = torch.nn.Parameter(torch.zeros(_RANK, dim))
        self.asked = torch.nn.Parameter(torch.zeros(dim))
        self.said = torch.nn.Parameter(torch.zeros(dim))
        self.scale = torch.nn.Parameter(torch.tensor([6.0, 4.0, -5.0]))

    def forward(self, one: Tokens) -> torch.Tensor:
        """The score of every passage for every question: (questions, passages)."""
        questions, passages = one.right.shape
        asked = normalize(one.asked + one.asked @ self.down @ self.up, dim=1)
        said = normalize(one.pieces + one.pieces @ self.down @ self.up, dim=1)
        near = asked @ said.T
        shares = _shares(one.shares, one.asked @ self.asked, one.questions, questions)
        rarity = _shares(one.rarity, one.pieces @ self.said, one.passages, passages)
        forth = _highest(near, one.passages, passages, 1) * shares[:, None]
        back = _highest(near, one.questions, questions, 0) * rarity
        found = torch.zeros(questions, passages).index_add_(0, one.questions, forth)
        missing = torch.zeros(questions, passages).index_add_(1, one.passages, back)
        return self.scale[0] * found + self.scale[1] * missing + self.scale[2]


def train_lens(data: Sequence[Tokens], dim: int) -> Lens:
    """A lens under which the right passage of a business is told from its others.

    It starts as no lens at all, and is held close to that: what it learns of one line of business
    must do no harm to another.
    """
    torch.manual_seed(0)
    lens, rng = _Lens(dim), np.random.default_rng(0)
    slow = [lens.down, lens.up, lens.asked, lens.said]
    optimiser = torch.optim.Adam([{"params": slow}, {"params": [lens.scale]}])
    steps, step = _EPOCHS * len(data), 0
    for _ in range(_EPOCHS):
        for n in rng.permutation(len(data)):
            for group, rate in zip(optimiser.param_groups, (_RATE, 0.05), strict=True):
                group["lr"] = rate * (1 - step / steps)
            scores = lens(data[n])
            best = scores.masked_fill(~data[n].right, _ABSENT).amax(dim=1)
            others = scores.masked_fill(data[n].right, _ABSENT)
            losses = _ranking(best, others) + softplus(-best) + softplus(others.amax(dim=1))
            loss = (losses * data[n].weight).mean()
            loss = loss + _DECAY * ((lens.down @ lens.up) ** 2).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            step += 1
    parts = {name: getattr(lens, name).detach().numpy() for name in Lens.__slots__}
    # As it will be read from the file.
    return Lens(**{name: unpacked(packed(values)) for name, values in parts.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One question as the weights are trained on it.

    ``right`` (sentences,) are the sentences that answer it, ``is_right`` (hits,) the passages.
    The first ten passages are those found, the first ten without the right ones those found when
    these are left out.
    """

    view: View
    right: np.ndarray
    is_right: np.ndarray
    states_number: bool
    is_clinic: bool


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What came of each question: all (questions,). Scores before the logistic function."""

    right_first: np.ndarray
    score: np.ndarray
    without: np.ndarray


class Fitted(torch.nn.Module):
    """The weights: of passages without a question of their own, then of those with one."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(2, len(FEATURES)))
        self.bias = torch.nn.Parameter(torch.tensor([-3.0, -3.0]))
        self.behind = torch.nn.Parameter(torch.zeros(2))

    def forward(self, batch: dict[str, torch.Tensor], among: torch.Tensor) -> torch.Tensor:
        """The sum before the logistic function of the sentences in ``among``; far below others."""
        plain = batch["plain"].masked_fill(~among, _ABSENT)
        behind = (plain - plain.amax(dim=1, keepdim=True)).clamp(min=-10)
        by_set = batch["values"] @ self.weights.T + self.bias + behind[:, :, None] * self.behind
        found = by_set.gather(2, batch["has_question"][:, :, None].long())[:, :, 0]
        return found.masked_fill(~among, _ABSENT)

    def hold(self) -> None:
        """Keep to the signs that the features have by their meaning."""
        with torch.no_grad():
            for n, name in enumerate(FEATURES):
                low = 0.0 if name in _FOR else None
                high = 0.0 if name in _AGAINST else None
                if low is not None or high is not None:
                    self.weights[:, n].clamp_(min=low, max=high)
            self.behind.clamp_(min=0.0)


def train_weights(batch: dict[str, torch.Tensor], rows: np.ndarray) -> Fitted:
    """Weights that put a right sentence first, above 0, and any other below 0 without it."""
    torch.manual_seed(0)
    model, rng = Fitted(), np.random.default_rng(0)
    optimiser = torch.optim.Adam(model.parameters())
    for step in range(_STEPS):
        for group in optimiser.param_groups:
            group["lr"] = 0.1 * (1 - step / _STEPS)
        chosen = torch.tensor(rng.choice(rows, min(_BATCH, len(rows)), replace=False))
        loss = _loss(model, {name: part[chosen] for name, part in batch.items()})
        loss = loss + 1e-4 * (model.weights**2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        model.hold()
    return model


@torch.no_grad()
def apply(model: Fitted, batch: dict[str, torch.Tensor]) -> Scored:
    """What the weights make of every question."""
    top, at = model(batch, batch["found"]).max(dim=1)
    return Scored(
        batch["right"].gather(1, at[:, None])[:, 0].numpy(),
        top.numpy(),
        model(batch, batch["left"]).amax(dim=1).numpy(),
    )


def padded(seen: Sequence[Seen], wanted: int = 10) -> dict[str, torch.Tensor]:
    """Questions side by side, the shorter ones filled up."""
    shape = (len(seen), max(len(one.right) for one in seen))
    values = np.zeros((*shape, len(FEATURES)), np.float32)
    plain = np.zeros(shape, np.float32)
    masks = {name: np.zeros(shape, bool) for name in ("right", "found", "left", "has_question")}
    for n, one in enumerate(seen):
        size, own = len(one.right), one.view.hits
        values[n, :size], plain[n, :size] = one.view.values, one.view.plain
        masks["right"][n, :size] = one.right
        masks["has_question"][n, :size] = one.view.has_question
        masks["found"][n, :size] = own < wanted
        place = np.cumsum(~one.is_right) - 1
        masks["left"][n, :size] = ~one.is_right[own] & (place[own] < wanted)
    weight = [_CLINIC if s.is_clinic else _NUMBER if s.states_number else 1.0 for s in seen]
    return {
        "values": torch.tensor(values),
        "plain": torch.tensor(plain),
        "weight": torch.tensor(weight, dtype=torch.float32),
        **{name: torch.tensor(mask) for name, mask in masks.items()},
    }


def _loss(model: Fitted, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    scores = model(batch, batch["found"])
    right = batch["right"] & batch["found"]
    best = scores.masked_fill(~right, _ABSENT).amax(dim=1)
    others = scores.masked_fill(batch["right"], _ABSENT)
    kept = (_ORDER * _ranking(best, others) + softplus(-best)) * right.any(dim=1)
    gone = model(batch, batch["left"]).amax(dim=1)
    return ((kept + softplus(gone)) * batch["weight"]).mean()


def _ranking(best: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(torch.cat([best[:, None], others], dim=1), dim=1) - best


def _shares(
    base: torch.Tensor, logits: torch.Tensor, groups: torch.Tensor, count: int
) -> torch.Tensor:
    weights = base * torch.exp(logits.clamp(-4, 4))
    totals = torch.zeros(count).index_add_(0, groups, weights)
    return weights / (totals[groups] + 1e-9)


def _highest(near: torch.Tensor, groups: torch.Tensor, count: int, dim: int) -> torch.Tensor:
    """The highest of each group of rows (``dim`` 0) or columns (1)."""
    shape = [count if n == dim else size for n, size in enumerate(near.shape)]
    at = groups[:, None] if dim == 0 else groups[None, :]
    start = torch.full(shape, -1.0)
    return start.scatter_reduce(dim, at.expand_as(near), near, "amax", include_self=False)
