"""Everything that is computed of one passage: its keys, its sentences, and its word pieces.

A passage is found by its *keys*: its chunks, its sentences, the question that its source sets
beside it, and questions made from it. Only its text is ever quoted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag import facts
from rag.chunkers import Chunk, Source, chunk
from rag.embed import Embedder, Embedding, Vectors
from rag.expand import made_questions
from rag.expand.kept import Kept
from rag.facts import Fact
from rag.sentences import sentence_spans
from rag.types import Passage

KINDS = ("chunk", "sentence", "question", "made")
"""What a key may be; its number in the index is its place here."""

RULES = "rules"
"""What made the questions that no model made (:mod:`rag.expand`)."""

_LEVELS = 127


@dataclass(frozen=True, slots=True)
class Recipe:
    """How passages are cut and indexed.

    ``chunker`` is a name in ``rag.chunkers.CHUNKERS``, ``tokens`` the size of its chunks in the
    embedder's own tokens; ``expand`` makes questions from the passages, ``maker`` names the model
    whose questions are taken where it made some; ``sparse`` adds the index of words that
    ``retrieval.hybrid`` needs.
    """

    chunker: str = "recursive"
    tokens: int = 200
    expand: bool = False
    sparse: bool = False
    maker: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One passage, embedded.

    ``keys`` (keys, dim) are unit vectors, ``kinds`` (keys,) their numbers in ``KINDS``.
    ``sentences`` (sentences, 4) are start and end in the passage's text, and first and last word
    piece; ``sentence_keys`` (sentences,) say which key is a sentence's own vector. ``pieces`` are
    word pieces with ``values`` (pieces, dim) times ``scales`` (pieces,) as their unit vectors.
    ``facts`` are those of each sentence. ``digest`` is of all that they were made from.
    """

    digest: bytes
    keys: Vectors
    kinds: NDArray[np.uint8]
    sentences: NDArray[np.int32]
    sentence_keys: NDArray[np.int32]
    pieces: tuple[str, ...]
    values: NDArray[np.int8]
    scales: NDArray[np.float32]
    facts: tuple[tuple[Fact, ...], ...]


def digest(passage: Passage, questions: Sequence[str], recipe: Recipe, embedder: Embedder) -> bytes:
    """16 bytes that change with anything that an entry depends on."""
    parts = [
        embedder.hash, recipe.chunker, recipe.tokens, passage.text, passage.heading,
        passage.language, passage.question, *questions,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).digest()[:16]


@dataclass(frozen=True, slots=True)
class Made:
    """The questions made from a passage, and by what: a model's name, or the rules."""

    questions: tuple[str, ...] = ()
    by: str = RULES


def questions_of(passage: Passage, recipe: Recipe, kept: Kept | None = None) -> Made:
    """The questions made from a passage: those ``kept`` of it, else those of the rules.

    Without the one of its source.
    """
    if not recipe.expand:
        return Made()
    found = kept.of(passage) if kept else None
    by = RULES if kept is None or found is None else kept.model
    questions = made_questions(passage) if found is None else found
    return Made(tuple(q for q in questions if q != passage.question), by)


@dataclass(frozen=True, slots=True)
class Plan:
    """What of one passage is to be embedded: ``texts`` as passages, ``questions`` as questions.

    The first of ``texts`` are those of its ``chunks``; the rest are its sentences, at ``spans`` in
    its text, where one chunk is not one sentence.
    """

    passage: Passage
    digest: bytes
    chunks: tuple[Chunk, ...]
    spans: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    questions: tuple[str, ...]


def source_of(passage: Passage) -> Source:
    """A passage as a chunker takes it."""
    kind = "paragraph" if passage.row is None else "row"
    return Source(passage.text, passage.language, kind, passage.heading)


def plan(passage: Passage, made: Sequence[str], recipe: Recipe, embedder: Embedder) -> Plan:
    """Chunk a passage; ``made`` are the questions of :func:`questions_of`."""
    chunks = chunk(recipe.chunker, source_of(passage), embedder, tokens=recipe.tokens)
    spans = tuple(sentence_spans(passage.text))
    texts = [one.embed_text for one in chunks]
    if len(spans) > 1 or texts != [passage.text]:
        texts += [passage.text[start:end] for start, end in spans]
    own = (passage.question,) if passage.question else ()
    return Plan(
        passage, digest(passage, made, recipe, embedder), tuple(chunks), spans, tuple(texts),
        (*own, *made),
    )  # fmt: skip


def entry(planned: Plan, embedded: Sequence[Embedding], questions: Vectors) -> Entry:
    """The entry of a passage whose texts have become ``embedded`` and whose questions vectors."""
    wholes, alone = embedded[: len(planned.chunks)], embedded[len(planned.chunks) :]
    sentences: list[tuple[int, int, int, int]] = []
    pieces: list[str] = []
    vectors: list[Vectors] = []
    for number, (start, end) in enumerate(planned.spans):
        part = _part(planned, wholes, start, end)
        if part is None and alone:
            part = alone[number].pieces, _rows(alone[number])
        # The tokenizer may make nothing of a sentence: of "\ufffd\ufffd", for one.
        names, rows = part or ((), np.empty((0, len(wholes[0].vector)), np.float32))
        sentences.append((start, end, len(pieces), len(pieces) + len(names)))
        pieces += names
        vectors.append(rows)
    keys = np.stack([*(one.vector for one in embedded), *questions]).astype(np.float32)
    own = 1 if planned.passage.question else 0
    counts = (len(wholes), len(alone), own, len(planned.questions) - own)
    values, scales = _quantised(np.concatenate([*vectors, keys[:0]]))
    return Entry(
        digest=planned.digest,
        keys=keys,
        kinds=np.repeat(np.arange(len(KINDS), dtype=np.uint8), counts),
        sentences=np.array(sentences, np.int32).reshape(-1, 4),
        # A passage of one sentence is its own sentence.
        sentence_keys=np.arange(len(planned.spans), dtype=np.int32) + (len(wholes) if alone else 0),
        pieces=tuple(pieces),
        values=values,
        scales=scales,
        facts=facts_of(planned.passage, planned.spans),
    )


def facts_of(passage: Passage, spans: Sequence[tuple[int, int]]) -> tuple[tuple[Fact, ...], ...]:
    """The facts of each sentence; the question that its source sets beside it tells of what."""
    return tuple(
        facts.read(passage.text[start:end], beside=passage.question) for start, end in spans
    )


def _part(
    planned: Plan, wholes: Sequence[Embedding], start: int, end: int
) -> tuple[tuple[str, ...], Vectors] | None:
    """The word pieces of a sentence as its chunk was read; None where no chunk holds it whole."""
    for one, whole in zip(planned.chunks, wholes, strict=True):
        at, before = _place(planned.passage, one)
        read_to = at + whole.spans[-1][1] - before if whole.spans else at
        if at <= start and end <= read_to:
            low, high = start - at + before, end - at + before
            rows = [n for n, (a, b) in enumerate(whole.spans) if a >= low and b <= high]
            return tuple(whole.pieces[n] for n in rows), _rows(whole)[rows]
    return None


def _place(passage: Passage, one: Chunk) -> tuple[int, int]:
    """Where the embedded text stands in the passage, and how much of a header is before it."""
    if one.embed_text.endswith(one.text):
        return one.start, len(one.embed_text) - len(one.text)
    return max(passage.text.find(one.embed_text, one.start), one.start), 0


def _rows(embedding: Embedding) -> Vectors:
    """The vectors of the word pieces; zeros from an embedder that gives none."""
    if len(embedding.piece_vectors) == len(embedding.pieces):
        return embedding.piece_vectors
    return np.zeros((len(embedding.pieces), len(embedding.vector)), np.float32)


def _quantised(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Eight bits a number, with one scale a row: a quarter of the size, cosines within 0.003."""
    highest = np.abs(vectors).max(axis=1, initial=0.0)
    scales = (np.maximum(highest, 1e-9) / _LEVELS).astype(np.float32)
    return np.round(vectors / scales[:, None]).astype(np.int8), scales
