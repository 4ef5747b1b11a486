"""Windows of equally many tokens."""

from __future__ import annotations

from rag.chunkers.ruler import Ruler
from rag.chunkers.types import Chunk, Source, plain
from rag.embed import Embedder

OVERLAP = 0.15
"""The share of a window that is repeated at the start of the next."""


def fixed(source: Source, embedder: Embedder, limit: int) -> list[Chunk]:
    """Windows of ``limit`` tokens, less what a whole word would go over, each with an overlap."""
    ruler = Ruler(source.text, embedder)
    words = ruler.words(0, len(source.text), limit)
    return plain(source, ruler.fill(words, limit, int(OVERLAP * limit)))
