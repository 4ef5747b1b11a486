"""How far a sentence answers a question: one score from 0 to 1.

A logistic model over a few features, each of which can be explained: how close the passage and
the sentence are, how far the words asked are found in them, what the sentence says that was not
asked, whether day, kind of value and opposites fit, and what a reader makes of them word by word
(:mod:`rag.reader`). The same score puts the candidates in order and is compared with the floor.
``tools/fit_answerability.py`` fits it, once for each embedder (``rag/data/answerability-*.json``,
which names the data). With an embedder without weights the score is plain closeness.
"""

from __future__ import annotations

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
from rag.entry import KINDS
from rag.index import Index
from rag.namesake import Named
from rag.packed_arrays import unpacked
from rag.pieces import stem, stems_of, whole_words
from rag.reader import Reader, Words
from rag.types import Hit, Query

DATA = Path(__file__).with_name("data")
FORMAT = 3
"""Of the files of weights; one of another format is as good as none."""
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
    "namesake",
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
PLAIN_LESS = np.array([_LESS.get(name, 0.0) for name in FEATURES])
# Sentences looked at of one passage.
_MOST_SENTENCES = 32
_QUESTIONS = (KINDS.index("question"), KINDS.index("made"))
_NAMESAKE = FEATURES.index("namesake")
# The most that closeness can be, with everything found.
_CLOSEST = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Every sentence of some passages, scored; parallel arrays.

    ``numbers`` are the sentences' in the index, ``hits`` which of the passages each is of,
    ``values`` their answerability from 0 to 1.
    """

    numbers: NDArray[np.int64]
    hits: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A fitted model: ``bias + read * reading + features @ weights + behind * (plain - best)``.

    ``reading`` is the reader's, ``plain`` closeness without anything learned, and ``best`` that
    of the closest sentence found.

    ``bias``, ``read`` and ``behind`` are (2,), ``weights`` (2, features): the first are for
    passages without a question of their own beside them, the second for those with one.
    ``floors`` are the defaults, by language, for a business that has measured none. ``standing``
    (3,) weighs a score's log-odds, how far it is ahead of its rival's, and 1 (:mod:`rag.rivals`).
    """

    bias: NDArray[np.float64]
    weights: NDArray[np.float64]
    behind: NDArray[np.float64]
    read: NDArray[np.float64]
    floors: Mapping[str, float]
    reader: Reader
    standing: NDArray[np.float64]


@cache
def weights_for(name: str, digest: str) -> Weights | None:
    """The weights that were fitted with the embedder of this name and hash, if there are any."""
    path = DATA / f"answerability-{name}.json"
    if not path.is_file():
        return None
    table: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    if table.get("format") != FORMAT or table["embedder"]["hash"] != digest:
        return None
    sets = [table["without_question"], table["with_question"]]
    arrays = {name: unpacked(part) for name, part in table["reader"].items()}
    return Weights(
        np.array([one["bias"] for one in sets]),
        np.array([[one["weights"][feature] for feature in FEATURES] for one in sets]),
        np.array([one["behind"] for one in sets]),
        np.array([one["read"] for one in sets]),
        table["floors"],
        Reader.of(arrays),
        np.array(table["standing"]),
    )


def default_floor(embedder: Embedder, language: str) -> float | None:
    """The floor for a business that has measured none.

    None for a language on which no default was measured, or an embedder without weights.
    """
    found = weights_of(embedder)
    return found.floors.get(language) if found else None


def note(embedder: Embedder) -> str:
    """What is to be said of the scores of an embedder; empty if it has weights."""
    return "" if weights_of(embedder) else " (plain closeness: no weights for this embedder)"


def weights_of(embedder: Embedder) -> Weights | None:
    """The weights that were fitted with ``embedder``, if there are any."""
    return weights_for(embedder.name, embedder.hash)


def score(query: Query, asked: Embedding, hits: Sequence[Hit], index: Index) -> Scores:
    """The answerability of every sentence of the passages ``hits``.

    ``asked`` is the embedding of ``query.text``.
    """
    found = weights_of(index.embedder)
    view = look_at(query, asked, hits, index)
    if found is None:
        return Scores(view.numbers, view.hits, np.clip(view.plain / _CLOSEST, 0.0, 1.0))
    return Scores(view.numbers, view.hits, combine(view, found))


def combine(view: View, weights: Weights) -> NDArray[np.float64]:
    """The model applied: values from 0 to 1, (sentences,)."""
    at = view.has_question.astype(int)
    logits = weights.bias[at] + np.einsum("sf,sf->s", view.values, weights.weights[at])
    logits += weights.behind[at] * (view.plain - view.plain.max(initial=-np.inf))
    if len(view.numbers) and len(view.asked.ids):
        logits += weights.read[at] * weights.reader(view.asked, view.said, view.near)
    values: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return values


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What the model sees: ``values`` (sentences, features), and whose they are.

    ``has_question`` (sentences,) is whether the source sets a question beside the passage,
    ``plain`` (sentences,) the closeness that owes nothing to learning. ``asked`` and ``said`` are
    the word pieces of the question and of the sentences, ``near`` (asked, said) their cosines.
    """

    numbers: NDArray[np.int64]
    hits: NDArray[np.int64]
    has_question: NDArray[np.bool_]
    plain: NDArray[np.float64]
    values: NDArray[np.float64]
    asked: Words
    said: Words
    near: Vectors


def look_at(query: Query, asked: Embedding, hits: Sequence[Hit], index: Index) -> View:
    """The features of every sentence of the passages ``hits``."""
    numbers, of_hit = _sentences(asked, hits, index)
    pieces, said = _asked(query, asked, index), _said(numbers, index)
    near = pieces.vectors @ said.vectors.T
    values = np.zeros((len(numbers), len(FEATURES)))
    plain = np.zeros(len(numbers))
    if len(numbers):
        values[:, 0] = index.sentence_vectors[numbers.tolist()] @ asked.vector
        values[:, 1:4] = _closeness(asked, hits, index)[of_hit]
        values[:, 4:7] = _support(pieces, said, near, of_hit)
        values[:, 7] = _same_words(asked, pieces.weight, hits)[of_hit]
        beside = [hits[hit].passage.question for hit in of_hit.tolist()]
        ends = index.sentence_rows[numbers, :2].tolist()
        texts = [hits[h].passage.text[a:b] for h, (a, b) in zip(of_hit.tolist(), ends, strict=True)]
        values[:, 8:] = [
            _rules(query.text, text, own) for text, own in zip(texts, beside, strict=True)
        ]
        if len(pieces.ids):
            named = Named.of(asked.pieces, query.focus)
            values[:, _NAMESAKE] = _namesakes(named, said, near, beside, index)
        support = (1 - _PASSAGE_SHARE) * values[:, 4] + _PASSAGE_SHARE * values[:, 5]
        plain = values[:, 0] + 2 * support - values @ PLAIN_LESS
    has_question = np.array([hit.passage.question is not None for hit in hits], bool)
    return View(numbers, of_hit, has_question[of_hit], plain, values, pieces, said, near)


def _sentences(
    asked: Embedding, hits: Sequence[Hit], index: Index
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the sentences of ``hits``, and which of these each is of.

    Of a passage of very many the closest: a page without a paragraph must not hold up the call.
    """
    ranges: list[Sequence[int]] = []
    for hit in hits:
        own = index.sentence_numbers(index.passage_number(hit.passage.id))
        if len(own) > _MOST_SENTENCES:
            near = index.sentence_vectors[[*own]] @ asked.vector
            best = np.argsort(-near, kind="stable")[:_MOST_SENTENCES]
            ranges.append(sorted(own[n] for n in best.tolist()))
        else:
            ranges.append(own)
    numbers = np.array([n for own in ranges for n in own], np.int64)
    return numbers, np.repeat(np.arange(len(hits)), [len(own) for own in ranges])


def _closeness(asked: Embedding, hits: Sequence[Hit], index: Index) -> NDArray[np.float64]:
    """Of each passage: its cosine, and those of its own and its made questions, 0 for none."""
    rows = []
    for hit in hits:
        cosines, kinds = index.key_cosines(asked.vector, index.passage_number(hit.passage.id))
        of_questions = (cosines[kinds == kind].max(initial=0.0) for kind in _QUESTIONS)
        rows.append((hit.score, *of_questions))
    return np.array(rows)


def _asked(query: Query, asked: Embedding, index: Index) -> Words:
    """The word pieces of a question, with the shares that they count with."""
    count = len(asked.piece_vectors)  # an embedder may give none
    ids = np.array([index.piece_number(piece) for piece in asked.pieces[:count]], np.int64)
    shares = index.weights(asked.pieces, query.focus)[:count]
    return Words(asked.piece_vectors, ids, shares, np.array([count], np.int64))


def _said(numbers: NDArray[np.int64], index: Index) -> Words:
    """The word pieces of some sentences, with their rarity.

    A sentence that the tokenizer makes nothing of has one: a zero vector with the id -1, which is
    like no other.
    """
    first, last = index.sentence_rows[numbers, 2], index.sentence_rows[numbers, 3]
    sizes = np.maximum(last - first, 1).astype(np.int64)
    steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    there = np.repeat(last > first, sizes)
    rows = (np.repeat(first, sizes) + steps)[there]
    vectors = np.zeros((len(there), index.piece_vectors.shape[1]), np.float32)
    ids = np.full(len(there), -1, np.int64)
    vectors[there], ids[there] = index.piece_vectors[rows], index.piece_ids[rows]
    return Words(vectors, ids, rarity_of(ids, index), sizes)


def _namesakes(
    named: Named,
    said: Words,
    near: Vectors,
    beside: Sequence[str | None],
    index: Index,
) -> list[bool]:
    """Whether each sentence is about another thing of the kind that was asked for."""
    found, end = [], 0
    for size, own in zip(said.sizes.tolist(), beside, strict=True):
        rows, end = slice(end, end + size), end + size
        pieces = tuple(index.vocabulary[n] for n in said.ids[rows].tolist() if n >= 0)
        found.append(bool(pieces and named.missed(pieces, near[:, rows], own or "")))
    return found


def _support(
    asked: Words, said: Words, near: Vectors, of_hit: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of each sentence: how far the words asked are found in it, and in all of its passage, and
    how far its own words were not asked for; (sentences, 3). ``near`` (asked, said) are cosines.

    Late interaction (Khattab and Zaharia, ColBERT, SIGIR 2020), both ways: each word counts with
    the cosine to the nearest word on the other side, weighted by its rarity.
    """
    if not len(asked.ids):
        return np.zeros((len(said.sizes), 3))
    starts = np.cumsum(said.sizes) - said.sizes
    present, first = np.unique(of_hit, return_index=True)
    in_sentence = np.maximum.reduceat(near, starts, axis=1)
    in_passage = np.maximum.reduceat(in_sentence, first, axis=1)
    missing = np.add.reduceat(said.weight * (1 - near.max(axis=0)), starts)
    not_asked = missing / np.maximum(np.add.reduceat(said.weight, starts), 1e-9)
    passage = (asked.weight @ in_passage)[np.searchsorted(present, of_hit)]
    return np.stack([asked.weight @ in_sentence, passage, not_asked], axis=1)


def _same_words(asked: Embedding, shares: Vectors, hits: Sequence[Hit]) -> NDArray[np.float64]:
    """The share of the words asked that a passage or its own question has, endings aside."""
    words = whole_words(asked.pieces)
    if not words or len(shares) < len(asked.pieces):
        return np.zeros(len(hits))
    weight = np.add.reduceat(shares, [word.start for word in words])
    stems = [stem(word.text) for word in words]
    found = [stems_of(f"{hit.passage.text} {hit.passage.question or ''}") for hit in hits]
    has = np.array([[one in text for one in stems] for text in found], bool)
    same: NDArray[np.float64] = np.where(has, weight, 0.0).sum(axis=1)
    return same


def rarity_of(ids: NDArray[np.int64], index: Index) -> NDArray[np.float32]:
    """How rare each piece is here; 0 for stop words and for the empty one."""
    rare: NDArray[np.float32] = np.where(ids >= 0, index.rarity[ids], np.float32(0))
    return rare


def _rules(question: str, sentence: str, own_question: str | None) -> tuple[float, ...]:
    """The features from ``kind_fits`` on: what plain rules say."""
    whole = f"{own_question} {sentence}" if own_question else sentence
    asked, stated, evidence = (rules.traits(text) for text in (question, sentence, whole))
    has_kind = bool(rules.kind_asked(question))
    kind_missing = bool(rules.wrong_kind(question, sentence, own_question))
    return (
        float(has_kind and not kind_missing),
        float(kind_missing),
        float(bool(rules.wrong_day(question, whole))),
        float(bool(asked.days & evidence.days)),
        float(bool(rules.opposite(question, whole))),
        float(rules.is_special_case(question, sentence)),
        0.0,  # the namesake, which takes the word pieces to tell
        float(stated.is_question),
        float(stated.says_yes_no and not rules.is_yes_no(question)),
        min(len(sentence) / 200, 1.0),
    )
