"""Cuts where the subject changes."""

from __future__ import annotations

import numpy as np

from rag.chunkers.recursive import by_sentences
from rag.chunkers.ruler import Ruler
from rag.chunkers.types import Chunk, Source, Span, plain
from rag.embed import Embedder
from rag.sentences import sentence_spans

PERCENTILE = 85.0
"""Of the distances between neighbouring sentences in one text: those above it are cuts."""


def semantic(source: Source, embedder: Embedder, limit: int) -> list[Chunk]:
    """Runs of sentences between cuts, where the cosine distance passes the text's own percentile.

    A run of more than ``limit`` tokens is cut further, as in ``recursive``.
    """
    sentences = sentence_spans(source.text)
    if not sentences:
        return []
    ruler = Ruler(source.text, embedder)
    runs = _runs(sentences, _cuts(source.text, sentences, embedder))
    return plain(source, [span for run in runs for span in by_sentences(ruler, run, limit)])


def _cuts(text: str, sentences: list[Span], embedder: Embedder) -> list[int]:
    """The numbers of the sentences before which to cut."""
    if len(sentences) < 2:
        return []
    vectors = embedder.encode([text[start:end] for start, end in sentences])
    distances = 1 - np.einsum("nd,nd->n", vectors[:-1], vectors[1:])
    passing = np.flatnonzero(distances > np.percentile(distances, PERCENTILE))
    return [int(number) + 1 for number in passing]


def _runs(sentences: list[Span], cuts: list[int]) -> list[Span]:
    firsts, lasts = [0, *cuts], [*cuts, len(sentences)]
    return [(sentences[a][0], sentences[b - 1][1]) for a, b in zip(firsts, lasts, strict=True)]
