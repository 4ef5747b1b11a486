"""How close a sentence is to its evidence, by the embedder's vectors of texts and word pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rag.embed import Embedding, Vectors
from rag.grounding.evidence import Sentence
from rag.grounding.words import Word


class Reads(Protocol):
    """What the check asks of an embedder (:class:`rag.embed.Embedder` is one)."""

    @property
    def hash(self) -> str:
        """What its vectors can be compared under."""
        ...

    def embed(self, text: str) -> Embedding:
        """A text with its word pieces."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """Cosines between a sentence and its evidence.

    ``sentence`` is that to the closest sentence and ``whole`` that to all of them together;
    ``words`` (content words,) how close the closest word of the evidence is to each.
    """

    sentence: float
    whole: float
    words: Vectors


def closeness(said: Sentence, near: Sequence[Sentence], embedder: Reads) -> Closeness:
    """Compare ``said`` with the sentences ``near``, each embedded alone."""
    return compared(
        said, embedder.embed(said.text), near, [embedder.embed(one.text) for one in near]
    )


def compared(
    said: Sentence, own: Embedding, near: Sequence[Sentence], read: Sequence[Embedding]
) -> Closeness:
    """The same from embeddings: ``read`` are those of ``near``."""
    count = len(said.content)
    claim = _vectors(said.content, own)
    vectors = np.concatenate(
        [_vectors(one.content, found) for one, found in zip(near, read, strict=True)]
    )
    mean = np.sum([one.vector for one in read], axis=0)
    whole = float(own.vector @ mean / max(float(np.linalg.norm(mean)), 1e-9))
    best = np.zeros(count, np.float32)
    if len(claim) and len(vectors):
        best[: len(claim)] = (claim @ vectors.T).max(1)
    return Closeness(max(float(own.vector @ one.vector) for one in read), whole, best)


def _vectors(said: Sequence[Word], read: Embedding) -> Vectors:
    """A unit vector a word, of those at the start that were ``read`` before the text was cut."""
    ends = [end for _, end in read.spans]
    begins = [begin for begin, _ in read.spans]
    rows: list[Vectors] = []
    for word in said:
        first, last = bisect_right(ends, word.start), bisect_left(begins, word.end)
        if first >= last or last > len(read.piece_vectors):
            break
        rows.append(read.piece_vectors[first:last].mean(0))
    if not rows:
        return np.zeros((0, len(read.vector)), np.float32)
    vectors = np.stack(rows)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
