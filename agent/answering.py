"""One utterance to one reply: what the session decides, in a model's words if there is a model.

The only place where a model comes in: live calls, ``ask`` and replay all pass here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agent.generation import Generated, Rewritten, as_verdict
from agent.second_opinion import Opinions, Outcome, Second, in_place_of, is_unsure, judged
from agent.session import Reply, Session
from rag.emergency import CHANGE as EMERGENCY
from rag.follow_up import Resolution, State
from rag.types import Decision, Reason, Verdict
from speech.types import Utterance

_log = logging.getLogger(__name__)

Run = Callable[..., Awaitable[Any]]
"""Runs a function off the event loop and returns its result."""

REWRITTEN = "rewritten"
"""Stands in ``query.changes`` of a question that a model made to stand alone."""

HEARD_AGAIN = "heard again"
"""Stands in ``query.changes`` of a question in the words of a second recogniser."""

_NO_QUESTION = frozenset({Reason.EMPTY, Reason.TOO_LONG, Reason.INSTRUCTION, Reason.OTHER_CALLERS})


class Words(Protocol):
    """What puts an answer into words: :class:`agent.generation.Generator`, or a record of one."""

    async def generate(self, extractive: Verdict) -> Generated:
        """A draft for an answered verdict, or why there is none; never raises."""
        ...


class Rewrites(Protocol):
    """What makes a follow-up stand alone: :class:`agent.generation.Rewriter`, or a record."""

    async def rewrite(self, resolution: Resolution, state: State) -> Rewritten | None:
        """The question, or why there is none; None where none is wanted. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply; ``generated``, ``rewritten`` and ``second`` are None where no model and no other
    recogniser came into question.
    """

    reply: Reply
    generated: Generated | None = None
    rewritten: Rewritten | None = None
    second: Second | None = None


async def answered(
    session: Session,
    heard: str,
    *,
    run: Run = asyncio.to_thread,
    words: Words | None = None,
    rewriter: Rewrites | None = None,
    utterances: tuple[Utterance, ...] = (),
    second: Opinions | None = None,
) -> Answered:
    """The reply to ``heard``; changes nothing, and may be cancelled at any moment.

    ``utterances`` are what ``heard`` ends with; ``second`` hears them again where the reply is
    unsure. An error on the way is a spoken refusal with reason ``retrieval_failed``.
    """
    try:
        return await _answered(session, heard, run, words, rewriter, utterances, second)
    except Exception as error:  # noqa: BLE001 (a caller waits; reported in the verdict)
        _log.exception("no answer")
        return Answered(session.failed(heard, error))


async def _answered(
    session: Session,
    heard: str,
    run: Run,
    words: Words | None,
    rewriter: Rewrites | None,
    utterances: tuple[Utterance, ...],
    second: Opinions | None,
) -> Answered:
    reply: Reply = await run(session.reply, heard)
    opinion = None
    if second is not None and _is_question(reply.verdict) and is_unsure(reply.verdict):
        reply, opinion = await _heard_again(session, heard, reply, run, utterances, second)
    rewritten = None
    if rewriter is not None and reply.resolution is not None and _is_question(reply.verdict):
        rewritten = await rewriter.rewrite(reply.resolution, session.state)
        if rewritten is not None and rewritten.text:
            other: Reply = await run(session.reply, rewritten.text)
            if _is_question(other.verdict):
                reply = _heard_as(heard, other, REWRITTEN)
    return replace(await worded(reply, words), rewritten=rewritten, second=opinion)


async def _heard_again(
    session: Session,
    heard: str,
    reply: Reply,
    run: Run,
    utterances: tuple[Utterance, ...],
    second: Opinions,
) -> tuple[Reply, Second | None]:
    """The reply to what a second recogniser heard, if it is the better one, else ``reply``."""
    opinion = await second.hear(reply.verdict, utterances)
    if opinion is None or not opinion.text:
        return reply, opinion
    text = in_place_of(heard, utterances, opinion.text)
    other: Reply = await run(session.reply, text)
    outcome = judged(reply.verdict, other.verdict, heard, text)
    if outcome is Outcome.TAKEN:
        reply = _heard_as(heard, other, HEARD_AGAIN)
    return reply, replace(opinion, text=text, outcome=outcome)


async def worded(reply: Reply, words: Words | None) -> Answered:
    """``reply`` with the model's words where they were accepted, itself where they were not."""
    if words is None or reply.verdict.decision is not Decision.ANSWERED:
        return Answered(reply)
    generated = await words.generate(reply.verdict)
    verdict = as_verdict(reply.verdict, generated)
    say = reply.say if generated.draft is None else verdict.say
    return Answered(replace(reply, verdict=verdict, say=say), generated)


def _is_question(verdict: Verdict) -> bool:
    if verdict.decision is Decision.CONVERSATION or EMERGENCY in verdict.query.changes:
        return False
    return verdict.reason not in _NO_QUESTION


def _heard_as(heard: str, reply: Reply, change: str) -> Reply:
    """The reply to a question in other words, as the reply to what was heard."""
    query = reply.verdict.query
    query = replace(query, raw=heard, changes=(*query.changes, change))
    resolution = reply.resolution and replace(reply.resolution, query=query)
    return replace(reply, verdict=replace(reply.verdict, query=query), resolution=resolution)
