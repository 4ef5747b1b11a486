"""What one call remembers, and what it says next. Pure: live calls and replay drive it alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from frontdesk import Spoken
from rag import Decision, Index, Policy, Query, Reason, Verdict, answer
from rag.follow_up import Resolution, Said, State, resolve
from rag.parts import asks_for_more, wants_more
from rag.query import closeness, places
from rag.rewrite import clean, default_fillers

_NOTHING_YET = Spoken("I haven't said anything yet. How can I help you?")
STILL_THERE = Spoken("Are you still there?")
GOODBYE = Spoken("I can't hear you any more, so I'll hang up. Goodbye.")
NO_MORE = Spoken("That's all I have on that. What else would you like to know?")
FIXED_SENTENCES = (STILL_THERE, GOODBYE, NO_MORE, _NOTHING_YET)


@dataclass(frozen=True, slots=True)
class Reply:
    """What to say to one utterance, why, and whether the call ends after it.

    ``kb`` begins the hash of the knowledge base that it was decided on; ``resolution`` is how what
    was heard became the question that was looked up.
    """

    verdict: Verdict
    say: Spoken
    hang_up: bool = False
    kb: str = ""
    resolution: Resolution | None = None


class Session:
    """State of one call; dropped with it.

    ``reply`` changes nothing, so a speculative reply costs no state; ``accept`` makes a reply
    the one that was given. ``index`` may be a function that gives the one of the moment: it is
    asked once a turn.
    """

    def __init__(self, index: Index | Callable[[], Index], policy: Policy) -> None:
        self._index = index if callable(index) else lambda: index
        self._policy = policy
        self._state = State()
        self._more: tuple[Spoken, ...] = ()
        self._last_said = _NOTHING_YET

    def reply(self, heard: str) -> Reply:
        """Decide what to say to ``heard`` (the recogniser's text, possibly empty)."""
        index = self._index()
        more = self._go_on(heard)
        if more:
            return Reply(more, more.say, kb=index.kb.sha256[:16])
        resolution = resolve(
            heard,
            self._state,
            fillers=index.kb.fillers,
            cosine=closeness(index),
            names=places(index) if self._policy.places else None,
        )
        query = resolution.query
        if self._policy.places:
            query = replace(query, document=resolution.document)
        verdict = answer(query, index, self._policy)
        if verdict.decision is Decision.CONVERSATION and verdict.reason in _SAY_AGAIN:
            verdict = replace(verdict, say=self._last_said)
        hang_up = verdict.reason is Reason.GOODBYE
        return Reply(verdict, verdict.say, hang_up, index.kb.sha256[:16], resolution)

    @property
    def state(self) -> State:
        """What the call remembers between questions."""
        return self._state

    def _go_on(self, heard: str) -> Verdict | None:
        """The next part of an answer that was too long, if that is what the caller wants.

        Asked to go on where nothing is left, that there is no more.
        """
        words = clean(heard, default_fillers() - {"ok", "okay"})
        if not (wants_more(words) if self._more else asks_for_more(words)):
            return None
        say, *more = self._more or (NO_MORE,)
        query = Query(heard, words)
        return Verdict(Decision.CONVERSATION, Reason.GO_ON, query, say, more=tuple(more))

    def accept(self, reply: Reply) -> None:
        """Remember ``reply`` as given: its question is the context of the next."""
        verdict = reply.verdict
        is_question = verdict.decision is not Decision.CONVERSATION
        # "Could you repeat that" and a cough leave the rest of an answer to be asked for.
        if verdict.reason is Reason.GO_ON or (is_question and verdict.reason is not Reason.EMPTY):
            self._more = verdict.more
        if verdict.reason is Reason.GO_ON and reply.say != NO_MORE:
            self._state = self._state.said_more(reply.say.text)
        if reply.say:  # an acknowledgement is met with silence
            self._last_said = reply.say
        if reply.resolution and is_question and self._is_context(verdict):
            self._state = self._state.after(reply.resolution, _spoken_from(verdict))

    def _is_context(self, verdict: Verdict) -> bool:
        """Whether the next "and what about …" may be about this question."""
        if verdict.reason is Reason.BELOW_FLOOR:  # noise, or nothing that the documents know of
            return bool(_ASKS.match(verdict.query.text))
        return verdict.reason not in _NO_CONTEXT

    def said(self, words: Spoken) -> None:
        """Remember words that answer no question, such as the greeting."""
        self._last_said = words


def _spoken_from(verdict: Verdict) -> tuple[Said, ...]:
    cited = (hit.passage for hit in verdict.hits if hit.passage.id in verdict.citations)
    return tuple(Said(passage.id, passage.doc, verdict.say.text) for passage in cited)


_NO_CONTEXT = frozenset({Reason.EMPTY, Reason.TOO_LONG, Reason.INSTRUCTION, Reason.OTHER_CALLERS})
_ASKS = re.compile(
    r"(?:and |but )?(?:how|what|when|where|which|who|why|is|are|do|does|can|could|will|would|may)\b"
)
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
