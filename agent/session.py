"""What one call remembers, and what it says next. Pure: live calls and replay drive it alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent import handover
from agent.handover import HandOver, Rule, Standing, Tried, asks, is_answerless, refer
from agent.handover_words import failed
from agent.played import Played
from agent.summary import Told, summary
from frontdesk import Spoken
from rag import Decision, Index, Policy, Query, Reason, Verdict, answer
from rag.conversation import SAYINGS
from rag.follow_up import Resolution, Said, State, resolve
from rag.judge import refused
from rag.parts import OFFER, asks_for_more, wants_more
from rag.query import closeness, places
from rag.rewrite import clean, default_fillers
from speech.spoken_values import Kind, written

_NOTHING_YET = Spoken("I haven't said anything yet. How can I help you?")
_SILENCE = Spoken("")
STILL_THERE = Spoken("Are you still there?")
GOODBYE = Spoken("I can't hear you any more, so I'll hang up. Goodbye.")
NO_MORE = Spoken("That's all I have on that. What else would you like to know?")
# A line that crackles is asked to say it again the first time, and then every third.
_NAG_EVERY = 3
FIXED_SENTENCES = (STILL_THERE, GOODBYE, NO_MORE, _NOTHING_YET)


@dataclass(frozen=True, slots=True)
class Reply:
    """What to say to one utterance, why, and whether the call ends after it.

    ``kb`` begins the hash of the knowledge base that it was decided on; ``resolution`` is how what
    was heard became the question that was looked up. ``hand_over`` follows once it was heard.
    """

    verdict: Verdict
    say: Spoken
    hang_up: bool = False
    kb: str = ""
    resolution: Resolution | None = None
    hand_over: HandOver | None = None


@dataclass(frozen=True, slots=True)
class _Memory:
    """What was said so far.

    ``more`` are the parts of the last answer still to come, ``rest`` is what a caller's words cut
    off; ``unheard`` counts the utterances in a row with no word in them. ``tried`` and ``told`` are
    for a hand-over and its summary.
    """

    state: State = field(default_factory=State)
    more: tuple[Spoken, ...] = ()
    rest: Spoken = _SILENCE
    last_said: Spoken = _NOTHING_YET
    unheard: int = 0
    tried: Tried = field(default_factory=Tried)
    told: Told = field(default_factory=Told)


class Session:
    """State of one call; dropped with it.

    ``reply`` changes nothing, so a speculative reply costs no state; ``accept`` makes a reply
    the one that was given, ``cut`` takes back what of it was not heard, ``resumed`` makes the cut
    undone. ``index`` may be a function that gives the one of the moment: it is asked once a reply.
    ``standing`` is what can be done about a person; without it, replies are worded as rag words
    them, and nobody is handed over.
    """

    def __init__(
        self,
        index: Index | Callable[[], Index],
        policy: Policy,
        standing: Standing | None = None,
    ) -> None:
        self._index = index if callable(index) else lambda: index
        self._policy = policy
        self._standing = standing
        self._memory = _Memory()
        self._before = _Memory()
        self._given: Reply | None = None
        self._uncut: _Memory | None = None

    def reply(self, heard: str) -> Reply:
        """Decide what to say to ``heard`` (the recogniser's text, possibly empty)."""
        index = self._index()
        if self._standing and (said := self._of_a_person(heard, self._standing)):
            return self._referred(Reply(said, said.say, kb=_name(index)))
        more = self._go_on(heard)
        if more:
            return Reply(more, more.say, kb=_name(index))
        resolution = resolve(
            asked_as(heard),
            self.state,
            fillers=index.kb.fillers,
            cosine=closeness(index),
            names=places(index) if self._policy.places else None,
        )
        query = replace(resolution.query, raw=heard)
        if self._policy.places:
            query = replace(query, document=resolution.document)
        verdict = answer(query, index, self._policy)
        if verdict.decision is Decision.CONVERSATION and verdict.reason in _SAY_AGAIN:
            last = self._memory.last_said
            as_before = verdict.reason is Reason.LOUDER or last == _NOTHING_YET
            verdict = replace(verdict, say=last if as_before else last.slowly())
        if verdict.reason is Reason.EMPTY and self._memory.unheard % _NAG_EVERY:
            verdict = replace(verdict, say=_SILENCE)
        hang_up = verdict.reason is Reason.GOODBYE
        return self._referred(Reply(verdict, verdict.say, hang_up, _name(index), resolution))

    def _of_a_person(self, heard: str, standing: Standing) -> Verdict | None:
        """What comes before any question: danger, and what is said to the offer of a person."""
        memory = self._memory
        return handover.emergency(heard, standing.rules) or handover.wish(
            heard, memory.tried, memory.last_said.text
        )

    def person(self) -> Reply:
        """What to say to the key for a person."""
        query = Query(_A_PERSON, clean(_A_PERSON, frozenset()))
        say = Spoken(SAYINGS[Reason.PERSON])
        verdict = Verdict(Decision.CONVERSATION, Reason.PERSON, query, say)
        return self._referred(Reply(verdict, say, kb=_name(self._index())), by_key=True)

    def _referred(self, reply: Reply, *, by_key: bool = False) -> Reply:
        """``reply`` in the words that go with what can be done about a person."""
        if self._standing is None:
            return reply
        found = refer(reply.verdict, self._memory.tried, self._standing, by_key=by_key)
        verdict = replace(reply.verdict, say=found.say)
        return replace(reply, verdict=verdict, say=found.say, hand_over=found.hand_over)

    def is_current(self, reply: Reply) -> bool:
        """Whether ``reply`` was decided on the documents of the moment."""
        return reply.kb == _name(self._index())

    def failed(self, heard: str, error: Exception) -> Reply:
        """What to say where an error keeps ``heard`` from being decided: a refusal."""
        detail = f"{type(error).__name__}: {error}"
        index = self._index()
        query = Query(heard, clean(heard, index.kb.fillers))
        verdict = refused(query, self._policy, Reason.RETRIEVAL_FAILED, detail=detail)
        return self._referred(Reply(verdict, verdict.say, kb=_name(index)))

    @property
    def state(self) -> State:
        """What the call remembers between questions."""
        return self._memory.state

    def _go_on(self, heard: str) -> Verdict | None:
        """The next part of an answer that was too long or was cut, if the caller wants it.

        Asked to go on where nothing is left, that there is no more.
        """
        words = clean(heard, default_fillers() - {"ok", "okay"})
        memory = self._memory
        offered = memory.more and not memory.rest
        if not (wants_more(words) if offered else asks_for_more(words)):
            return None
        say, *more = [part for part in (memory.rest, *memory.more) if part] or [NO_MORE]
        query = Query(heard, words)
        return Verdict(Decision.CONVERSATION, Reason.GO_ON, query, say, more=tuple(more))

    def accept(self, reply: Reply) -> None:
        """Remember ``reply`` as given: its question is the context of the next."""
        self._before, self._given, self._uncut = self._memory, reply, None
        self._memory = self._after(reply, reply.say.text)

    def _after(self, reply: Reply, spoken: str) -> _Memory:
        """The memory once ``spoken`` was said of ``reply``."""
        memory, verdict = self._before, reply.verdict
        is_question = verdict.decision is not Decision.CONVERSATION
        unheard = memory.unheard + 1 if verdict.reason is Reason.EMPTY else 0
        tried = memory.tried.after(verdict, reply.hand_over)
        memory = replace(memory, unheard=unheard, tried=tried)
        answered = verdict.decision is Decision.ANSWERED
        if answered or is_answerless(verdict) or verdict.reason is Reason.EMERGENCY:
            told = replace(memory.told, question=verdict.query.raw, was_answered=answered)
            memory = replace(memory, told=told)
        # "Could you repeat that" and a cough leave the rest of an answer to be asked for.
        if verdict.reason is Reason.GO_ON or (is_question and verdict.reason is not Reason.EMPTY):
            memory = replace(memory, more=verdict.more, rest=_SILENCE)
        if verdict.reason is Reason.GO_ON and reply.say != NO_MORE:
            memory = replace(memory, state=memory.state.said_more(spoken))
        if reply.say:  # an acknowledgement is met with silence
            memory = replace(memory, last_said=reply.say)
        if reply.resolution and is_question and self._is_context(verdict):
            said = _spoken_from(verdict, spoken)
            memory = replace(memory, state=memory.state.after(reply.resolution, said))
        return memory

    def cut(self, heard: Played) -> None:
        """The words last accepted or said were cut: only what was heard of them was said.

        "Repeat that" then begins with their first sentence and ends with the one that was cut;
        "go on" goes on with that one. Of a reply of which nothing was heard, nothing stays.
        """
        if heard.rest.text in ("", OFFER):
            return
        self._uncut = self._memory
        if not heard.heard:
            # What the caller said stands: a hand-over that it called off is off, unheard or not.
            promised = self._memory.tried.promised
            tried = replace(self._before.tried, promised=promised)
            self._memory = replace(self._before, tried=tried)
            return
        memory = self._memory
        if self._given is not None:
            memory = self._after(self._given, heard.heard)
        self._memory = replace(memory, last_said=Spoken(heard.begun), rest=heard.rest)

    def resumed(self) -> None:
        """What was cut last is said to its end after all."""
        if self._uncut is not None:
            self._memory, self._uncut = self._uncut, None

    def _is_context(self, verdict: Verdict) -> bool:
        """Whether the next "and what about …" may be about this question."""
        if verdict.reason is Reason.BELOW_FLOOR:  # noise, or nothing that the documents know of
            return asks(verdict.query.text)
        return verdict.reason not in _NO_CONTEXT

    def typed(self, number: str) -> None:
        """Remember a number typed on the keypad, for the person who takes the call."""
        self._memory = replace(self._memory, told=replace(self._memory.told, typed=number))

    def summary(self, rule: Rule, *, whole: bool) -> str:
        """What the person is told: see :func:`agent.summary.summary`."""
        return summary(self._memory.told, rule, whole=whole)

    def handover_failed(self, problem: str) -> Spoken:
        """Remember that the caller is back from a hand-over; what to say to that."""
        tried = self._memory.tried.after_failure(problem)
        self._memory = replace(self._memory, tried=tried)
        return failed(problem, tried.danger)

    def said(self, words: Spoken) -> None:
        """Remember words that answer no question, such as the greeting."""
        self._before, self._given, self._uncut = self._memory, None, None
        self._memory = replace(self._memory, last_said=words)


def _name(index: Index) -> str:
    return index.kb.sha256[:16]


def asked_as(heard: str) -> str:
    """``heard`` with its times as documents write them: "half past seven" is 7:30 there.

    Times only: a caller's own number or price in figures is closer to those of the documents than
    it should be.
    """
    return written(heard, kinds={Kind.TIME})


def _spoken_from(verdict: Verdict, spoken: str) -> tuple[Said, ...]:
    cited = (hit.passage for hit in verdict.hits if hit.passage.id in verdict.citations)
    return tuple(Said(passage.id, passage.doc, spoken) for passage in cited)


_A_PERSON = "let me talk to a person"
_NO_CONTEXT = frozenset({Reason.EMPTY, Reason.TOO_LONG, Reason.INSTRUCTION, Reason.OTHER_CALLERS})
_SAY_AGAIN = frozenset({Reason.REPEAT, Reason.LOUDER, Reason.SLOWER})


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """The shape of ``ask --json`` and of a record's ``verdict`` event (DESIGN.md, section 4)."""
    return {
        "decision": verdict.decision.value,
        "answered_by": verdict.answered_by,
        "reason": verdict.reason.value,
        "detail": verdict.detail,
        "score": _rounded(verdict.score),
        "floor": _rounded(verdict.floor),
        "query": {
            "raw": verdict.query.raw,
            "text": verdict.query.text,
            "context": verdict.query.context,
            "language": verdict.query.language,
            "changes": list(verdict.query.changes),
        },
        "hits": [
            {"id": hit.passage.id, "score": _rounded(hit.score), "sha256": hit.passage.sha256}
            for hit in verdict.hits
        ],
        "citations": list(verdict.citations),
        "draft": verdict.draft.text if verdict.draft else None,
        "say": verdict.say.text,
        "more": [part.text for part in verdict.more],
        "checks": [
            {"name": check.name, "passed": check.passed, "detail": check.detail}
            for check in verdict.checks
        ],
        "timings_ms": {stage: round(ms, 3) for stage, ms in verdict.timings_ms.items()},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)
