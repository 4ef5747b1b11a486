"""One sentence to be found by, with its neighbours to be read."""

from __future__ import annotations

from rag.chunkers.recursive import by_words
from rag.chunkers.ruler import Ruler
from rag.chunkers.types import Chunk, Source
from rag.embed import Embedder
from rag.sentences import sentence_spans

NEIGHBOURS = 2
"""How many sentences are returned on each side of the one that is embedded."""


def sentence_window(source: Source, embedder: Embedder, limit: int) -> list[Chunk]:
    """A chunk a sentence: ``embed_text`` is that sentence, ``text`` has its neighbours too.

    A sentence of more than ``limit`` tokens counts as several.
    """
    text = source.text
    ruler = Ruler(text, embedder)
    units = [part for one in sentence_spans(text) for part in by_words(ruler, one, limit)]
    chunks = []
    for number, (first, last) in enumerate(units):
        start = units[max(number - NEIGHBOURS, 0)][0]
        end = units[min(number + NEIGHBOURS, len(units) - 1)][1]
        chunks.append(Chunk(text[start:end], text[first:last], start, end))
    return chunks
