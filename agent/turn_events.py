"""What a record says of one reply, in the order in which :func:`agent.replay.replay` reads it."""

from __future__ import annotations

from agent.answering import Answered
from agent.generation import generated_json, rewritten_json
from agent.guess import Guessed
from agent.second_opinion import second_json
from agent.session import verdict_json
from agent.trace import CallTrace


def record_reply(
    trace: CallTrace, heard: str, decided: Answered, guessed: Guessed, key: str = ""
) -> None:
    """Record the reply to ``heard``, or to what the ``key`` that was pressed asks."""
    if decided.rewritten is not None:
        trace.event("rewriting", **rewritten_json(decided.rewritten))
    if decided.second is not None:
        trace.event("second_opinion", **second_json(decided.second))
    if decided.generated is not None:
        trace.event("generation", **generated_json(decided.generated))
    trace.event(
        "verdict",
        heard=heard,
        **({"key": key} if key else {}),
        speculated=guessed.used,
        speculations=guessed.as_json(),
        kb=decided.reply.kb,
        **verdict_json(decided.reply.verdict),
    )
