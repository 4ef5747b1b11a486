"""The answer path: one question in, one verdict out. Never an exception."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns

from frontdesk import Spoken
from rag import conversation, guard
from rag.asked import is_special_case
from rag.calibration import Calibration
from rag.embed import Embedding
from rag.index import Index
from rag.types import Check, Decision, Draft, Hit, Policy, Query, Reason, Verdict
from rag.verify import checks

__all__ = ["Candidate", "Policy", "answer", "candidates", "first_that_passes", "spoken_text"]

_log = logging.getLogger(__name__)

# A sentence that leans on the one before it is spoken with it.
_LEANS = re.compile(r"(?:it|its|they|their|this|these|those|that|he|she|then|otherwise)\b", re.I)

_PASSAGE_SHARE = 0.25
_SPECIAL_CASE = 0.2
_FAR_BEHIND = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be the answer, and what speaks for it.

    ``support`` is how far the question's words are found in the sentence and, at a third of the
    weight, in its passage. ``rank`` orders candidates: the sentence's cosine plus twice the
    support, less for a special case that was not asked for. ``number`` is the sentence's in the
    index.
    """

    hit: Hit
    number: int
    rank: float
    support: float


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


def candidates(
    query: Query, asked: Embedding, hits: Sequence[Hit], index: Index
) -> list[Candidate]:
    """Every sentence of the passages ``hits``, best first."""
    found: list[Candidate] = []
    weights = index.weights(asked.pieces, query.focus)
    for hit in hits:
        passage = index.passage_number(hit.passage.id)
        in_passage, in_sentences = index.support(asked, weights, passage)
        for number, in_sentence in zip(index.sentence_numbers(passage), in_sentences, strict=True):
            support = (1 - _PASSAGE_SHARE) * in_sentence + _PASSAGE_SHARE * in_passage
            rank = float(index.sentence_vectors[number] @ asked.vector) + 2 * support
            if is_special_case(query.text, index.sentences[number].text):
                rank -= _SPECIAL_CASE
            found.append(Candidate(hit, number, rank, support))
    return sorted(found, key=lambda candidate: -candidate.rank)


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
    lowest = -math.inf
    for candidate in found:
        if candidate.rank < lowest:
            break
        passage, say = candidate.hit.passage, spoken_text(index, candidate.number)
        outcomes = checks(query.text, say, passage.id, ids, passage.text)
        if all(check.passed for check in outcomes):
            other = index.namesake(asked, query.focus, candidate.number)
            outcomes = (*outcomes, Check("not_a_namesake", not other, other))
            if not other:
                return candidate, outcomes
        if [check.name for check in outcomes if not check.passed] == ["asked_day"]:
            lowest = max(lowest, candidate.rank - _FAR_BEHIND)
        for_first = for_first or outcomes
    return found[0], for_first


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
    calibration = index.calibrations.get(query.language)
    if not calibration and (policy.floor is None or policy.support_floor is None):
        return _refusal(
            query, policy, Reason.BELOW_FLOOR, detail=f"no floor for language {query.language!r}"
        )
    with stages("embed"):
        asked = index.embedder.embed(query.text)
    with stages("search"):
        hits = index.search(asked.vector, policy.candidates)
    return _judge(query, index, policy, calibration, asked, hits, stages)


def _judge(
    query: Query,
    index: Index,
    policy: Policy,
    calibration: Calibration | None,
    asked: Embedding,
    hits: tuple[Hit, ...],
    stages: _Stages,
) -> Verdict:
    floor, support_floor = _floors(policy, calibration)
    score = hits[0].score
    note = " (default floor, not measured on these documents)" if _is_default(calibration) else ""
    if not score >= floor:
        detail = f"top score {score:.3f} below floor {floor:.3f}{note}"
        return _refusal(query, policy, Reason.BELOW_FLOOR, score, floor, hits, detail=detail)
    with stages("choose"):
        found = candidates(query, asked, hits, index)
    with stages("verify"):
        best, outcomes = first_that_passes(query, asked, found, hits, index)
    outcomes = (*outcomes, _support_check(best, support_floor))
    failed = next((check for check in outcomes if not check.passed), None)
    if failed:
        detail = f"{failed.name}: {failed.detail}{note}"
        return _refusal(query, policy, Reason.CHECK_FAILED, score, floor, hits, outcomes, detail)
    source = best.hit.passage.id
    draft = Draft(f"{spoken_text(index, best.number)} [{source}]", (source,))
    return Verdict(
        decision=Decision.ANSWERED,
        reason=Reason.SUPPORTED,
        query=query,
        say=Spoken.strip(draft.text),
        score=score,
        floor=floor,
        hits=hits,
        draft=draft,
        citations=draft.citations,
        answered_by="extractive",
        checks=outcomes,
        detail=f"score {score:.3f}, support {best.support:.3f}{note}",
    )


def _floors(policy: Policy, calibration: Calibration | None) -> tuple[float, float]:
    """The floors in force; a language without measured ones has those of the policy."""
    floor, support = policy.floor, policy.support_floor
    if calibration:
        floor = calibration.floor if floor is None else floor
        support = calibration.support_floor if support is None else support
    # Fail closed: no cosine exceeds 1.
    return 2.0 if floor is None else floor, 2.0 if support is None else support


def _is_default(calibration: Calibration | None) -> bool:
    return calibration is not None and calibration.is_default


def _support_check(candidate: Candidate, floor: float) -> Check:
    detail = f"support {candidate.support:.3f}, floor {floor:.3f}"
    return Check("words_supported", candidate.support >= floor, detail)


def _refusal(
    query: Query,
    policy: Policy,
    reason: Reason,
    score: float | None = None,
    floor: float | None = None,
    hits: tuple[Hit, ...] = (),
    checks: tuple[Check, ...] = (),
    detail: str = "",
) -> Verdict:
    return Verdict(
        decision=Decision.REFUSED,
        reason=reason,
        query=query,
        say=Spoken(policy.refusal),
        score=score,
        floor=floor,
        hits=hits,
        checks=checks,
        detail=detail,
    )
