"""Verdicts against gold answers: what was right to do against what was done, with bounds.

Everything is counted by what was asked: a question in one voice. The bounds are by question, since
the same question in several voices is no independent trial: each counts once, with the share of
its voices in which the thing happened. They are Wilson's 95 % interval (JASA 22, 1927).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag.calibration import Rate
from rag.days import named_days
from rag.questions import TYPED, Asked, Question, asked
from rag.rewrite import words
from rag.sentences import split_sentences
from rag.types import Decision, Verdict

COUNTS = (
    "n",
    "right",
    "wrong_fact",
    "over_refused",
    "wrongly_answered",
    "passed_checks_yet_wrong",
)
EXPECTED = {
    Decision.ANSWERED: "answer",
    Decision.REFUSED: "refuse",
    Decision.CONVERSATION: "conversation",
}
"""The rows of the confusion table: what was right to do."""
DONE = ("right_answer", "wrong_answer", "refused", "conversation")
"""Its columns. An answer to what the documents do not answer is a wrong one."""
SPOKEN_SENTENCES = 2
"""An answer of more is flagged: a caller does not keep it in mind."""

_WEEKEND = frozenset({"saturday", "sunday"})
_WORKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday"})


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as one voice asked it, what was said to it, and how that compares with the gold.

    ``on_special_day`` is of the question as written: what was misheard counts where it was asked.
    """

    asked: Asked
    verdict: Verdict
    outcome: str
    on_special_day: bool

    @property
    def expected(self) -> str:
        """The row of the confusion table."""
        return EXPECTED[self.asked.question.decision]

    @property
    def done(self) -> str:
        """The column of the confusion table."""
        if self.verdict.decision is Decision.ANSWERED:
            return "right_answer" if self.outcome == "right" else "wrong_answer"
        return "refused" if self.verdict.decision is Decision.REFUSED else "conversation"

    @property
    def passed_checks_yet_wrong(self) -> bool:
        """Whether a wrong answer was given that no check stopped."""
        passed = all(check.passed for check in self.verdict.checks)
        return self.done == "wrong_answer" and passed

    @property
    def sentences(self) -> int:
        """How many sentences are spoken."""
        return len(split_sentences(self.verdict.say.text))

    @property
    def is_long(self) -> bool:
        """Whether an answer is more than a caller keeps in mind."""
        is_answer = self.verdict.decision is Decision.ANSWERED
        return is_answer and self.sentences > SPOKEN_SENTENCES


@dataclass(frozen=True, slots=True)
class _Share:
    """A rate of the confusion table: which verdicts it is of, and which of them count."""

    of: str
    among: Callable[[Judged], bool]
    counted: Callable[[Judged], bool]


RATES: dict[str, _Share] = {
    "right": _Share("asked", lambda one: True, lambda one: one.outcome == "right"),
    "over_refused": _Share(
        "answerable",
        lambda one: one.expected == "answer",
        lambda one: one.outcome == "over_refused",
    ),
    "wrong_fact": _Share(
        "answered",
        lambda one: one.verdict.decision is Decision.ANSWERED,
        lambda one: one.outcome == "wrong_fact",
    ),
    "passed_checks_yet_wrong": _Share(
        "answered",
        lambda one: one.verdict.decision is Decision.ANSWERED,
        lambda one: one.passed_checks_yet_wrong,
    ),
    "refused": _Share(
        "unanswerable", lambda one: one.expected == "refuse", lambda one: one.done == "refused"
    ),
    "wrongly_answered": _Share(
        "unanswerable",
        lambda one: one.expected == "refuse",
        lambda one: one.outcome == "wrongly_answered",
    ),
    "conversation": _Share(
        "sentences of conversation",
        lambda one: one.expected == "conversation",
        lambda one: one.outcome == "right",
    ),
}
"""Every rate with its denominator. ``over_refused`` has those in it that were taken for
conversation; ``refused`` has not."""


def judged(
    verdicts: Iterable[tuple[Asked, Verdict]], *, fillers: frozenset[str] | None = None
) -> list[Judged]:
    """Compare the verdicts with the gold answers; ``fillers`` are those of the knowledge base."""
    verdicts = list(verdicts)
    special = special_days([one.question for one, _ in verdicts], fillers=fillers)
    return [
        Judged(one, verdict, judge_one(one.question, verdict), one.question.id in special)
        for one, verdict in verdicts
    ]


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


def special_days(
    questions: Iterable[Question], *, fillers: frozenset[str] | None = None
) -> frozenset[str]:
    """The ids of those that ask about Saturday, Sunday or a holiday, follow-ups resolved as typed.

    One about every day of the week is not one of them.
    """
    distinct = list({question.id: question for question in questions}.values())
    return frozenset(
        one.question.id
        for one in asked(distinct, [TYPED], fillers=fillers)
        if _is_special(one.query.text)
    )


def _is_special(text: str) -> bool:
    days = named_days(text)
    if days >= _WORKDAYS:
        return False
    return bool(days - _WORKDAYS) or bool({"holiday", "holidays"} & set(words(text)))


def figures(found: Sequence[Judged]) -> dict[str, Any]:
    """The counts of ``eval answers --json``, the confusion table, the rates, and the wrong ones."""
    return {
        **summary(found),
        "wrong": [wrong_json(one) for one in found if one.outcome != "right"],
        "long": [
            {"id": one.asked.question.id, "voice": one.asked.voice, "say": one.verdict.say.text}
            for one in found
            if one.is_long
        ],
    }


def summary(found: Sequence[Judged]) -> dict[str, Any]:
    """Counts, confusion table and rates, without the single questions."""
    tally = Counter(one.outcome for one in found)
    tally["n"] = len(found)
    tally["passed_checks_yet_wrong"] = sum(one.passed_checks_yet_wrong for one in found)
    cells = Counter((one.expected, one.done) for one in found)
    return {
        **{name: tally[name] for name in COUNTS},
        "confusion": {
            row: {column: cells[row, column] for column in DONE} for row in EXPECTED.values()
        },
        "rates": {name: rate(found, name) for name in RATES},
        "long_answers": sum(one.is_long for one in found),
    }


def by_group(found: Sequence[Judged]) -> dict[str, Any]:
    """The same by voice, by kind of question, by whether most words arrived, and for special days.

    ``heard`` are clips of which at most a fifth of the words came out otherwise.
    """
    return {
        "by_voice": _split(found, lambda one: one.asked.voice),
        "by_kind": _split(found, lambda one: one.asked.question.kind or "of no kind"),
        "by_hearing": _split(found, lambda one: "heard" if one.asked.is_heard else "misheard"),
        "special_days": summary([one for one in found if one.on_special_day]),
    }


def rate(found: Iterable[Judged], name: str) -> dict[str, Any]:
    """One of :data:`RATES`.

    ``count`` of ``asked`` (questions times voices) are what was counted; ``rate``, ``low`` and
    ``high`` are over the ``n`` questions. With ``any_voice`` of them it happened at least once,
    with ``every_voice`` each time.
    """
    share = RATES[name]
    happened: defaultdict[str, list[bool]] = defaultdict(list)
    for one in found:
        if share.among(one):
            happened[one.asked.question.id].append(share.counted(one))
    shares = [sum(voices) / len(voices) for voices in happened.values()]
    bound = Rate.of(sum(shares), len(shares))
    return {
        "of": share.of,
        "count": sum(map(sum, happened.values())),
        "asked": sum(map(len, happened.values())),
        "n": bound.n,
        "any_voice": sum(any(voices) for voices in happened.values()),
        "every_voice": sum(all(voices) for voices in happened.values()),
        "rate": bound.rate if bound.n else None,
        "low": bound.low,
        "high": bound.high,
    }


def wrong_json(one: Judged) -> dict[str, Any]:
    """All that a person needs to say which check should have caught it."""
    question, verdict = one.asked.question, one.verdict
    shown = verdict.citations or tuple(hit.passage.id for hit in verdict.hits[:1])
    return {
        "id": question.id,
        "kind": question.kind,
        "voice": one.asked.voice,
        "outcome": one.outcome,
        "special_day": one.on_special_day,
        "asked": question.text,
        "heard": verdict.query.raw,
        "query": verdict.query.text,
        "decision": verdict.decision.value,
        "reason": verdict.reason.value,
        "detail": verdict.detail,
        "answered_by": verdict.answered_by,
        "score": _rounded(verdict.score),
        "floor": _rounded(verdict.floor),
        "say": verdict.say.text,
        "sentences": one.sentences,
        "citations": list(verdict.citations),
        "passages": [
            {"id": hit.passage.id, "text": hit.passage.text}
            for hit in verdict.hits
            if hit.passage.id in shown
        ],
        "checks": [
            {"name": check.name, "passed": check.passed, "detail": check.detail}
            for check in verdict.checks
        ],
        "facts": [list(fact) for fact in question.facts],
        "relevant": list(question.relevant),
    }


def _split(found: Sequence[Judged], key: Callable[[Judged], str]) -> Mapping[str, dict[str, Any]]:
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in found:
        groups[key(one)].append(one)
    return {name: summary(groups[name]) for name in sorted(groups)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)
