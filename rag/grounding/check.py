"""The grounding check in the shape that the answer path and the generator ask for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from rag.embed import Embedding
from rag.grounding.closeness import Reads
from rag.grounding.judge import grounded
from rag.types import Check, Draft, Query

NAME = "grounded"
_KEPT = 512  # sentences whose embeddings are kept, some 20 kB each
_CITATION = re.compile(r"\s*\[[^\]\n]*\]")


@dataclass(frozen=True, slots=True)
class _Keeping:
    """An embedder that remembers: the sentences of passages come again."""

    hash: str
    embed: Callable[[str], Embedding]


class Cited(Protocol):
    """A passage as it was shown to whoever wrote the draft."""

    @property
    def text(self) -> str:
        """What a sentence may stand on."""
        ...

    @property
    def heading(self) -> str:
        """What stands over it."""
        ...

    @property
    def question(self) -> str:
        """The question that its source sets beside it, or ''."""
        ...


def as_check(
    said: str, evidence: Sequence[str], embedder: Reads | None = None, *, around: str = ""
) -> Check:
    """:func:`grounded` as a check, with the values compared in its detail.

    A quoted sentence passes without an embedding.
    """
    found = grounded(_CITATION.sub("", said), evidence, embedder, around=around)
    return Check(NAME, found.ok, found.detail)


def draft_check(
    embedder: Reads | None = None,
) -> Callable[[Query, Draft, Sequence[Cited]], tuple[Check, ...]]:
    """One of the ``more_checks`` of a generator: the draft against the passages it cites."""
    kept = _Keeping(embedder.hash, lru_cache(_KEPT)(embedder.embed)) if embedder else None

    def check(query: Query, draft: Draft, cited: Sequence[Cited]) -> tuple[Check, ...]:
        around = " ".join(f"{one.heading} {one.question}" for one in cited)
        return (as_check(draft.text, [one.text for one in cited], kept, around=around),)

    return check
