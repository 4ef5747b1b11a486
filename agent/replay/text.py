"""A case in text: the same words through the same session and answer path, without audio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

from agent.answering import Answered, answered
from agent.replay.case import Case, Turn
from agent.replay.models import RECORDED, Models
from agent.replay.recorded import cut_of, expected_of
from agent.second_opinion import RecordedOpinion
from agent.session import Session, verdict_json
from frontdesk import Spoken
from rag import Index, Policy, Reason

_NO_DEADLINE_MS = 1e9


async def here(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run ``function`` here and now, so that nothing depends on which thread is first."""
    kwargs.pop("priority", None)
    return function(*args, **kwargs)


def unhurried(policy: Policy) -> Policy:
    """``policy`` without its deadline: no part of a search is left out on a slow machine."""
    return replace(policy, deadline_ms=_NO_DEADLINE_MS)


async def in_text(
    case: Case, index: Index, policy: Policy, models: Models = RECORDED
) -> AsyncIterator[dict[str, Any]]:
    """What comes of each turn, in the shape of a case's ``expect``, with what was ``heard``.

    Of silence nothing does: an empty row.
    """
    session = Session(index, unhurried(policy), models.standing(case.pins))
    for turn in case.turns:
        for event in turn.before:
            _follow(session, event)
        if not turn.is_asked:
            yield {}
            continue
        decided = await _decided(session, turn, index, models)
        session.accept(decided.reply)
        hand_over = decided.reply.hand_over
        row = expected_of(verdict_json(decided.reply.verdict))
        yield {"heard": turn.heard, **row, "hand_over": hand_over.rule.value if hand_over else ""}


async def _decided(session: Session, turn: Turn, index: Index, models: Models) -> Answered:
    if turn.key and turn.expect.get("reason") == Reason.PERSON:
        return Answered(session.person())
    return await answered(
        session,
        turn.heard,
        run=here,
        words=models.words_for(turn, index),
        rewriter=models.rewriter_for(turn),
        second=RecordedOpinion(turn.second) if turn.second else None,
    )


def _follow(session: Session, event: Mapping[str, Any]) -> None:
    """What happened to the session between its replies."""
    match event["event"]:
        case "said":
            session.said(Spoken(event["say"]))
        case "interrupted":
            session.cut(cut_of(event))
        case "resumed":
            session.resumed()
        case "handover_failed" | "returned":
            session.handover_failed(event["problem"])
