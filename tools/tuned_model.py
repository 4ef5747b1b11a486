"""The embedder and the answerability score as one model, to be trained together.

The score is that of ``tools/answerability_model.py``. What of its features depends on the embedder
is computed here, from passages read whole: a sentence has the mean of its pieces there and a
passage the vector of all of it, where ``rag`` also reads each sentence by itself. The rest of the
features, and which sentences are compared, are those of the embedder as it was. The score is
fitted on what ``rag`` sees afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from answerability_data import Business, number
from answerability_model import Model, padded
from fit_answerability import Embedded, kind_of, see, words_of
from minilm_model import Encoder, pooled
from torch import nn
from torch.nn.functional import normalize

from rag.answerability import FEATURES, PLAIN_LESS
from rag.embedders.minilm import MiniLM
from rag.reader import MOST_ASKED, MOST_SAID, RARITIES, SHARES

CASES = 24
"""Questions of one business looked at together."""
# Other sentences compared with in training: the closest, and some at random.
_OTHERS, _CLOSEST = 8, 6
_OWN = (
    "sentence_cosine",
    "passage_cosine",
    "support_sentence",
    "support_passage",
    "not_asked",
)
_COLUMNS = [FEATURES.index(name) for name in _OWN]
_LESS = torch.from_numpy(PLAIN_LESS.astype(np.float32))


@dataclass(slots=True, eq=False)
class Asked:
    """A question: its token ids, and what does not depend on the embedder.

    ``names`` and ``shares`` are of its pieces. Of the ``sentences`` found by the embedder as it
    was: their ``values``, which are ``right``, and which are ``elsewhere`` (see ``Seen``).
    """

    ids: list[int]
    names: np.ndarray
    shares: np.ndarray
    sentences: np.ndarray
    values: torch.Tensor
    right: np.ndarray
    elsewhere: np.ndarray
    weight: float
    kind: str


@dataclass(slots=True, eq=False)
class Sentence:
    """Where the pieces of a sentence stand in its passage, with their names and rarity."""

    passage: int
    places: torch.Tensor
    names: np.ndarray
    rarity: np.ndarray


@dataclass(slots=True, eq=False)
class Told:
    """A business: the token ids of its passages, its sentences, and what is asked of it."""

    id: str
    passages: list[list[int]]
    sentences: list[Sentence]
    asked: list[Asked]


@dataclass(slots=True, eq=False)
class Begun:
    """What the fixed layers make of a business's texts; and the last states and the vectors of
    the texts as they were. First those of the passages, then those of the questions."""

    begun: list[torch.Tensor]
    last: list[torch.Tensor]
    vectors: torch.Tensor


@torch.no_grad()
def begin(encoder: Encoder, one: Told) -> Begun:
    """Run the network once as it is."""
    begun = [part.clone() for part in encoder.begun([*one.passages, *(a.ids for a in one.asked)])]
    last = [part.half() for part in encoder(begun)]
    return Begun(begun, last, torch.stack([pooled(part.float()) for part in last]))


def told(one: Business, embedded: Embedded, embedder: MiniLM) -> Told:
    """What is trained on of a business."""
    index, said = one.index, words_of(one.index)
    rarity = dict(zip(said.ids.tolist(), said.weight.tolist(), strict=True))
    texts = [embedder.tokens(passage.text) for passage in index.kb.passages]
    sentences = []
    for sentence, row in zip(index.sentences, np.asarray(index.sentence_rows), strict=True):
        text, (start, end) = texts[sentence.passage], row[:2].tolist()
        own = [n for n, (a, b) in enumerate(text.spans) if a >= start and b <= end][:MOST_SAID]
        names = np.array([number(text.pieces[n]) for n in own], np.int64)
        rare = np.array([rarity.get(name, 0.0) for name in names.tolist()], np.float32)
        sentences.append(Sentence(sentence.passage, torch.tensor(own) + 1, names, rare))
    asked = []
    for case in one.cases:
        seen = see(case, index, said, embedded)
        if seen is None:
            continue
        usable = np.array([len(sentences[n].names) > 0 for n in seen.view.numbers.tolist()], bool)
        if seen.right.any() and not seen.right[usable].any():
            continue
        tokens = embedder.tokens(case.query.text)
        asked.append(
            Asked(
                tokens.ids,
                seen.asked.ids,
                seen.asked.weight.astype(np.float32),
                seen.view.numbers[usable],
                torch.from_numpy(seen.view.values[usable].astype(np.float32)),
                seen.right[usable],
                seen.elsewhere[usable],
                seen.weight,
                kind_of(one, case),
            )
        )
    return Told(one.id, [text.ids for text in texts], sentences, [a for a in asked if len(a.right)])


class _Read:
    """The sentences that some questions are compared with, as the encoder has them now."""

    def __init__(
        self, one: Told, numbers: Sequence[int], states: Mapping[int, torch.Tensor]
    ) -> None:
        sentences = [one.sentences[n] for n in numbers]
        used = sorted({sentence.passage for sentence in sentences})
        place = {passage: n for n, passage in enumerate(used)}
        whole = [states[passage] for passage in used]
        own = [whole[place[s.passage]][s.places] for s in sentences]
        self.tokens = [normalize(part, dim=1) for part in own]
        self.names = [s.names for s in sentences]
        self.rarity = [s.rarity for s in sentences]
        self.passage = torch.tensor([place[s.passage] for s in sentences])
        self.vectors = torch.stack([pooled(part) for part in own])
        self.wholes = torch.stack([pooled(state) for state in whole])
        self.flat = torch.cat(self.tokens)
        sizes = torch.tensor([len(part) for part in own])
        self.segment = torch.repeat_interleave(torch.arange(len(own)), sizes)
        self._rare = torch.from_numpy(np.concatenate(self.rarity))
        self._all_rare = self._summed(self._rare).clamp(min=1e-6)

    def support(self, pieces: torch.Tensor, shares: torch.Tensor) -> list[torch.Tensor]:
        """What ``rag.answerability`` calls support, of sentence and passage, and not asked."""
        near = pieces @ self.flat.T
        by_sentence = _highest(near, self.segment, len(self.tokens))
        by_passage = _highest(by_sentence, self.passage, len(self.wholes))
        missing = self._summed(self._rare * (1 - near.max(dim=0).values)) / self._all_rare
        return [shares @ by_sentence, (shares @ by_passage)[self.passage], missing]

    def _summed(self, values: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(self.tokens)).index_add(0, self.segment, values)


class Tuned(nn.Module):
    """The encoder below, the reader and the weights above."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder, self.model = encoder, Model(384)

    def forward(
        self,
        one: Told,
        cases: Sequence[Asked],
        begun: Begun,
        *,
        rng: np.random.Generator | None = None,
        as_it_was: bool = False,
    ) -> tuple[list[tuple[np.ndarray, torch.Tensor, torch.Tensor]], torch.Tensor]:
        """Of each question: the sentences picked, and their sums as ``Model`` gives them; and how
        far the texts have moved on the mean.

        All sentences are picked without an ``rng``.
        """
        place = {id(case): len(one.passages) + n for n, case in enumerate(one.asked)}
        numbers = sorted({n for case in cases for n in case.sentences.tolist()})
        passages = sorted({one.sentences[n].passage for n in numbers})
        texts = [*passages, *(place[id(case)] for case in cases)]
        if as_it_was:
            states = [begun.last[n].float() for n in texts]
        else:
            states = self.encoder([begun.begun[n] for n in texts])
        read = _Read(one, numbers, dict(zip(passages, states, strict=False)))
        asked = states[len(passages) :]
        vectors = torch.stack([pooled(state) for state in asked])
        moved = 1 - (torch.cat([read.wholes, vectors]) * begun.vectors[texts]).sum(dim=1)
        pieces = [
            normalize(state[1:-1], dim=1)[: len(case.names)]
            for state, case in zip(asked, cases, strict=True)
        ]
        at = {n: row for row, n in enumerate(numbers)}
        found, picked = [], []
        for case, vector, own in zip(cases, vectors, pieces, strict=True):
            rows = torch.tensor([at[n] for n in case.sentences.tolist()])
            pick, sums = self._without_reading(case, read, rows, (vector, own), rng)
            found.append((pick, sums))
            picked.append(rows[pick].tolist())
        readings = self._readings(cases, pieces, read, picked)
        return [
            (pick, reading + sums[0], reading + sums[1])
            for (pick, sums), reading in zip(found, readings, strict=True)
        ], moved.mean()

    def _without_reading(
        self,
        case: Asked,
        read: _Read,
        rows: torch.Tensor,
        question: tuple[torch.Tensor, torch.Tensor],
        rng: np.random.Generator | None,
    ) -> tuple[np.ndarray, tuple[torch.Tensor, torch.Tensor]]:
        vector, pieces = question
        support = read.support(pieces, torch.from_numpy(case.shares[: len(pieces)]))
        own = [read.vectors @ vector, (read.wholes @ vector)[read.passage], *support]
        values = case.values.clone()
        for column, part in zip(_COLUMNS, own, strict=True):
            values[:, column] = part[rows]
        closeness, _, in_sentence, in_passage, _ = (part[rows] for part in own)
        plain = closeness + 1.5 * in_sentence + 0.5 * in_passage - case.values @ _LESS
        pick = np.arange(len(rows)) if rng is None else _pick(case, plain.detach().numpy(), rng)
        sums = self.model.bias[0] + (values[pick] * self.model.weights[0]).sum(dim=1)
        gone = plain[torch.from_numpy(case.elsewhere)]
        best = plain.max(), gone.max() if len(gone) else plain.min()
        steep = self.model.behind[0]
        there, without = (sums + steep * (plain[pick] - most) for most in best)
        return pick, (there, without)

    def _readings(
        self,
        cases: Sequence[Asked],
        pieces: Sequence[torch.Tensor],
        read: _Read,
        picked: Sequence[Sequence[int]],
    ) -> Sequence[torch.Tensor]:
        asked = [
            (own[:MOST_ASKED], case.names[:MOST_ASKED], case.shares[:MOST_ASKED] * SHARES)
            for own, case in zip(pieces, cases, strict=True)
        ]
        said = [
            (read.tokens[row], read.names[row], read.rarity[row] * RARITIES)
            for rows in picked
            for row in rows
        ]
        counts = [len(rows) for rows in picked]
        of = torch.from_numpy(np.repeat(np.arange(len(cases)), counts))
        readings = self.model.readings(padded(asked, -1), padded(said, -2), of)
        return (self.model.read[0] * readings).split(counts)


def _highest(values: torch.Tensor, groups: torch.Tensor, count: int) -> torch.Tensor:
    """The highest value of each group of columns: (rows, groups)."""
    start = torch.full((len(values), count), -1.0)
    return start.scatter_reduce(1, groups.expand(len(values), -1), values, "amax")


def _pick(case: Asked, plain: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    right, others = np.flatnonzero(case.right), np.flatnonzero(~case.right)
    others = others[np.argsort(-plain[others], kind="stable")]
    if len(others) > _OTHERS:
        rest = rng.choice(others[_CLOSEST:], _OTHERS - _CLOSEST, replace=False)
        others = np.concatenate([others[:_CLOSEST], rest])
    return np.concatenate([right[:3], others])
