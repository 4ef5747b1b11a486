"""Quality against gold answers, on the same path as a live call.

No question is judged by floors that it helped to set: the held-out voice takes no part in them,
and every other question is judged by floors set without its fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from frontdesk import KnowledgeBaseError
from rag.answer import answer
from rag.binomial import needed
from rag.calibration import Calibration
from rag.floor import (
    ALPHA,
    CONFIDENCE,
    FOLDS,
    Groups,
    Measured,
    choose_by_language,
    folds_of,
    measure,
)
from rag.index import Index
from rag.questions import Asked, Question
from rag.retrieval_eval import evaluate_retrieval as evaluate_retrieval
from rag.types import Decision, Policy, Verdict

Floors = dict[str, Calibration]
COUNTS = (
    "n",
    "right",
    "wrong_fact",
    "over_refused",
    "wrongly_answered",
    "passed_checks_yet_wrong",
)


def evaluate_answers(
    index: Index,
    questions: Sequence[Asked],
    *,
    held_out_voice: str | None = None,
    folds: int = FOLDS,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    policy: Policy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """The counts of ``eval answers --json``.

    ``n``, ``right``, ``wrong_fact`` (answered, but not with the facts), ``over_refused``,
    ``wrongly_answered``, ``passed_checks_yet_wrong`` and ``wrong`` (one entry a failure) over all
    voices but ``held_out_voice``, whose own counts are under that key. ``floor`` is the one set by
    all of them, by language; ``folds`` those set without each fold.

    Raises:
        KnowledgeBaseError: if there are too few questions to set a floor at ``alpha``.
    """
    tuned = [one for one in questions if one.voice != held_out_voice]
    held_out = [one for one in questions if one.voice == held_out_voice]
    measured = measure(index, tuned, policy)
    fold_of = folds_of(tuned, folds)
    total = len(questions)
    done = 0

    def judge(group: Sequence[Asked], floors: Floors) -> list[tuple[Asked, Verdict]]:
        nonlocal done
        with_floors = replace(index, calibrations=floors)
        judged = []
        for one in group:
            judged.append((one, answer(one.query, with_floors, policy)))
            done += 1
            if progress:
                progress(done, total)
        return judged

    def floors_without(fold: int | None) -> Floors:
        kept = [m for m in measured if fold is None or fold_of[m.asked.question.id] != fold]
        floors, without = choose_by_language(
            kept,
            embedder=index.embedder.hash,
            set_name="the set of questions",
            alpha=alpha,
            confidence=confidence,
        )
        if not floors:
            reasons = [
                _shortage(measured, language, fold_of, folds, alpha, confidence) or reason
                for language, reason in without.items()
            ]
            raise KnowledgeBaseError("; ".join(reasons) or "no question sets a floor")
        return floors

    verdicts: list[tuple[Asked, Verdict]] = []
    by_fold: list[dict[str, float]] = []
    for fold in range(folds):
        found = floors_without(fold)
        by_fold.append({language: floor.floor for language, floor in found.items()})
        verdicts += judge([one for one in tuned if fold_of[one.question.id] == fold], found)
    found = floors_without(None)
    result = counts(verdicts)
    result["held_out_voice"] = {"voice": held_out_voice, **counts(judge(held_out, found))}
    result["folds"] = by_fold
    result["floor"] = {language: floor.floor for language, floor in found.items()}
    return result


def _shortage(
    measured: Iterable[Measured],
    language: str,
    fold_of: Mapping[str, int],
    folds: int,
    alpha: float,
    confidence: float,
) -> str | None:
    """What to say if without one of the folds too few unanswerable questions are left.

    Of those that are added, all of one kind, a fold takes its share, which sets no floor for it:
    with ``m`` more, ``m - ceil(m / folds)`` are left.
    """
    own = Groups.of(one for one in measured if one.asked.query.language == language).unanswerable
    largest = max(Counter(fold_of[question] for question in own).values(), default=0)
    left, wanted = len(own) - largest, needed(alpha, confidence)
    if left >= wanted:
        return None
    more = -(-(wanted - left) * folds // (folds - 1))
    return (
        f"the set of questions has {len(own)} unanswerable questions, too few for {folds} folds: "
        f"each is judged by the others, {left} at the least, and it takes {wanted} to show that at "
        f"most {alpha:.0%} are answered with {confidence:.0%} confidence: add {more}"
    )


def counts(verdicts: Sequence[tuple[Asked, Verdict]]) -> dict[str, Any]:
    """How the verdicts compare with the gold answers."""
    tally = Counter(dict.fromkeys(COUNTS, 0))
    wrong: list[dict[str, Any]] = []
    for asked, verdict in verdicts:
        outcome = judge_one(asked.question, verdict)
        tally["n"] += 1
        tally[outcome] += 1
        if outcome == "right":
            continue
        if verdict.decision is Decision.ANSWERED:
            tally["passed_checks_yet_wrong"] += all(check.passed for check in verdict.checks)
        wrong.append(
            {
                "id": asked.question.id,
                "voice": asked.voice,
                "outcome": outcome,
                "heard": asked.query.raw,
                "query": asked.query.text,
                "decision": verdict.decision.value,
                "reason": verdict.reason.value,
                "detail": verdict.detail,
                "say": verdict.say.text,
                "citations": list(verdict.citations),
                "facts": [list(fact) for fact in asked.question.facts],
            }
        )
    return {**{name: tally[name] for name in COUNTS}, "wrong": wrong}


def judge_one(question: Question, verdict: Verdict) -> str:
    """``right``, ``wrong_fact``, ``over_refused`` or ``wrongly_answered``.

    An answer is right if it says every fact and cites a relevant passage (or one that holds every
    fact). A call-control sentence is right if it was taken as one; looked up and refused, it
    counts as over-refused.
    """
    decision, expected = verdict.decision, question.decision
    if expected is Decision.ANSWERED:
        if decision is not Decision.ANSWERED:
            return "over_refused"
        cited = [hit.passage for hit in verdict.hits if hit.passage.id in verdict.citations]
        return "right" if question.is_answered(verdict.say.text, cited) else "wrong_fact"
    if decision is Decision.ANSWERED:
        return "wrongly_answered"
    if decision is expected:
        return "right"
    return "over_refused" if expected is Decision.CONVERSATION else "right"
