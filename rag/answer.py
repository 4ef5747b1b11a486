"""The answer path: one question in, one verdict out. Never an exception."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns

import numpy as np

from frontdesk import Spoken
from rag import answerability, conversation, guard
from rag.deadline import Deadline
from rag.embed import Embedding
from rag.index import Index
from rag.namesake import Named
from rag.retrieve import retrieve
from rag.types import Check, Decision, Draft, Hit, Policy, Query, Reason, Verdict
from rag.verify import checks

__all__ = [
    "Best",
    "Candidate",
    "Policy",
    "answer",
    "best_answer",
    "candidates",
    "first_that_passes",
    "spoken_text",
]

_log = logging.getLogger(__name__)

# A sentence that leans on the one before it is spoken with it.
_LEANS = re.compile(r"(?:it|its|they|their|this|these|those|that|he|she|then|otherwise)\b", re.I)

# What is known, though not for the day asked, is not answered by something half as likely.
_FAR_BEHIND = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be the answer: number ``number`` of the index, of the passage ``hit``.

    ``score`` is its answerability from 0 to 1 (:mod:`rag.answerability`).
    """

    hit: Hit
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Best:
    """What would be said to a question if there were no floor.

    ``candidate`` is the best one whose ``checks`` all pass; where none does, the best one, with
    the outcomes of its checks; None where nothing was found. ``hits`` are the passages looked at,
    that of the candidate first and then by their best answerability. ``degraded`` names what was
    left out for lack of time.
    """

    candidate: Candidate | None = None
    checks: tuple[Check, ...] = ()
    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The candidate's answerability, what the floor is compared with; 0 without one."""
        return self.candidate.score if self.candidate else 0.0

    @property
    def passed(self) -> bool:
        """Whether there is a candidate that every check passes."""
        return self.candidate is not None and all(check.passed for check in self.checks)


@dataclass(slots=True)
class _Stages:
    """Milliseconds by stage."""

    ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = perf_counter_ns()
        try:
            yield
        finally:
            self.ms[name] = round((perf_counter_ns() - start) / 1e6, 3)


def answer(query: Query, index: Index, policy: Policy | None = None) -> Verdict:
    """Decide what to say to ``query``, with the evidence for it.

    An error on the way becomes a spoken refusal with reason ``retrieval_failed``: without
    evidence there is no answer.
    """
    policy = policy or Policy()
    stages = _Stages()
    with stages("total"):
        try:
            verdict = _decide(query, index, policy, stages)
        except Exception as error:  # noqa: BLE001 (reported in the verdict)
            _log.exception("no answer for lack of evidence")
            detail = f"{type(error).__name__}: {error}"
            verdict = _refusal(query, policy, Reason.RETRIEVAL_FAILED, detail=detail)
    return replace(verdict, timings_ms=stages.ms)


def best_answer(query: Query, index: Index, policy: Policy | None = None) -> Best:
    """The best candidate for ``query`` with its score and checks, whatever the floor is.

    The same path as :func:`answer` from the embedding on: floors are measured with this.
    """
    return _best(query, index, policy or Policy(), _Stages())


def candidates(
    query: Query, asked: Embedding, hits: Sequence[Hit], index: Index
) -> list[Candidate]:
    """Every sentence of the passages ``hits``, best first; ``asked`` is of ``query.text``."""
    scores = answerability.score(query, asked, hits, index)
    return [
        Candidate(hits[scores.hits[n]], int(scores.numbers[n]), float(scores.values[n]))
        for n in np.argsort(-scores.values, kind="stable")
    ]


def first_that_passes(
    query: Query,
    asked: Embedding,
    found: Sequence[Candidate],
    retrieved: Sequence[Hit],
    index: Index,
) -> tuple[Candidate, tuple[Check, ...]]:
    """The best candidate whose checks all pass, with them; the first one if none does.

    Sentences far behind one that fails for its day alone are not tried: what is asked has been
    found, but not for that day.
    """
    ids = [hit.passage.id for hit in retrieved]
    for_first: tuple[Check, ...] = ()
    lowest = 0.0
    for candidate in found:
        if candidate.score < lowest:
            continue
        passage, say = candidate.hit.passage, spoken_text(index, candidate.number)
        outcomes = checks(query.text, say, passage.id, ids, passage.text, passage.question)
        if query.focus:
            missed = _new_missed(query, asked, candidate, index)
            outcomes = (*outcomes, Check("follow_up_found", not missed, missed))
        if all(check.passed for check in outcomes):
            return candidate, outcomes
        if [check.name for check in outcomes if not check.passed] == ["asked_day"]:
            lowest = max(lowest, candidate.score * _FAR_BEHIND)
        for_first = for_first or outcomes
    return found[0], for_first


def _new_missed(query: Query, asked: Embedding, candidate: Candidate, index: Index) -> str:
    sentence = index.sentences[candidate.number]
    near = asked.piece_vectors @ index.piece_vectors[sentence.start : sentence.end].T
    if not near.size:
        return ""
    beside = candidate.hit.passage.question or ""
    return Named.of(asked.pieces, query.focus).new_missed(near, beside)


def spoken_text(index: Index, number: int) -> str:
    """A sentence word for word; with the one before it if it starts with "it", "this", ….

    Its square brackets become round: square ones are citations, and are taken out.
    """
    sentence = index.sentences[number]
    text = sentence.text.replace("[", "(").replace("]", ")")
    first = index.sentence_numbers(sentence.passage)[0]
    if number > first and _LEANS.match(text):
        return f"{spoken_text(index, number - 1)} {text}"
    return text


def _decide(query: Query, index: Index, policy: Policy, stages: _Stages) -> Verdict:
    with stages("guard"):
        guarded = guard.check(query.raw, policy)
        said = None if guarded else conversation.recognise(query.raw)
    if said:
        return Verdict(Decision.CONVERSATION, said.reason, query, said.say)
    if not guarded and not query.text:
        guarded = guard.nothing_asked()
    if guarded:
        return Verdict(Decision.REFUSED, guarded.reason, query, guarded.say, detail=guarded.detail)
    floor, note = _floor(query, index, policy)
    if floor is None:
        return _refusal(query, policy, Reason.BELOW_FLOOR, detail=note)
    return _judge(query, policy, _best(query, index, policy, stages), floor, note, index)


def _best(query: Query, index: Index, policy: Policy, stages: _Stages) -> Best:
    deadline = Deadline(policy.deadline_ms)
    with stages("embed"):
        asked = index.embedder.embed(query.text, query=True)
    with stages("search"):
        retrieved = retrieve(query, asked.vector, index, policy, deadline)
    with stages("choose"):
        found = candidates(query, asked, retrieved.hits, index)
    if not found:
        return Best(hits=retrieved.hits, degraded=retrieved.degraded)
    with stages("verify"):
        candidate, outcomes = first_that_passes(query, asked, found, retrieved.hits, index)
    order = dict.fromkeys([candidate.hit, *(one.hit for one in found), *retrieved.hits])
    return Best(candidate, outcomes, tuple(order), retrieved.degraded)


def _judge(
    query: Query, policy: Policy, best: Best, floor: float, note: str, index: Index
) -> Verdict:
    """What becomes of the best candidate under a ``floor``; ``note`` says what is special of it."""
    chosen = best.candidate
    if chosen is None:
        detail = f"no passage found{note}"
        return _refusal(query, policy, Reason.BELOW_FLOOR, best, floor, detail=detail)
    is_above = best.score >= floor
    above = Check("above_floor", is_above, f"score {best.score:.3f}, floor {floor:.3f}")
    best = replace(best, checks=(*best.checks, above))
    if not is_above:
        detail = f"top score {best.score:.3f} below floor {floor:.3f}{note}"
        return _refusal(query, policy, Reason.BELOW_FLOOR, best, floor, detail=detail)
    failed = next((check for check in best.checks if not check.passed), None)
    if failed:
        detail = f"{failed.name}: {failed.detail}{note}"
        return _refusal(query, policy, Reason.CHECK_FAILED, best, floor, detail=detail)
    source = chosen.hit.passage.id
    draft = Draft(f"{spoken_text(index, chosen.number)} [{source}]", (source,))
    return Verdict(
        decision=Decision.ANSWERED,
        reason=Reason.SUPPORTED,
        query=query,
        say=Spoken.strip(draft.text),
        score=best.score,
        floor=floor,
        hits=best.hits,
        draft=draft,
        citations=draft.citations,
        answered_by="extractive",
        checks=best.checks,
        detail=f"score {best.score:.3f}{note}",
        degraded=best.degraded,
    )


def _floor(query: Query, index: Index, policy: Policy) -> tuple[float | None, str]:
    """The floor in force, and what is to be said of it: the policy's, a measured one, a default.

    None for a language that has none, with the reason.
    """
    note = answerability.note(index.embedder)
    if policy.floor is not None:
        return policy.floor, note
    measured = index.calibrations.get(query.language)
    if measured:
        return measured.floor, note
    default = answerability.default_floor(index.embedder, query.language)
    if default is None:
        return None, f"no floor for language {query.language!r}"
    return default, f"{note} (default floor, not measured on these documents)"


def _refusal(
    query: Query,
    policy: Policy,
    reason: Reason,
    best: Best | None = None,
    floor: float | None = None,
    *,
    detail: str,
) -> Verdict:
    return Verdict(
        decision=Decision.REFUSED,
        reason=reason,
        query=query,
        say=Spoken(policy.refusal),
        score=best.score if best and best.candidate else None,
        floor=floor,
        hits=best.hits if best else (),
        checks=best.checks if best else (),
        detail=detail,
        degraded=best.degraded if best else (),
    )
