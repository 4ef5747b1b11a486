"""The sample clinic's passages for a question, in one call."""

from __future__ import annotations

from functools import cache

from rag.calibration import SAMPLE_KB
from rag.index import Index
from rag.rewrite import words
from rag.store import open_index


def search(query: str, k: int = 3) -> list[tuple[str, float]]:
    """The ``k`` passages of the sample knowledge base closest to ``query``, best first.

    Each with its cosine similarity. The model is made once, at the first call; an empty query
    finds nothing.

    Raises:
        KnowledgeBaseError: if the sample knowledge base or its index cannot be used.
        ModelFileError: if a model file is missing or altered.
    """
    if not words(query):
        return []
    index = sample_index()
    vector = index.embedder.encode([query])[0]
    return [(hit.passage.id, hit.score) for hit in index.search(vector, max(k, 0))]


@cache
def sample_index() -> Index:
    """The index of the sample knowledge base, opened once."""
    return open_index(SAMPLE_KB)
