"""The answer path: one question in, one verdict out. Never an exception."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns

from rag import conversation, days, guard
from rag.choose import Best, Checker, against_rivals, candidates, first_that_passes
from rag.deadline import Deadline
from rag.emergency import as_emergency
from rag.index import Index
from rag.judge import floor_of, judge, refused
from rag.repair import RULE, second_query, wins
from rag.retrieve import retrieve
from rag.types import Check, Decision, Policy, Query, Reason, Verdict

_log = logging.getLogger(__name__)

# Where a call is about one place, those of others are in the way of its passages.
_OF_ALL_PLACES = 100


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
            verdict = refused(query, policy, Reason.RETRIEVAL_FAILED, detail=detail)
    return replace(verdict, timings_ms=stages.ms)


def best_answer(query: Query, index: Index, policy: Policy | None = None) -> Best:
    """The best candidate for ``query`` with its score and checks, whatever the floor is.

    The same path as :func:`answer` from the embedding on: floors are measured with this.
    """
    return _best(query, index, policy or Policy(), _Stages())


def _decide(query: Query, index: Index, policy: Policy, stages: _Stages) -> Verdict:
    query = as_emergency(query)
    # Documents name a holiday, callers its date; a call still remembers the date.
    query = replace(query, text=days.by_holiday(query.text))
    with stages("guard"):
        guarded = guard.check(query.raw, policy)
        said = None if guarded or query.within else conversation.recognise(query.raw)
    if said:
        return Verdict(Decision.CONVERSATION, said.reason, query, said.say)
    if not guarded and not re.search(r"[^\W\d]", query.text):  # numbers alone ask nothing
        guarded = guard.nothing_asked(query.text)
    if guarded:
        checked = (Check("input", False, guarded.detail),)
        return Verdict(
            Decision.REFUSED,
            guarded.reason,
            query,
            guarded.say,
            detail=guarded.detail,
            checks=checked,
        )
    floor, note = floor_of(query, index, policy)
    if floor is None:
        return refused(query, policy, Reason.BELOW_FLOOR, detail=note)
    best = _best(query, index, policy, stages)
    verdict = judge(query, policy, best, floor, note, index)
    if verdict.decision is Decision.ANSWERED or not policy.repair:
        return verdict
    with stages("repair"):
        return _repaired(query, policy, best, floor, note, index) or verdict


def _repaired(
    query: Query, policy: Policy, first: Best, floor: float, note: str, index: Index
) -> Verdict | None:
    """The answer to what may have been said instead of ``query``, which ``first`` came of.

    None unless it is better by the margin of :data:`rag.repair.RULE`, and passes all else.
    """
    if first.score < RULE.least and not index.kb.mishearings:
        return None  # it could not win
    repaired = second_query(query, index.lexicon, index.kb.mishearings)
    if repaired is None:
        return None
    meant = replace(repaired.query, changes=(*query.changes, "repaired"))
    second = _best(meant, index, policy, _Stages())
    passage = second.candidate.hit.passage if second.candidate else None
    if not wins(repaired, first.score, second.score, passage):
        return None
    verdict = judge(meant, policy, second, floor, note, index)
    if verdict.decision is not Decision.ANSWERED:
        return None
    read = "; ".join(f"{c.heard!r} read as {c.meant!r}: {c.why}" for c in repaired.changes)
    detail = f"{read}; score {first.score:.3f} became {second.score:.3f}"
    return replace(verdict, checks=(*verdict.checks, Check("repair", True, detail)))


def _best(query: Query, index: Index, policy: Policy, stages: _Stages) -> Best:
    deadline = Deadline(policy.deadline_ms)
    with stages("embed"):
        asked = index.embedder.embed(query.text, query=True)
    with stages("search"):
        wanted = policy if not query.document else replace(policy, candidates=_OF_ALL_PLACES)
        retrieved = retrieve(query, asked.vector, index, wanted, deadline)
    with stages("choose"):
        allowed = tuple(hit for hit in retrieved.hits if query.allows(hit.passage))
        found = candidates(query, asked, allowed, index)
    if not found:
        return Best(hits=retrieved.hits, degraded=retrieved.degraded)
    with stages("verify"):
        check = Checker.of(query, asked, retrieved.hits, index)
        candidate, outcomes = first_that_passes(found, check)
        candidate = against_rivals(candidate, found, check)
    order = dict.fromkeys([candidate.hit, *(one.hit for one in found), *retrieved.hits])
    return Best(candidate, outcomes, tuple(order), retrieved.degraded)
