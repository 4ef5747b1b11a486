"""The verdict that a call speaks: the model's words where they were accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.generation.outcome import Generated, Outcome
from frontdesk import Spoken
from rag.judge import in_parts
from rag.sentences import split_sentences
from rag.types import Verdict

_OF_THE_QUESTION = frozenset({"input", "above_floor"})
# Characters of a reply that a record keeps; a longer one was never a draft.
_LONGEST = 1000


def as_verdict(extractive: Verdict, generated: Generated) -> Verdict:
    """``extractive`` with the words of ``generated``, or itself with the reason against them.

    Score, floor and hits stay: they decided that there is an answer. The checks are those of the
    draft, with those that judged the question. A draft too long to listen to is said in parts.
    """
    timings = dict(extractive.timings_ms)
    if generated.tries:
        timings["generate"] = generated.total_ms
        timings["total"] = timings.get("total", 0.0) + generated.total_ms
    if generated.first_token_ms is not None:
        timings["generate_first_token"] = generated.first_token_ms
    if generated.outcome is Outcome.NOTHING_TO_SAY:
        return extractive
    if generated.draft is None:
        detail = f"{extractive.detail}; not generated: {generated.outcome.value}"
        return replace(extractive, detail=detail, timings_ms=timings)
    kept = tuple(check for check in extractive.checks if check.name in _OF_THE_QUESTION)
    say, *more = in_parts(split_sentences(Spoken.strip(generated.draft.text).text))
    return replace(
        extractive,
        say=say,
        more=tuple(more),
        draft=generated.draft,
        citations=generated.draft.citations,
        answered_by="generated",
        checks=(*generated.checks, *kept),
        timings_ms=timings,
    )


def generated_json(generated: Generated) -> dict[str, Any]:
    """The ``generation`` event of a call record."""
    return {
        "outcome": generated.outcome.value,
        "detail": generated.detail,
        "draft": generated.draft.text if generated.draft else None,
        "reply": generated.reply[:_LONGEST] or None,
        "confidence": generated.confidence,
        "tries": generated.tries,
        "first_token_ms": rounded(generated.first_token_ms),
        "full_ms": rounded(generated.full_ms),
        "total_ms": rounded(generated.total_ms),
        "left_out": list(generated.left_out),
    }


def rounded(ms: float | None) -> float | None:
    """Milliseconds for a record, to a tenth."""
    return None if ms is None else round(ms, 1)
