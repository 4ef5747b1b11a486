"""Whole paragraphs where they fit, else whole sentences, else words."""

from __future__ import annotations

import re

from rag.chunkers.ruler import Ruler
from rag.chunkers.types import Chunk, Source, Span, plain
from rag.embed import Embedder
from rag.sentences import sentence_spans

OVERLAP = 0.25
"""The share of a chunk that sentences repeated from the chunk before may take."""

_BLANK_LINE = re.compile(r"\n\s*\n")


def recursive(source: Source, embedder: Embedder, limit: int) -> list[Chunk]:
    """Neighbouring paragraphs joined up to ``limit`` tokens.

    A longer paragraph is cut between sentences, with an overlap in whole sentences; a longer
    sentence between words.
    """
    ruler = Ruler(source.text, embedder)
    paragraphs = _paragraphs(source.text)
    groups = ruler.fill(paragraphs, limit)
    return plain(source, [span for group in groups for span in by_sentences(ruler, group, limit)])


def by_sentences(ruler: Ruler, span: Span, limit: int) -> list[Span]:
    """``span`` itself if it is at most ``limit`` tokens, else runs of its sentences."""
    if ruler.tokens(*span) <= limit:
        return [span]
    start, end = span
    sentences = [(start + a, start + b) for a, b in sentence_spans(ruler.text[start:end])]
    groups = ruler.fill(sentences, limit, int(OVERLAP * limit))
    return [part for group in groups for part in by_words(ruler, group, limit)]


def by_words(ruler: Ruler, span: Span, limit: int) -> list[Span]:
    """``span`` itself if it is at most ``limit`` tokens, else runs of its words."""
    if ruler.tokens(*span) <= limit:
        return [span]
    return ruler.fill(ruler.words(*span, limit), limit)


def _paragraphs(text: str) -> list[Span]:
    spans, start = [], 0
    for gap in [*(found.span() for found in _BLANK_LINE.finditer(text)), (len(text), len(text))]:
        paragraph = text[start : gap[0]]
        if stripped := paragraph.strip():
            at = start + len(paragraph) - len(paragraph.lstrip())
            spans.append((at, at + len(stripped)))
        start = gap[1]
    return spans
