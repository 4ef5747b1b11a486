"""Five ways to cut a text into chunks, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from frontdesk import ConfigError
from rag.chunkers.fixed import fixed
from rag.chunkers.metadata import metadata
from rag.chunkers.recursive import recursive
from rag.chunkers.semantic import semantic
from rag.chunkers.sentence_window import sentence_window
from rag.chunkers.types import Chunk, Chunker, Source
from rag.embed import Embedder

__all__ = ["CHUNKERS", "MIN_TOKENS", "TOKENS", "Chunk", "Chunker", "Source", "chunk"]

CHUNKERS: Mapping[str, Chunker] = MappingProxyType(
    {
        "fixed": fixed,
        "recursive": recursive,
        "semantic": semantic,
        "sentence_window": sentence_window,
        "metadata": metadata,
    }
)

TOKENS = 200
"""The size of a chunk unless another is asked for."""

MIN_TOKENS = 16
"""The smallest size: shorter ones cut most sentences."""

# What a model reads beside the text: its first and last token, and e5's "passage: ".
RESERVED = 8


def chunk(name: str, source: Source, embedder: Embedder, *, tokens: int = TOKENS) -> list[Chunk]:
    """The chunks of ``source`` in text order; none where there is nothing but white space.

    Every character that is not white space is in at least one of them. An ``embed_text`` is at
    most ``tokens`` of the embedder's own tokens, and never more than its model reads.

    Raises:
        ConfigError: if there is no chunker of that name, or ``tokens`` is below 16.
    """
    if name not in CHUNKERS:
        raise ConfigError(f"unknown chunker {name!r}; choose one of: {', '.join(CHUNKERS)}")
    if tokens < MIN_TOKENS:
        raise ConfigError(f"chunks of {tokens} tokens are too small; take at least {MIN_TOKENS}")
    return CHUNKERS[name](source, embedder, min(tokens, embedder.max_tokens - RESERVED))
