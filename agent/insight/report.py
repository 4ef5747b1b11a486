"""A day's or a week's report: what came of the calls, how fast, what was asked, what was marked.

Pure: rows of the store in, a report out. Percentiles are observed values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np

from agent.insight.period import Period
from agent.records.rows import CallRow, Mark, TurnRow

TOP = 15
_ASKED = ("answered", "refused")  # not what was only said: thanks, goodbye


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of a stretch of time. ``calls``, ``transferred`` and ``hung_up`` (by the caller)
    count calls; ``turns``, ``answered`` and ``refused`` count turns.
    """

    calls: int = 0
    minutes: float = 0.0
    turns: int = 0
    answered: int = 0
    refused: int = 0
    transferred: int = 0
    hung_up: int = 0
    reply_p50_ms: float | None = None
    reply_p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and how it went; ``heard`` is its most frequent wording."""

    question: str
    heard: str
    times: int
    answered: int
    refused: int


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer that a person marked wrong or doubtful."""

    label: str
    note: str
    call: str
    turn: int
    heard: str
    say: str


@dataclass(frozen=True, slots=True)
class Report:
    """What :func:`report` found. ``parts`` are days, or the hours of one day, each with its
    figures; ``marks`` counts turns by their last mark.
    """

    period: Period
    total: Figures
    parts: tuple[tuple[str, Figures], ...]
    marks: dict[str, int]
    top: tuple[Asked, ...] = ()
    judged: tuple[Judged, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """It as JSON has it."""
        return {
            "since": str(self.period.first),
            "until": str(self.period.last),
            "zone": str(self.period.zone),
            "total": asdict(self.total),
            "marks": self.marks,
            "parts": [{"at": at} | asdict(figures) for at, figures in self.parts],
            "top": [asdict(one) for one in self.top],
            "judged": [asdict(one) for one in self.judged],
        }

    def csv_rows(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """Names of columns and a row a part, the last one of the whole."""
        names = ("at", *(one.name for one in fields(Figures)))
        rows = [*self.parts, ("total", self.total)]
        return names, [(at, *astuple(figures)) for at, figures in rows]


def report(period: Period, calls: Iterable[CallRow], turns: Iterable[TurnRow]) -> Report:
    """The report of ``calls`` and ``turns``, which are those of the ``period``."""
    calls, turns = list(calls), list(turns)
    last = {(turn.call, turn.turn): turn.marks[-1] for turn in turns if turn.marks}
    return Report(
        period,
        _figures(calls, turns),
        _parts(period, calls, turns),
        _counted(last.values()),
        _top(turns),
        _judged(turns, last),
    )


def _figures(calls: Sequence[CallRow], turns: Sequence[TurnRow]) -> Figures:
    decided = Counter(turn.decision for turn in turns)
    p50, p95 = _percentiles([turn.reply_ms for turn in turns if turn.reply_ms is not None])
    return Figures(
        calls=len(calls),
        minutes=round(sum(call.seconds for call in calls) / 60, 1),
        turns=len(turns),
        answered=decided["answered"],
        refused=decided["refused"],
        transferred=sum(bool(call.transferred) for call in calls),
        hung_up=sum(call.hung_up_by == "caller" for call in calls),
        reply_p50_ms=p50,
        reply_p95_ms=p95,
    )


def _percentiles(values_ms: Sequence[float]) -> tuple[float | None, float | None]:
    if not values_ms:
        return None, None
    found = np.percentile(np.asarray(values_ms), (50, 95), method="lower")
    return float(found[0]), float(found[1])


def _parts(
    period: Period, calls: Sequence[CallRow], turns: Sequence[TurnRow]
) -> tuple[tuple[str, Figures], ...]:
    by_part: dict[str, tuple[list[CallRow], list[TurnRow]]]
    by_part = {at: ([], []) for at in period.parts()}
    for call in calls:
        if (at := period.part_of(call.started_at)) in by_part:
            by_part[at][0].append(call)
    for turn in turns:
        if (at := period.part_of(turn.at)) in by_part:
            by_part[at][1].append(turn)
    return tuple((at, _figures(*found)) for at, found in by_part.items())


def _counted(marks: Iterable[Mark]) -> dict[str, int]:
    found = Counter(mark.label for mark in marks)
    return {label: found[label] for label in ("right", "wrong", "doubtful")}


def _top(turns: Iterable[TurnRow]) -> tuple[Asked, ...]:
    wordings: dict[str, Counter[str]] = {}
    decided: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn.decision in _ASKED and turn.question:
            wordings.setdefault(turn.question, Counter())[turn.heard] += 1
            decided.setdefault(turn.question, Counter())[turn.decision] += 1
    asked = [
        Asked(
            question,
            heard.most_common(1)[0][0],
            heard.total(),
            decided[question]["answered"],
            decided[question]["refused"],
        )
        for question, heard in wordings.items()
    ]
    return tuple(sorted(asked, key=lambda one: (-one.times, one.question))[:TOP])


def _judged(turns: Iterable[TurnRow], last: dict[tuple[str, int], Mark]) -> tuple[Judged, ...]:
    found = []
    for turn in turns:
        mark = last.get((turn.call, turn.turn))
        if mark is not None and mark.label != "right":
            found.append(Judged(mark.label, mark.note, turn.call, turn.turn, turn.heard, turn.say))
    return tuple(sorted(found, key=lambda one: (one.label != "wrong", one.call, one.turn)))
