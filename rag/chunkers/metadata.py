"""The recursive chunks, embedded under a line that says what they are."""

from __future__ import annotations

from dataclasses import replace

from rag.chunkers.recursive import recursive
from rag.chunkers.types import Chunk, Source
from rag.embed import Embedder

_NAMES = {
    "en": "English",
    "hi": "Hindi",
    "bn": "Bengali",
    "gu": "Gujarati",
    "ta": "Tamil",
    "te": "Telugu",
}


def metadata(source: Source, embedder: Embedder, limit: int) -> list[Chunk]:
    """As ``recursive``, with language, type and heading before the text in ``embed_text``.

    The header counts toward ``limit``. It is never more than half of it: the heading, then all of
    it, is left out.
    """
    name = _NAMES.get(source.language, source.language)
    short = f"Language: {name}. Type: {source.kind}."
    long = f"{short} Heading: {source.heading}." if source.heading else short
    for header in (long, short):
        length = len(embedder.token_spans(header))
        if length <= limit // 2:
            chunks = recursive(source, embedder, limit - length)
            return [replace(one, embed_text=f"{header}\n{one.text}") for one in chunks]
    return recursive(source, embedder, limit)
