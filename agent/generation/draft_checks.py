"""The one place where it is said what else a draft must pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent.generation.own_words import own_words
from agent.generation.shown import Shown
from agent.generation.stated import answers, stands
from frontdesk import Spoken
from rag import Index
from rag.grounding import draft_check
from rag.types import Check, Draft, Query

DraftCheck: TypeAlias = Callable[[Query, Draft, tuple[Shown, ...]], tuple[Check, ...]]
"""One more thing that a draft must pass (facts, grounding), on the passages that it cites."""


def draft_checks(index: Index | Callable[[], Index]) -> tuple[DraftCheck, ...]:
    """What every draft must pass, after the checks of this package and of :mod:`rag.verify`.

    ``index`` may be a function that gives the one of the moment.
    """
    current = index if callable(index) else lambda: index
    kept: dict[str, DraftCheck] = {}

    def stated(query: Query, draft: Draft, cited: tuple[Shown, ...]) -> tuple[Check, ...]:
        text = Spoken.strip(draft.text).text
        return (answers(query, text, current().contrasts), stands(query, text, cited))

    def grounded(query: Query, draft: Draft, cited: tuple[Shown, ...]) -> tuple[Check, ...]:
        embedder = current().embedder
        check = kept.setdefault(embedder.hash, draft_check(embedder))  # with what it embedded
        return check(query, draft, cited)

    return (stated, grounded, own_words)
