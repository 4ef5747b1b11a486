"""Quality against gold answers, on the same path as a live call.

No question is judged by floors that it helped to set, unless :class:`FloorsFrom` says otherwise:
the held-out voice takes no part in them, and every other question is judged by floors set without
its fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from frontdesk import KnowledgeBaseError
from rag.answer import answer
from rag.answerability import default_floor
from rag.binomial import needed
from rag.calibration import Calibration
from rag.confusion import COUNTS as COUNTS
from rag.confusion import by_group, figures, judged
from rag.confusion import judge_one as judge_one
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
from rag.questions import Asked
from rag.retrieval_eval import evaluate_retrieval as evaluate_retrieval
from rag.types import Policy, Verdict

Floors = dict[str, Calibration]
Answered = tuple[Asked, Verdict]


class FloorsFrom(StrEnum):
    """What questions are judged by."""

    FOLDS = "folds"
    """Floors set by the other questions, for each tenth of them anew."""
    INDEX = "index"
    """The floors in force, which the questions may have helped to set."""
    DEFAULT = "default"
    """The floor that comes with the embedder: nothing was measured on these documents."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The verdict on every question: of the voices that may set floors, and of the held-out one.

    ``floors`` says what they were judged by, ``note`` the same in words; ``floor`` is the one by
    language, with folds the one that all of them set, and ``folds`` those set without each.
    """

    others: tuple[Answered, ...]
    held_out: tuple[Answered, ...]
    voice: str | None
    floors: FloorsFrom
    note: str
    floor: Mapping[str, float | None]
    folds: tuple[Mapping[str, float], ...] = ()
    fillers: frozenset[str] = field(default_factory=frozenset)

    def with_verdicts(self, others: Iterable[Verdict], held_out: Iterable[Verdict]) -> Answers:
        """The same questions with other verdicts, in their order."""
        pairs = [
            tuple((asked, new) for (asked, _), new in zip(before, after, strict=True))
            for before, after in ((self.others, others), (self.held_out, held_out))
        ]
        return replace(self, others=pairs[0], held_out=pairs[1])


def evaluate_answers(index: Index, questions: Sequence[Asked], **options: Any) -> dict[str, Any]:
    """The shape of ``eval answers --json``: :func:`answers_json` of :func:`answer_all`.

    Raises:
        KnowledgeBaseError: if there are too few questions to set a floor at ``alpha``.
    """
    return answers_json(answer_all(index, questions, **options))


def answer_all(
    index: Index,
    questions: Sequence[Asked],
    *,
    held_out_voice: str | None = None,
    floors: FloorsFrom | None = FloorsFrom.FOLDS,
    folds: int = FOLDS,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    policy: Policy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Answers:
    """Answer every question by the ``floors`` named; None: by folds if possible, else the index's.

    Raises:
        KnowledgeBaseError: if by folds, and there are too few questions to set a floor at
            ``alpha``.
    """
    report = progress or (lambda done, total: None)
    tuned = [one for one in questions if one.voice != held_out_voice]
    measured_first = 0
    if floors is FloorsFrom.DEFAULT or floors is FloorsFrom.INDEX:
        plan = _Plan.without_folds(index, floors)
    else:
        measured_first = len(tuned)
        total = measured_first + len(questions)
        measured = measure(index, tuned, policy, progress=lambda done, _: report(done, total))
        try:
            plan = _Plan.by_folds(index, measured, folds_of(tuned, folds), folds, alpha, confidence)
        except KnowledgeBaseError as error:
            if floors is FloorsFrom.FOLDS:
                raise
            plan = _Plan.without_folds(index, FloorsFrom.INDEX, f" ({error})")
    with_floors = [replace(index, calibrations=by) for by in (*plan.without, plan.together)]
    others: list[Answered] = []
    held_out: list[Answered] = []
    for done, one in enumerate(questions, measured_first + 1):
        is_held_out = one.voice == held_out_voice
        fold = -1 if is_held_out else plan.fold_of.get(one.question.id, -1)
        verdict = answer(one.query, with_floors[fold], policy)
        (held_out if is_held_out else others).append((one, verdict))
        report(done, measured_first + len(questions))
    return Answers(
        tuple(others),
        tuple(held_out),
        held_out_voice,
        plan.source,
        plan.note,
        {
            code: _floor(index, plan.together, code)
            for code in sorted({one.query.language for one in questions})
        },
        tuple({code: floor.floor for code, floor in by.items()} for by in plan.without),
        index.kb.fillers,
    )


def answers_json(answers: Answers) -> dict[str, Any]:
    """The shape of ``eval answers --json``.

    ``n``, ``right``, ``wrong_fact`` (answered, but not with the facts), ``over_refused``,
    ``wrongly_answered``, ``passed_checks_yet_wrong`` and ``wrong`` (one entry a failure) over all
    voices but the held-out one, whose own are under ``held_out_voice``; ``confusion`` and ``rates``
    beside them. ``all_voices`` has them together, and by voice, kind and day.
    """
    others = judged(answers.others, fillers=answers.fillers)
    held_out = judged(answers.held_out, fillers=answers.fillers)
    together = [*others, *held_out]
    return {
        **figures(others),
        "held_out_voice": {"voice": answers.voice, **figures(held_out)},
        "all_voices": {**figures(together), **by_group(together)},
        "floors": answers.floors.value,
        "floors_note": answers.note,
        "folds": [dict(fold) for fold in answers.folds],
        "floor": dict(answers.floor),
    }


def counts(verdicts: Sequence[Answered]) -> dict[str, Any]:
    """How the verdicts compare with the gold answers."""
    return figures(judged(verdicts))


@dataclass(frozen=True, slots=True)
class _Plan:
    """By which floors each question is judged: those set ``without`` its fold, else ``together``.

    ``fold_of`` is by question id. Without folds it is empty.
    """

    source: FloorsFrom
    note: str
    together: Floors
    without: tuple[Floors, ...] = ()
    fold_of: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def without_folds(cls, index: Index, source: FloorsFrom, why: str = "") -> _Plan:
        """By the floors of the index, or by none of them; ``why`` there are no folds."""
        floors = {} if source is FloorsFrom.DEFAULT else dict(index.calibrations)
        return cls(source, _note(floors) + why, floors)

    @classmethod
    def by_folds(
        cls,
        index: Index,
        measured: Sequence[Measured],
        fold_of: Mapping[str, int],
        folds: int,
        alpha: float,
        confidence: float,
    ) -> _Plan:
        """By floors set without each fold.

        Raises:
            KnowledgeBaseError: if for one of them there are too few questions.
        """

        def floors_without(fold: int | None) -> Floors:
            kept = [m for m in measured if fold is None or fold_of[m.asked.question.id] != fold]
            found, without = choose_by_language(
                kept,
                embedder=index.embedder.hash,
                set_name="the set of questions",
                alpha=alpha,
                confidence=confidence,
            )
            if not found:
                reasons = [
                    _shortage(measured, language, fold_of, folds, alpha, confidence) or reason
                    for language, reason in without.items()
                ]
                raise KnowledgeBaseError("; ".join(reasons) or "no question sets a floor")
            return found

        return cls(
            FloorsFrom.FOLDS,
            f"each question is judged by a floor set without it, in {folds} folds",
            floors_without(None),
            tuple(floors_without(fold) for fold in range(folds)),
            fold_of,
        )


def _floor(index: Index, floors: Floors, language: str) -> float | None:
    own = floors.get(language)
    return own.floor if own else default_floor(index.embedder, language)


def _note(floors: Floors) -> str:
    if not floors:
        return "the floor is the default one, not measured on these documents"
    sets = " and ".join(sorted({floor.set for floor in floors.values()}))
    return f"the floor is the one in force, set by {sets}; no question is left out of it"


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
