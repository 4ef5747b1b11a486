"""Both error rates at the calibrated floor: no floor is judged on rows that set it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rag import Policy
from rag.calibration import Rate
from rag.floor import ALPHA, Measured, auc, choose, measure
from rag.index import Index
from rag.questions import Asked

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Case:
    """A question of one ``kind``, asked while the passages ``leave_out`` are absent.

    Cases of one ``group``, such as paraphrases of one question, are in one fold.
    """

    kind: str
    group: int
    asked: Asked
    leave_out: frozenset[str] = frozenset()

    @property
    def policy(self) -> Policy:
        """The product's own, without those passages."""
        return Policy(leave_out=self.leave_out)


def cross_fitted(
    index: Index, cases: Sequence[Case], *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """What came of each kind of case, by floors set on the other folds.

    For kinds that have an answer ``over_refused`` and ``wrong`` (another passage was quoted), for
    the others ``wrongly_answered``, each a rate with its 95 % interval; ``auc`` of the scores of
    the former against each of the latter; ``floors`` by fold.
    """
    measured = []
    for done, case in enumerate(cases, 1):
        measured += measure(index, [case.asked], case.policy)
        if progress:
            progress(done, len(cases))
    floors = [
        choose(
            [m for m, c in zip(measured, cases, strict=True) if c.group % FOLDS != fold],
            embedder=index.embedder.hash,
            set_name="the other folds",
        ).floor
        for fold in range(FOLDS)
    ]
    outcomes: defaultdict[str, list[str]] = defaultdict(list)
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for m, case in zip(measured, cases, strict=True):
        outcomes[case.kind].append(_outcome(m, floors[case.group % FOLDS]))
        scores[case.kind].append(m.score)
    has_answer = {c.kind: m.is_answerable for m, c in zip(measured, cases, strict=True)}
    answerable = np.array([s for kind in scores if has_answer[kind] for s in scores[kind]])
    kinds: dict[str, Any] = {}
    for kind, found in outcomes.items():
        errors = ("over_refused", "wrong") if has_answer[kind] else ("wrongly_answered",)
        rates = {e: asdict(Rate.of(found.count(e), len(found))) for e in errors}
        kinds[kind] = {"n": len(found), **rates}
        if not has_answer[kind]:
            kinds[kind]["auc"] = round(auc(answerable, np.array(scores[kind])), 4)
    return {"alpha": ALPHA, "kinds": kinds, "floors": floors}


def rows_of(figures: dict[str, Any]) -> list[list[object]]:
    """Kind and error, its rate, and the AUC, as rows of a table."""
    return [
        [f"{kind}: {error.replace('_', ' ')}", Rate(**rate), found.get("auc", "")]
        for kind, found in figures["kinds"].items()
        for error, rate in found.items()
        if isinstance(rate, dict)
    ]


def _outcome(measured: Measured, floor: float) -> str:
    if measured.score < floor:
        return "over_refused" if measured.is_answerable else "refused"
    if not measured.is_answerable:
        return "wrongly_answered"
    return "right" if measured.right else "wrong"
