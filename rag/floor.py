"""A floor with a guarantee: the lowest that lets through few enough unanswerable questions.

A floor is chosen by the scores of unanswerable questions alone. Going down from the top, it is
the last one at which the exact upper bound on the rate of answering such a question still is at
most ``alpha`` (Bates et al., Distribution-free, risk-controlling prediction sets, JACM 68, 2021;
Angelopoulos et al., Learn then test, 2021). So with the stated confidence over the choice of the
questions that were measured, no more than ``alpha`` of further questions *of that kind* are
answered. Nothing is said about the scores' distribution, nor about questions of other kinds.

The unit is the question. Clips of one question in several voices are not independent, so an
unanswerable question counts as answered if it is answered in any of them: of its scores the
highest stands for it.

``ALPHA`` is one in ten: at a confidence of 95 % it takes 29 unanswerable questions, which a
business can write down in an hour; one in twenty takes 59. What another value would cost is
printed beside it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frontdesk import KnowledgeBaseError
from rag.answer import best_answer
from rag.answerability import DATA, weights_for
from rag.binomial import least_alpha, most_allowed, needed, upper
from rag.calibration import Calibration, Rate
from rag.choose import Best, spoken_text
from rag.embed import Embedder
from rag.histogram import Histogram
from rag.index import Index
from rag.questions import Asked
from rag.types import Decision, Policy

METHOD = (
    "lowest floor whose exact upper bound on the rate of unanswerable questions answered, in any "
    "of their voices, is at most alpha; each of them judged by the floor of all the others"
)
ALPHA = 0.10
CONFIDENCE = 0.95
FOLDS = 10
BEARABLE = 0.20
"""The over-refusal above which the two groups count as inseparable at alpha."""

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Measured:
    """One question as asked by one voice, the score of its best sentence, and what that says.

    ``score`` is from 0 to 1, and -1 where no sentence passes the checks: no floor lets it through.
    ``right`` is whether the sentence answers the question.
    """

    asked: Asked
    score: float
    right: bool
    say: str = ""

    @property
    def is_answerable(self) -> bool:
        """Whether the documents hold an answer."""
        return self.asked.question.decision is Decision.ANSWERED


def measure(
    index: Index,
    questions: Sequence[Asked],
    policy: Policy | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Measured]:
    """The score of every question that is to be answered or refused."""
    policy = policy or Policy()
    result: list[Measured] = []
    for done, one in enumerate(questions, 1):
        if one.question.decision is not Decision.CONVERSATION and one.query.text:
            best = best_answer(one.query, index, policy)
            say = spoken_text(index, best.candidate.number) if best.candidate else ""
            score = best.score if best.passed else -1.0
            result.append(Measured(one, score, _is_right(one, best, say), say))
        if progress:
            progress(done, len(questions))
    return result


def _is_right(asked: Asked, best: Best, say: str) -> bool:
    question = asked.question
    if not best.passed or best.candidate is None or question.decision is not Decision.ANSWERED:
        return False
    passage = best.candidate.hit.passage
    if not question.facts:
        return passage.id in question.relevant
    return question.is_answered(say, [passage])


def calibrate(
    index: Index,
    questions: Sequence[Asked],
    *,
    set_name: str,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
) -> Calibration:
    """Measure ``questions`` on ``index`` and choose the floor. See :func:`choose`."""
    return choose(
        measure(index, questions),
        embedder=index.embedder.hash,
        scorer=scorer_of(index.embedder),
        set_name=set_name,
        alpha=alpha,
        confidence=confidence,
    )


def scorer_of(embedder: Embedder) -> str:
    """What gives the scores, as the floors record it: a floor is of no use with another."""
    if weights_for(embedder.name, embedder.hash) is None:
        return "closeness"
    table = json.loads((DATA / f"answerability-{embedder.name}.json").read_text("utf-8"))
    fitted = json.dumps({**table, "floors": None}, sort_keys=True)
    return f"answerability-{hashlib.sha256(fitted.encode()).hexdigest()[:16]}"


def choose(
    measured: Sequence[Measured],
    *,
    embedder: str,
    set_name: str,
    scorer: str = "",
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
) -> Calibration:
    """The floor for ``measured``, with both error rates by floors set without the question.

    An answerable question sets no floor, and is judged by the one there is; an unanswerable one is
    judged by the floor of all the others. Clips of answerable ones of which more than a fifth of
    the words came out otherwise take no part: they no longer ask what is known.

    Raises:
        KnowledgeBaseError: if there are too few questions of either kind among them, or too many
            unanswerable ones have the highest score there is.
    """
    groups = Groups.of(measured)
    if not groups.answerable:
        raise KnowledgeBaseError(f"{set_name} needs answerable questions to set a floor; add some")
    n = len(groups.unanswerable)
    if (reason := shortage(n, alpha, confidence)) is not None:
        raise KnowledgeBaseError(f"{set_name} {reason}")
    floor = lowest_floor(list(groups.unanswerable.values()), alpha, confidence)
    # Equal scores may leave fewer above the floor than allowed. That is chance and shows no more,
    # unless the floor is 0, which is chosen before any is counted.
    counted = _allowed(n, alpha, confidence)
    if not floor:
        counted = sum(score >= floor for score in groups.unanswerable.values())
    refused = {q: share_below(scores, floor) for q, scores in groups.answerable.items()}
    let_through = _by_the_others(groups.unanswerable, alpha, confidence)
    over_refusal = Rate.of(sum(refused.values()), len(refused))
    return Calibration(
        floor=floor,
        alpha=alpha,
        confidence=confidence,
        bound=round(upper(counted, n, confidence), 4),
        method=METHOD,
        set=set_name,
        set_sha256=_digest(measured),
        embedder=embedder,
        scorer=scorer,
        n_answerable=len(groups.answerable),
        n_unanswerable=n,
        over_refusal=over_refusal,
        wrongly_answered=Rate.of(sum(let_through.values()), n),
        auc=round(auc(groups.means(), np.array(list(groups.unanswerable.values()))), 4),
        separable=over_refusal.rate <= BEARABLE,
        histogram=Histogram.of(
            groups.answerable.values(), [[score] for score in groups.unanswerable.values()]
        ),
        kinds={
            "over_refusal": _by_kind(refused, groups.kinds),
            "wrongly_answered": _by_kind(let_through, groups.kinds),
        },
    )


def choose_by_language(
    measured: Sequence[Measured],
    *,
    embedder: str,
    set_name: str,
    scorer: str = "",
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
) -> tuple[dict[str, Calibration], dict[str, str]]:
    """The floor of each language that was asked in; and why the others have none."""
    floors: dict[str, Calibration] = {}
    without: dict[str, str] = {}
    for language in sorted({one.asked.query.language for one in measured}):
        own = [one for one in measured if one.asked.query.language == language]
        try:
            floors[language] = choose(
                own,
                embedder=embedder,
                set_name=set_name,
                scorer=scorer,
                alpha=alpha,
                confidence=confidence,
            )
        except KnowledgeBaseError as error:
            without[language] = str(error)
    return floors, without


@dataclass(frozen=True, slots=True)
class Groups:
    """The scores of both groups by question id, and each question's kind.

    Of an answerable question those of every clip that was heard, of an unanswerable one the
    highest.
    """

    answerable: Mapping[str, list[float]]
    unanswerable: Mapping[str, float]
    kinds: Mapping[str, str]

    @classmethod
    def of(cls, measured: Iterable[Measured]) -> Groups:
        """Group what was measured."""
        answerable: defaultdict[str, list[float]] = defaultdict(list)
        unanswerable: dict[str, float] = {}
        kinds: dict[str, str] = {}
        for one in measured:
            question = one.asked.question
            kinds[question.id] = question.kind
            if one.is_answerable:
                if one.asked.is_heard:
                    answerable[question.id].append(one.score)
            else:
                unanswerable[question.id] = max(one.score, unanswerable.get(question.id, -1.0))
        return cls(dict(answerable), unanswerable, kinds)

    def means(self) -> NDArray[np.float64]:
        """The mean score of each answerable question, (questions,)."""
        return np.array([sum(scores) / len(scores) for scores in self.answerable.values()])


def lowest_floor(scores: Sequence[float], alpha: float, confidence: float) -> float:
    """The lowest floor at which the bound on the rate of ``scores`` let through is ``alpha``.

    Where so few cannot show that, the one that lets none of them through.

    Raises:
        KnowledgeBaseError: if that is above 1.
    """
    allowed = _allowed(len(scores), alpha, confidence)
    ordered = sorted(scores, reverse=True)
    floor = _just_above(ordered[allowed]) if allowed < len(ordered) else 0.0
    if floor > 1:
        raise KnowledgeBaseError(
            f"{allowed + 1} unanswerable questions score 1, the highest there is: no floor keeps "
            f"{alpha:.0%}; see whether the documents answer them after all"
        )
    return floor


def _allowed(n: int, alpha: float, confidence: float) -> int:
    """How many of ``n`` unanswerable questions a floor may let through."""
    return max(most_allowed(n, alpha, confidence), 0)


def _just_above(score: float) -> float:
    """The lowest floor that refuses a score; 0 for one of a question that failed the checks."""
    unit = 10**_DIGITS
    return 0.0 if score < 0 else round((math.floor(score * unit) + 1) / unit, _DIGITS)


def shortage(n: int, alpha: float, confidence: float) -> str | None:
    """What to say of ``n`` unanswerable questions that are too few for ``alpha``; else None."""
    wanted = needed(alpha, confidence)
    if n >= wanted:
        return None
    least = f"; {n} can show {least_alpha(n, confidence):.1%} at the least" if n else ""
    return (
        f"has {n} unanswerable questions, too few to show that at most {alpha:.0%} are answered "
        f"with {confidence:.0%} confidence: add {wanted - n}{least}"
    )


def folds_of(asked: Iterable[Asked], folds: int = FOLDS) -> dict[str, int]:
    """The fold of each question id; every fold gets its share of each kind of question."""
    result: dict[str, int] = {}
    seen: Counter[tuple[Decision, str]] = Counter()
    for one in asked:
        question = one.question
        if question.id not in result:
            group = (question.decision, question.kind)
            result[question.id] = seen[group] % folds
            seen[group] += 1
    return result


def auc(higher: NDArray[np.float64], lower: NDArray[np.float64]) -> float:
    """Area under the curve: how often one of ``higher`` exceeds one of ``lower``."""
    above = (higher[:, None] > lower[None, :]).mean()
    equal = (higher[:, None] == lower[None, :]).mean()
    return float(above + equal / 2)


def _by_the_others(
    scores: Mapping[str, float], alpha: float, confidence: float
) -> dict[str, float]:
    """Whether each question is answered at the floor that all the others set: 1 or 0."""
    ordered = sorted(scores.values(), reverse=True)
    allowed = _allowed(len(ordered) - 1, alpha, confidence)
    found: dict[str, float] = {}
    for question, score in scores.items():
        # Without a question among the first ones, the next score takes its place.
        at = allowed + (score >= ordered[allowed])
        floor = _just_above(ordered[at]) if at < len(ordered) else 0.0
        found[question] = float(score >= floor)
    return found


def share_below(scores: Sequence[float], floor: float) -> float:
    """The share of ``scores`` that a floor refuses."""
    return sum(score < floor for score in scores) / len(scores)


def _by_kind(happened: Mapping[str, float], kinds: Mapping[str, str]) -> dict[str, Rate]:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for question, value in happened.items():
        values[kinds[question]].append(value)
    return {kind: Rate.of(sum(values[kind]), len(values[kind])) for kind in sorted(values)}


def _digest(measured: Sequence[Measured]) -> str:
    rows = sorted((m.asked.question.id, m.asked.voice, m.asked.query.raw) for m in measured)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
