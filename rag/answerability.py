"""How far a sentence answers a question: one score from 0 to 1.

A logistic model over a few features, each of which can be explained: how close the passage and
the sentence are, how far the words asked are found in them, what the sentence says that was not
asked, and whether day, kind of value and opposites fit. The same score puts the candidates in
order and is compared with the floor. ``tools/fit_answerability.py`` fits its weights on public
data, one set for each embedder (``rag/data/answerability-*.json``, which names the data: an empty
list means that they were set by hand). With an embedder without weights the score is the plain
cosine.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag import asked as rules
from rag.embed import Embedder, Embedding, Vectors
from rag.index import Index
from rag.pieces import stem, stems_of, stopwords, whole_words
from rag.types import Hit, Query

DATA = Path(__file__).with_name("data")
FEATURES = (
    "sentence_cosine",
    "passage_cosine",
    "question_cosine",
    "made_cosine",
    "support_sentence",
    "support_passage",
    "not_asked",
    "same_words",
    "kind_fits",
    "kind_missing",
    "wrong_day",
    "same_day",
    "opposite",
    "special_case",
    "is_question",
    "yes_no_for_wh",
    "long",
)
"""The features, in the order of the weights. All are between -1 and about 1."""


# Plain closeness: cosine and twice the support, a quarter of it from the passage, less what is
# wrong by the rules.
_PASSAGE_SHARE = 0.25
_LESS = {
    "kind_missing": 0.5,
    "wrong_day": 0.5,
    "opposite": 0.5,
    "special_case": 0.2,
}
_PLAIN_LESS = np.array([_LESS.get(name, 0.0) for name in FEATURES])
# What the checks refuse in any case, each for a reason of its own: all but the special case.
_LEFT_TO_CHECKS = np.where(np.array(FEATURES) == "special_case", 0.0, _PLAIN_LESS)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Every sentence of some passages, scored; parallel arrays.

    ``numbers`` are the sentences' in the index, ``hits`` which of the passages each is of,
    ``values`` their answerability from 0 to 1, ``plain`` their closeness without anything learned
    and before any check.
    """

    numbers: NDArray[np.int64]
    hits: NDArray[np.int64]
    values: NDArray[np.float64]
    plain: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """Word piece vectors as they are seen for support: learned so that opposites lie apart.

    A vector x (dim,) becomes the unit vector along ``x + x @ down @ up``, ``down`` (dim, rank)
    and ``up`` (rank, dim); its word weighs ``exp(x @ asked)`` in a question and ``exp(x @ said)``
    in a sentence, each times its rarity. Fitted by contrast, with the other passages of the same
    business as what is wrong (InfoNCE: van den Oord et al., 2018).
    """

    down: Vectors
    up: Vectors
    asked: Vectors
    said: Vectors

    def __call__(self, vectors: Vectors) -> Vectors:
        """``vectors`` (pieces, dim) seen through it, at unit length; zeros stay zeros."""
        seen = vectors + vectors @ self.down @ self.up
        lengths = np.linalg.norm(seen, axis=1, keepdims=True)
        unit: Vectors = seen / np.maximum(lengths, 1e-9)
        return unit

    def weigh(self, vectors: Vectors, along: Vectors) -> Vectors:
        """What the words of ``vectors`` weigh, ``along`` being ``asked`` or ``said``."""
        weights: Vectors = np.exp(np.clip(vectors @ along, -4, 4))
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A fitted model: ``bias + features @ weights + behind * (plain - the best plain)``.

    ``plain`` is closeness without anything learned. What was learned from other businesses says
    best whether there is an answer; which of several statements it is, plain closeness says better
    where the business is of another line. How far a sentence is behind the plainly closest counts
    for the order, and not at all for the first.

    ``bias`` (2,), ``behind`` (2,) and ``weights`` (2, features): the first are for passages
    without a question of their own beside them, the second for those with one. ``floors`` are
    the defaults, by language, for a business that has measured none.
    """

    bias: NDArray[np.float64]
    weights: NDArray[np.float64]
    behind: NDArray[np.float64]
    floors: Mapping[str, float]
    lens: Lens


@cache
def weights_for(name: str, digest: str) -> Weights | None:
    """The weights that were fitted with the embedder of this name and hash, if there are any."""
    path = DATA / f"answerability-{name}.json"
    if not path.is_file():
        return None
    table: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    if table["embedder"]["hash"] != digest:
        return None
    sets = [table["without_question"], table["with_question"]]
    arrays = {name: unpacked(part) for name, part in table["lens"].items()}
    return Weights(
        np.array([one["bias"] for one in sets]),
        np.array([[one["weights"][feature] for feature in FEATURES] for one in sets]),
        np.array([one["behind"] for one in sets]),
        table["floors"],
        Lens(**arrays),
    )


def packed(values: Vectors) -> dict[str, Any]:
    """An array as JSON: eight bits a number, one scale."""
    scale = float(np.abs(values).max()) / 127 or 1.0
    whole = np.round(values / scale).astype(np.int8)
    data = base64.b64encode(whole.tobytes()).decode()
    return {"shape": list(values.shape), "scale": scale, "int8": data}


def unpacked(part: Mapping[str, Any]) -> Vectors:
    """The array that :func:`packed` gave, float32."""
    whole = np.frombuffer(base64.b64decode(part["int8"]), np.int8).reshape(part["shape"])
    return whole.astype(np.float32) * np.float32(part["scale"])


def default_floor(embedder: Embedder, language: str) -> float | None:
    """The floor for a business that has measured none.

    None for a language on which no default was measured, or an embedder without weights.
    """
    found = _weights(embedder)
    return found.floors.get(language) if found else None


def note(embedder: Embedder) -> str:
    """What is to be said of the scores of an embedder; empty if it has weights."""
    return "" if _weights(embedder) else " (plain cosine: no weights for this embedder)"


def _weights(embedder: Embedder) -> Weights | None:
    return weights_for(embedder.name, embedder.hash)


def score(query: Query, asked: Embedding, hits: Sequence[Hit], index: Index) -> Scores:
    """The answerability of every sentence of the passages ``hits``.

    ``asked`` is the embedding of ``query.text``.
    """
    found = _weights(index.embedder)
    if found is None:
        numbers, of_hit = _sentences(hits, index)
        cosines = index.sentence_vectors[numbers.tolist()] @ asked.vector
        values = np.clip(cosines, 0.0, 1.0).astype(np.float64)
        return Scores(numbers, of_hit, values, values)
    view = look_at(query, asked, hits, index, found.lens)
    plain = view.plain + view.values @ _LEFT_TO_CHECKS
    return Scores(view.numbers, view.hits, combine(view, found), plain)


def combine(view: View, weights: Weights) -> NDArray[np.float64]:
    """The model applied: values from 0 to 1, (sentences,)."""
    at = view.has_question.astype(int)
    logits = weights.bias[at] + np.einsum("sf,sf->s", view.values, weights.weights[at])
    logits += weights.behind[at] * (view.plain - view.plain.max(initial=-np.inf))
    values: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return values


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What the model sees: ``values`` (sentences, features), and whose they are.

    ``has_question`` (sentences,) is whether the source sets a question beside the passage,
    ``plain`` (sentences,) the closeness that owes nothing to learning.
    """

    numbers: NDArray[np.int64]
    hits: NDArray[np.int64]
    has_question: NDArray[np.bool_]
    plain: NDArray[np.float64]
    values: NDArray[np.float64]


def look_at(query: Query, asked: Embedding, hits: Sequence[Hit], index: Index, lens: Lens) -> View:
    """The features of every sentence of the passages ``hits``."""
    numbers, of_hit = _sentences(hits, index)
    values = np.zeros((len(numbers), len(FEATURES)))
    plain = np.zeros(len(numbers))
    if len(numbers):
        values[:, 0] = index.sentence_vectors[numbers.tolist()] @ asked.vector
        values[:, 1:4] = _closeness(asked, hits, index)[of_hit]
        values[:, 4:7], support = _support(query, asked, of_hit, numbers, index, lens)
        values[:, 7] = _same_words(query, asked, hits, index)[of_hit]
        values[:, 8:] = [
            _rules(query.text, index.sentences[number].text, hits[hit].passage.question)
            for number, hit in zip(numbers.tolist(), of_hit.tolist(), strict=True)
        ]
        plain = values[:, 0] + 2 * support - values @ _PLAIN_LESS
    has_question = np.array([hit.passage.question is not None for hit in hits], bool)
    return View(numbers, of_hit, has_question[of_hit], plain, values)


def _sentences(hits: Sequence[Hit], index: Index) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the sentences of ``hits``, and which of these each is of."""
    ranges = [index.sentence_numbers(index.passage_number(hit.passage.id)) for hit in hits]
    numbers = np.array([n for own in ranges for n in own], np.int64)
    return numbers, np.repeat(np.arange(len(hits)), [len(own) for own in ranges])


def _closeness(asked: Embedding, hits: Sequence[Hit], index: Index) -> NDArray[np.float64]:
    """Of each passage: its cosine, and those of its own and its made questions, 0 for none."""
    rows = []
    for hit in hits:
        passage = index.passage_number(hit.passage.id)
        question = index.cosine(asked.vector, passage, "question")
        made = index.cosine(asked.vector, passage, "made")
        rows.append((hit.score, max(question, 0.0), max(made, 0.0)))
    return np.array(rows)


def _support(
    query: Query,
    asked: Embedding,
    of_hit: NDArray[np.int64],
    numbers: NDArray[np.int64],
    index: Index,
    lens: Lens,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each sentence: how far the words asked are found in it, and in all of its passage, and
    how far its own words were not asked for; beside these, its support without the lens.

    Late interaction (Khattab and Zaharia, ColBERT, SIGIR 2020), both ways, through the lens: each
    word counts with the cosine to the nearest word on the other side, weighted by its rarity.
    """
    if not len(asked.piece_vectors):
        return np.zeros((len(numbers), 3)), np.zeros(len(numbers))
    starts, ids, vectors = _pieces(index.sentence_rows[numbers], index)
    present, first = np.unique(of_hit, return_index=True)
    place = np.searchsorted(present, of_hit)

    def found(near: Vectors, shares: Vectors) -> tuple[Vectors, Vectors]:
        in_sentence = np.maximum.reduceat(near, starts, axis=1)
        in_passage = np.maximum.reduceat(in_sentence, first, axis=1)
        return shares @ in_sentence, (shares @ in_passage)[place]

    shares = index.weights(asked.pieces, query.focus)
    sentence, passage = found(asked.piece_vectors @ vectors.T, shares)
    plain = (1 - _PASSAGE_SHARE) * sentence + _PASSAGE_SHARE * passage
    near = lens(asked.piece_vectors) @ lens(vectors).T
    shares = shares * lens.weigh(asked.piece_vectors, lens.asked)
    sentence, passage = found(near, shares / shares.sum())
    rarity = rarity_of(ids, index) * lens.weigh(vectors, lens.said)
    missing = np.add.reduceat(rarity * (1 - near.max(axis=0)), starts)
    not_asked = missing / np.maximum(np.add.reduceat(rarity, starts), 1e-9)
    return np.stack([sentence, passage, not_asked], axis=1), plain


def _same_words(
    query: Query, asked: Embedding, hits: Sequence[Hit], index: Index
) -> NDArray[np.float64]:
    """The share of the words asked that a passage or its own question has, endings aside."""
    words = whole_words(asked.pieces)
    if not words:
        return np.zeros(len(hits))
    shares = index.weights(asked.pieces, query.focus)
    weight = np.add.reduceat(shares, [word.start for word in words])
    stems = [stem(word.text) for word in words]
    found = [stems_of(f"{hit.passage.text} {hit.passage.question or ''}") for hit in hits]
    return np.array([[one in has for one in stems] for has in found]) @ weight


def _pieces(
    rows: NDArray[np.int32], index: Index
) -> tuple[NDArray[np.int64], NDArray[np.int64], Vectors]:
    """The word pieces of some sentences, one after the other, each sentence after an empty one.

    The empty one, a zero vector with the id -1, makes a sentence that the tokenizer makes nothing
    of support nothing.
    """
    sizes = (rows[:, 3] - rows[:, 2]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes + 1)])
    ids = np.full(starts[-1], -1, np.int64)
    vectors = np.zeros((starts[-1], index.piece_vectors.shape[1]), np.float32)
    for at, size, first in zip(starts, sizes, rows[:, 2].tolist(), strict=False):
        ids[at + 1 : at + 1 + size] = index.piece_ids[first : first + size]
        vectors[at + 1 : at + 1 + size] = index.piece_vectors[first : first + size]
    return starts[:-1], ids, vectors


def rarity_of(ids: NDArray[np.int64], index: Index) -> NDArray[np.float64]:
    """How rare each piece is here; 0 for stop words and for the empty one."""
    counts = index.piece_counts[ids]
    rarity = np.log(1 + (len(index.kb.passages) - counts + 0.5) / (counts + 0.5))
    names, plain = index.vocabulary, stopwords()
    counted = [n >= 0 and names[n] not in plain for n in ids.tolist()]
    rare: NDArray[np.float64] = np.where(counted, rarity, 0.0)
    return rare


def _rules(question: str, sentence: str, own_question: str | None) -> tuple[float, ...]:
    """The features from ``kind_fits`` on: what plain rules say."""
    whole = f"{own_question} {sentence}" if own_question else sentence
    asked, stated, evidence = rules.traits(question), rules.traits(sentence), rules.traits(whole)
    has_kind = bool(rules.kind_asked(question))
    kind_missing = bool(rules.wrong_kind(question, sentence, own_question))
    return (
        float(has_kind and not kind_missing),
        float(kind_missing),
        float(bool(rules.wrong_day(question, whole))),
        float(bool(asked.days & evidence.days)),
        float(bool(rules.opposite(question, whole))),
        float(rules.is_special_case(question, sentence)),
        float(stated.is_question),
        float(stated.says_yes_no and not rules.is_yes_no(question)),
        min(len(sentence) / 200, 1.0),
    )
