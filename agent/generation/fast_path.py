"""When the model is not worth its wait: a factoid that one sentence already answers."""

from __future__ import annotations

from rag import asked
from rag.emergency import CHANGE as EMERGENCY
from rag.sentences import split_sentences
from rag.types import Verdict


def is_factoid(verdict: Verdict, fast_score: float) -> bool:
    """Whether one value is asked for and one sentence answers it with a score of ``fast_score``.

    A price, a time, a place or a number, asked for and found: words of a model add nothing to it.
    """
    if EMERGENCY in verdict.query.changes:
        return True  # whom to call is said as the documents say it, at once
    return (
        verdict.score is not None
        and verdict.score >= fast_score
        and bool(asked.kind_asked(verdict.query.text))
        and len(split_sentences(verdict.say.text)) == 1
    )
