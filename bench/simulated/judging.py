"""What came of one turn by the agent's record of it: right, or how not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.simulated.plan import Expect, Gold
from rag.questions import Question
from rag.types import Decision, Passage, Reason

Event = Mapping[str, Any]

OUTCOMES: Mapping[str, str] = {
    "right": "what was right to do was done",
    "wrong_fact": "answered, but not with every fact, or from another passage",
    "over_refused": "refused or put off, where there was something to say or do",
    "wrongly_answered": "something was stated where nothing should have been",
    "unanswered": "the caller heard nothing",
}


def outcome_of(gold: Gold, window: Sequence[Event], passages: Mapping[str, Passage]) -> str:
    """One of :data:`OUTCOMES`; ``window`` are the events of the turn, up to the next one's.

    Of several verdicts (a pause can split what a caller says) the last counts.
    """
    last = last_verdict(window)
    if gold.expect is Expect.NOTHING:
        return "wrongly_answered" if last.get("say") else "right"
    if gold.expect is Expect.PROMPT:
        return _prompted(window, last)
    if not last and gold.expect not in (Expect.TYPED, Expect.ANYTHING):
        return "unanswered"
    if gold.expect is Expect.ANYTHING:
        return _said(gold, window)
    if gold.expect is Expect.ANSWER:
        return _answered(gold, last, passages)
    if gold.expect is Expect.REFUSE:
        return "wrongly_answered" if _is(last, Decision.ANSWERED) else "right"
    if _is_done(gold.expect, window, last):
        return "right"
    if not last:
        return "unanswered"
    return "wrongly_answered" if _is(last, Decision.ANSWERED) else "over_refused"


def last_verdict(window: Sequence[Event]) -> Event:
    """The verdict that was given last; empty for none."""
    return next((event for event in reversed(window) if event["event"] == "verdict"), {})


def _is(verdict: Event, decision: Decision) -> bool:
    return verdict.get("decision") == decision.value


def _answered(gold: Gold, last: Event, passages: Mapping[str, Passage]) -> str:
    if not _is(last, Decision.ANSWERED):
        return "over_refused"
    question = Question(
        id=gold.question, text="", asr="", context=None, relevant=gold.relevant,
        decision=Decision.ANSWERED, facts=gold.facts, kind="", heard={},
    )  # fmt: skip
    cited = [passages[name] for name in last["citations"] if name in passages]
    return "right" if question.is_answered(str(last["say"]), cited) else "wrong_fact"


def _said(gold: Gold, window: Sequence[Event]) -> str:
    said = " ".join(str(e["say"]) for e in window if e["event"] in ("verdict", "said"))
    if not said:
        return "unanswered"
    words = said.casefold()
    has_all = all(any(one.casefold() in words for one in fact) for fact in gold.facts)
    return "right" if has_all else "wrong_fact"


def _prompted(window: Sequence[Event], last: Event) -> str:
    if last.get("say"):
        return "wrongly_answered"
    return "right" if _has(window, "said") else "unanswered"


def _is_done(expect: Expect, window: Sequence[Event], last: Event) -> bool:
    """Whether an everyday sentence or a key was taken for what it is."""
    match expect:
        case Expect.TALK:
            return _is(last, Decision.CONVERSATION)
        case Expect.PERSON:
            return last.get("reason") == Reason.PERSON.value or _has(window, "handing_over")
        case Expect.GOODBYE:
            return last.get("reason") == Reason.GOODBYE.value
        case Expect.TYPED:
            return _has(window, "typed")
    return False


def _has(window: Sequence[Event], kind: str) -> bool:
    return any(event["event"] == kind for event in window)
