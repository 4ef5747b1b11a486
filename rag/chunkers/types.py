"""What a chunker takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag.embed import Embedder

Span = tuple[int, int]
"""Where something starts and ends in a text, in characters."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text to chunk, with what is known of it.

    ``language`` is one of ``rag.language.LANGUAGES``, ``kind`` what the text is in its document
    ("paragraph", "row"), ``heading`` the nearest one above it or ''.
    """

    text: str
    language: str
    kind: str
    heading: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source: ``text`` is exactly its characters ``start`` to ``end``.

    ``embed_text`` is what its vector is made of; only ``text`` may be shown or quoted.
    """

    text: str
    embed_text: str
    start: int
    end: int


Chunker = Callable[[Source, Embedder, int], list[Chunk]]
"""Source, embedder, and how many of its tokens an ``embed_text`` may have: chunks in text order."""


def plain(source: Source, spans: list[Span]) -> list[Chunk]:
    """Chunks that are embedded as they stand."""
    return [Chunk(t := source.text[start:end], t, start, end) for start, end in spans]
