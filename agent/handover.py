"""When a caller is handed to a person, and what is said of it. No I/O, no clock.

Live calls, tests and replay decide with the same functions: :func:`refer` looks at a verdict and
says which words go with it and whether a hand-over follows, :meth:`Tried.after` remembers it.
:class:`agent.handover_machine.HandOverMachine` follows one from its sentence to its end.

The agent never promises what it cannot do: on a wire without transfer, outside the hours, or with
nobody to hand over to, the sentences that name the front desk are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from agent.handover_rules import Rules
from agent.handover_words import (
    AS_YOU_LIKE,
    ASK_FOR_A_PERSON,
    CALL_THEM,
    INSTEAD,
    NO_PERSON,
    NOT_SURE,
    ROBOT,
    STILL_NOBODY,
    VOICEMAIL,
    joined,
    spoken_number,
)
from agent.wishes import declines, takes_up, wants_to_talk
from frontdesk import Spoken
from rag.conversation import SAYINGS
from rag.emergency import CHANGE, as_emergency
from rag.types import Decision, Query, Reason, Verdict

# After one that failed, so many more questions without an answer before the next.
_PAUSE = 2
# An explicit wish is tried so often in a call.
_MOST_FAILED = 3
# Noise is heard as a word or three that lead nowhere: agent.backchannel.
_NOISE_WORDS = 3
_ASKS = re.compile(
    r"(?:and |but )?(?:how|what|when|where|which|who|why|is|are|do|does|can|could|will|would|may)\b"
)
# A caller speaks of themselves or to us; a television says that two won the game last night.
_TO_US = re.compile(r"\b(?:i|i'm|i've|i'd|we|my|our|me|us|you|your|please)\b")
_ANSWERLESS = frozenset({Reason.BELOW_FLOOR, Reason.CHECK_FAILED, Reason.RETRIEVAL_FAILED})


class Rule(StrEnum):
    """Why a caller is handed over. A closed list: records compare these values."""

    EMERGENCY = "emergency"
    REQUEST = "request"
    KEY = "key"
    REFUSALS = "refusals"


@dataclass(frozen=True, slots=True)
class HandOver:
    """A hand-over ``to`` somebody that is to follow the words of a reply."""

    to: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Standing:
    """What a call can count on: the rules, a wire that transfers, somebody there."""

    rules: Rules
    can_transfer: bool = True
    is_open: Callable[[], bool] = lambda: True

    @property
    def target(self) -> str:
        """Whom to dial now; '' for nobody."""
        if not self.can_transfer:
            return ""
        return self.rules.to if self.is_open() else self.rules.voicemail_to

    @property
    def is_closed(self) -> bool:
        """Whether nobody is there, who would be at other hours."""
        return bool(self.rules.to) and not self.is_open()

    @property
    def number(self) -> str:
        """The number that a caller can dial, to be spoken; '' where there is none."""
        to = self.rules.to
        return "" if self.is_closed else spoken_number(to)


@dataclass(frozen=True, slots=True)
class Referral:
    """What to say in place of a verdict's words, and the hand-over that follows them."""

    say: Spoken
    hand_over: HandOver | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """``refusals``: questions in a row without an answer. ``failed``: hand-overs of this call.

    ``unable``: the wire has said that it cannot. ``promised`` is the hand-over that the caller was
    told of last; ``danger`` is what was said to who seems in danger, until something else is
    answered.
    """

    refusals: int = 0
    failed: int = 0
    unable: bool = False
    promised: HandOver | None = None
    danger: str = ""

    def after(self, verdict: Verdict, hand_over: HandOver | None) -> Tried:
        """The count once ``verdict`` was spoken."""
        now = self
        if CHANGE in verdict.query.changes and verdict.decision is not Decision.REFUSED:
            now = replace(now, danger=verdict.say.text)
        elif verdict.decision is Decision.ANSWERED:
            now = replace(now, danger="")
        if hand_over is not None:
            return replace(now, refusals=0, promised=hand_over)
        if calls_off(verdict, now.promised):
            return replace(now, refusals=0, promised=None)
        if verdict.decision is Decision.ANSWERED:
            return replace(now, refusals=0)
        return replace(now, refusals=now.refusals + 1) if is_answerless(verdict) else now

    def after_failure(self, problem: str) -> Tried:
        """The count once a hand-over failed for that reason."""
        unable = self.unable or problem == "unsupported"
        return Tried(failed=self.failed + 1, unable=unable, danger=self.danger)


def calls_off(verdict: Verdict, promised: HandOver | None) -> bool:
    """Whether the caller wants something else by now than to be handed over.

    An answer, "no", "wait" and a goodbye; not a question that only a person may answer, nor
    what it is about ("it's for a bill"), which only looks like a question with one.
    """
    if promised is None or verdict.reason is Reason.GOODBYE:
        return promised is not None
    if promised.rule is Rule.EMERGENCY or CHANGE in verdict.query.changes:
        return False
    if verdict.decision is Decision.ANSWERED:
        return promised.rule is Rule.REFUSALS or asks(verdict.query.text)
    return verdict.reason is Reason.WAIT or declines(verdict.query.raw)


def is_answerless(verdict: Verdict) -> bool:
    """Whether a question was refused for want of an answer; never noise, silence or an offer."""
    if verdict.decision is not Decision.REFUSED or verdict.citations:
        return False
    if verdict.reason is not Reason.BELOW_FLOOR:
        return verdict.reason in _ANSWERLESS
    text = verdict.query.text
    return asks(text) or (len(text.split()) > _NOISE_WORDS and bool(_TO_US.search(text)))


def asks(text: str) -> bool:
    """Whether cleaned ``text`` begins like a question."""
    return bool(_ASKS.match(text))


def in_danger(heard: str) -> bool:
    """Whether somebody seems to be in danger: see :mod:`rag.emergency`."""
    return CHANGE in as_emergency(Query(heard, heard)).changes


def emergency(heard: str, rules: Rules) -> Verdict | None:
    """The business's own sentence for who is in danger; None for others, or where it wrote none."""
    if not rules.emergency or not in_danger(heard):
        return None
    query = as_emergency(Query(heard, heard))
    return Verdict(Decision.CONVERSATION, Reason.EMERGENCY, query, Spoken(rules.emergency))


def wish(heard: str, tried: Tried, last_said: str) -> Verdict | None:
    """What a caller who was offered a person, or promised one, says to that; None for all else."""
    query = Query(heard, " ".join(heard.lower().split()))
    if tried.promised and tried.promised.rule is not Rule.EMERGENCY and declines(heard):
        return Verdict(Decision.CONVERSATION, Reason.ACKNOWLEDGED, query, Spoken(AS_YOU_LIKE))
    if last_said == ASK_FOR_A_PERSON and takes_up(heard):
        say = Spoken(SAYINGS[Reason.PERSON])
        return Verdict(Decision.CONVERSATION, Reason.PERSON, query, say)
    return None


def refer(verdict: Verdict, tried: Tried, standing: Standing, *, by_key: bool = False) -> Referral:
    """The words that go with ``verdict``, and whether the caller is handed over after them."""
    if tried.unable:
        standing = replace(standing, can_transfer=False)
    if CHANGE in verdict.query.changes:
        return _in_emergency(verdict, standing)
    if verdict.reason is Reason.PERSON:
        return _asked_for_a_person(verdict, tried, standing, by_key)
    if verdict.reason is Reason.ARE_YOU_A_ROBOT:
        can = standing.rules.on_request and standing.target and not standing.is_closed
        return Referral(verdict.say if can else Spoken(ROBOT))
    if verdict.decision is Decision.REFUSED and _promises(verdict):
        return _refused(verdict, tried, standing)
    return Referral(verdict.say)


def _promises(verdict: Verdict) -> bool:
    """Whether its words are the refusal's: an offer, and "could you say it again", are not."""
    return verdict.reason in _ANSWERLESS and not verdict.citations


def _in_emergency(verdict: Verdict, standing: Standing) -> Referral:
    """At any hour, however often it failed before. The business's sentence, else the documents'."""
    rules = standing.rules
    to = (rules.emergency_to or "") if standing.can_transfer else ""
    if verdict.decision is not Decision.REFUSED:
        return Referral(verdict.say, HandOver(to, Rule.EMERGENCY) if to else None)
    to = to or standing.target  # nobody wrote what to say: a person has to
    if to:
        return Referral(Spoken(SAYINGS[Reason.PERSON]), HandOver(to, Rule.EMERGENCY))
    return Referral(_nobody(NOT_SURE, standing, rules.unsure))


def _asked_for_a_person(
    verdict: Verdict, tried: Tried, standing: Standing, by_key: bool
) -> Referral:
    target = standing.target
    wanted = by_key or standing.rules.on_request
    if not wanted or not target:
        return Referral(_nobody("I'm sorry, I can't connect you from here.", standing, NO_PERSON))
    if tried.failed >= _MOST_FAILED:
        return Referral(Spoken(STILL_NOBODY))
    say = _to_voicemail("", standing) if standing.is_closed else verdict.say
    return Referral(say, HandOver(target, Rule.KEY if by_key else Rule.REQUEST))


def _refused(verdict: Verdict, tried: Tried, standing: Standing) -> Referral:
    rules, target = standing.rules, standing.target
    if tried.promised is not None:  # it is about to begin, and may be what the question needs
        return Referral(_promise(verdict, standing), tried.promised)
    if target and tried.failed < _MOST_FAILED:
        text = verdict.query.text
        if rules.on_request and wants_to_talk(text) and _TO_US.search(text):
            return Referral(_promise(verdict, standing), HandOver(target, Rule.REQUEST))
        if _is_enough(verdict, tried, rules):
            return Referral(_promise(verdict, standing), HandOver(target, Rule.REFUSALS))
    if rules.after_refusals and is_answerless(verdict) and not target:
        return Referral(_nobody(NOT_SURE, standing, rules.unsure))
    return Referral(_unsure(tried, standing))


def _is_enough(verdict: Verdict, tried: Tried, rules: Rules) -> bool:
    """Whether this question without an answer is one too many."""
    needed = rules.after_refusals + (_PAUSE if tried.failed else 0)
    enough = tried.refusals + 1 >= needed
    return bool(rules.after_refusals) and enough and is_answerless(verdict)


def _promise(verdict: Verdict, standing: Standing) -> Spoken:
    return _to_voicemail(NOT_SURE, standing) if standing.is_closed else verdict.say


def _unsure(tried: Tried, standing: Standing) -> Spoken:
    """A refusal that nothing follows. "Human" may have been misheard: how to say it is told."""
    rules = standing.rules
    can = rules.on_request and standing.target and tried.failed < _MOST_FAILED
    return Spoken(ASK_FOR_A_PERSON if can and not standing.is_closed else rules.unsure)


def _to_voicemail(first: str, standing: Standing) -> Spoken:
    return joined(first, standing.rules.closed, VOICEMAIL)


def _nobody(first: str, standing: Standing, otherwise: str) -> Spoken:
    """``first`` and what can be done instead of a hand-over; ``otherwise`` where nothing can."""
    if standing.is_closed:
        return joined(first if first == NOT_SURE else "", standing.rules.closed, INSTEAD)
    if standing.number:
        return joined(first, CALL_THEM.format(standing.number))
    return Spoken(otherwise)
