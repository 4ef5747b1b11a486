"""Quality against gold answers, on the same path as a live call.

No question is judged by floors that it helped to set: the held-out voice takes no part in them,
and every other question is judged by floors set without its fold.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rag.answer import answer
from rag.calibration import Calibration
from rag.floor import ALPHA, choose, measure
from rag.index import Index
from rag.questions import Asked, Question
from rag.types import Decision, Policy, Verdict

COUNTS = (
    "n",
    "right",
    "wrong_fact",
    "over_refused",
    "wrongly_answered",
    "passed_checks_yet_wrong",
)
FOLDS = 5


def evaluate_answers(
    index: Index,
    questions: Sequence[Asked],
    *,
    held_out_voice: str | None = None,
    folds: int = FOLDS,
    alpha: float = ALPHA,
    policy: Policy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """The counts of ``eval answers --json``.

    ``n``, ``right``, ``wrong_fact`` (answered, but not with the facts), ``over_refused``,
    ``wrongly_answered``, ``passed_checks_yet_wrong`` and ``wrong`` (one entry a failure) over all
    voices but ``held_out_voice``, whose own counts are under that key. ``floors`` are the cosine
    and support floors set by all of them, ``folds`` those without each fold.
    """
    tuned = [one for one in questions if one.voice != held_out_voice]
    held_out = [one for one in questions if one.voice == held_out_voice]
    measured = measure(index, tuned, policy)
    fold_of = _folds(tuned, folds)
    total = len(questions)
    done = 0

    def judge(group: Sequence[Asked], floors: Calibration) -> list[tuple[Asked, Verdict]]:
        nonlocal done
        with_floors = replace(index, calibrations={"en": floors})
        judged = []
        for one in group:
            judged.append((one, answer(one.query, with_floors, policy)))
            done += 1
            if progress:
                progress(done, total)
        return judged

    def floors_without(fold: int | None) -> Calibration:
        kept = [m for m in measured if fold is None or fold_of[m.asked.question.id] != fold]
        return choose(kept, embedder=index.embedder.hash, set_name="fold", alpha=alpha)

    verdicts: list[tuple[Asked, Verdict]] = []
    floors: list[list[float]] = []
    for fold in range(folds):
        found = floors_without(fold)
        floors.append([found.floor, found.support_floor])
        verdicts += judge([one for one in tuned if fold_of[one.question.id] == fold], found)
    found = floors_without(None)
    result = counts(verdicts)
    result["held_out_voice"] = {"voice": held_out_voice, **counts(judge(held_out, found))}
    result["folds"] = floors
    result["floors"] = [found.floor, found.support_floor]
    return result


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


def evaluate_retrieval(index: Index, questions: Sequence[Asked], *, k: int = 10) -> dict[str, Any]:
    """The counts of ``eval retrieval --json`` for ``raw`` and ``rewritten`` questions, dense.

    Over the questions that have relevant passages. ``ndcg`` is at 10 with binary relevance.
    """
    answerable = [one for one in questions if one.question.relevant]
    return {
        "raw": {"dense": _ranking(index, [(o, o.query.raw) for o in answerable], k)},
        "rewritten": {"dense": _ranking(index, [(o, o.query.text) for o in answerable], k)},
    }


def _ranking(index: Index, texts: Sequence[tuple[Asked, str]], k: int) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for asked, text in texts:
        relevant = set(asked.question.relevant)
        scores = index.scores(index.embedder.embed(text).vector)
        order = np.argsort(-scores, kind="stable")[:k]
        found = [index.kb.passages[n].id in relevant for n in order]
        first = found.index(True) + 1 if any(found) else 0
        sums["recall_at_1"] += sum(found[:1]) / len(relevant)
        sums["recall_at_3"] += sum(found[:3]) / len(relevant)
        sums["hit_at_10"] += any(found)
        sums["mrr"] += 1 / first if first else 0.0
        gain = sum(hit / math.log2(n + 2) for n, hit in enumerate(found))
        sums["ndcg"] += gain / sum(1 / math.log2(n + 2) for n in range(min(k, len(relevant))))
    n = len(texts)
    names = ("recall_at_1", "recall_at_3", "hit_at_10", "mrr", "ndcg")
    return {**{name: round(sums[name] / n, 4) if n else 0.0 for name in names}, "n": n}


def _folds(asked: Sequence[Asked], folds: int) -> dict[str, int]:
    """The fold of each question id; every fold gets its share of each expected decision."""
    result: dict[str, int] = {}
    seen: Counter[Decision] = Counter()
    for one in asked:
        if one.question.id not in result:
            result[one.question.id] = seen[one.question.decision] % folds
            seen[one.question.decision] += 1
    return result
