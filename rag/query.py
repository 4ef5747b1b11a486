"""A question as it was heard, made ready to be looked up."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from rag.follow_up import Cosine, Names, State, resolve
from rag.index import Index
from rag.types import Query


def make_query(
    asr_text: str,
    context: str | None = None,
    *,
    fillers: frozenset[str] | None = None,
    language: str | None = None,
) -> Query:
    """A :class:`Query` from what was heard; ``context`` is the previous *resolved* question.

    For a single question before; a call remembers more (:class:`rag.follow_up.State`). The
    ``language`` picks the floor; not given, it is that of the script of what was heard.
    """
    state = State()
    if context:
        state = state.after(resolve(context, fillers=fillers))
    query = resolve(asr_text, state, fillers=fillers, language=language).query
    return replace(query, context=context)


def closeness(index: Index) -> Cosine | None:
    """How close two texts are in meaning, for :func:`rag.follow_up.resolve`.

    None for embedders on which no threshold was measured.
    """
    embedder = index.embedder
    if embedder.name != "minilm":
        return None
    return lambda one, other: float(embedder.embed(one).vector @ embedder.embed(other).vector)


@lru_cache(maxsize=1)
def places(index: Index) -> Names:
    """The first heading of each document, as the name of the place that it is about."""
    kb = index.kb
    return Names({one.id: kb.passages[one.first].heading or one.id for one in kb.sources})
