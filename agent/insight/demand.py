"""What callers wanted and did not get, put together: the answers to write next.

Pure: rows of the store in, clusters of like questions out, the most wanted first. Nothing is
drafted: what the answer is, only the business knows.

A question is wanted when it was refused for want of a passage, when it was the last one before a
caller was put through to a person, and when a caller asked it again within the call: in the same
words, or so that the same answer was given again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.insight.clusters import LIKE, clustered
from agent.records.rows import CallRow, TurnRow

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Questions to unit vectors (questions, dim)."""

MAX_QUESTIONS = 2000
"""Different wordings that are compared; of more, the most frequent."""
MAX_WORDINGS = 5
REASONS = frozenset({"below_floor", "check_failed"})
"""Refusals that a passage would have answered; not what was an instruction, or too long."""
REFUSED, TRANSFERRED, AGAIN = "refused", "transferred", "asked_again"
_ASKED = frozenset({"answered", "refused"})


@dataclass(frozen=True, slots=True)
class Wording:
    """How it was put, how often, and one turn in which it was."""

    heard: str
    times: int
    call: str
    turn: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """An answer to write: its most frequent ``question``, how often it was wanted and why.

    ``times`` and the whys count turns, ``calls`` calls and ``minutes`` their length. ``score`` is
    the best that the documents reached, against the ``floor`` it stayed under, or None.
    """

    question: str
    times: int
    calls: int
    minutes: float
    refused: int
    transferred: int
    asked_again: int
    score: float | None
    floor: float | None
    wordings: tuple[Wording, ...]

    def as_json(self) -> dict[str, Any]:
        """It as JSON has it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Miss:
    """One turn whose question was wanted, and why."""

    turn: TurnRow
    whys: frozenset[str]


def demand(
    calls: Iterable[CallRow], turns: Iterable[TurnRow], embed: Embed, like: float = LIKE
) -> list[Wanted]:
    """The answers to write. ``turns`` are in order of time; questions at least ``like`` alike
    (cosine) become one.
    """
    by_id = {call.id: call for call in calls}
    misses = missed(by_id, turns)
    if not misses:
        return []
    by_question: dict[str, list[Miss]] = {}
    for miss in misses:
        by_question.setdefault(miss.turn.question, []).append(miss)
    often = sorted(by_question, key=lambda text: (-len(by_question[text]), text))[:MAX_QUESTIONS]
    weights = [len(by_question[text]) for text in often]
    wanted = [
        _wanted([miss for number in members for miss in by_question[often[number]]], by_id)
        for members in clustered(embed(often), weights, like)
    ]
    return sorted(wanted, key=lambda one: (-one.calls, -one.times, one.question))


def csv_rows(wanted: Iterable[Wanted]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Names of columns, and a row an answer with its wordings in one cell."""
    names = tuple(one.name for one in fields(Wanted))
    return names, [
        (*(getattr(one, name) for name in names[:-1]), " | ".join(of.heard for of in one.wordings))
        for one in wanted
    ]


def missed(calls: Mapping[str, CallRow], turns: Iterable[TurnRow]) -> list[Miss]:
    """Every turn whose question was wanted, with why; ``turns`` are in order of time."""
    by_call: dict[str, list[TurnRow]] = {}
    for turn in turns:
        if turn.decision in _ASKED and turn.question:
            by_call.setdefault(turn.call, []).append(turn)
    found = []
    for name, of_call in by_call.items():
        call = calls.get(name)
        found += _missed_in(of_call, was_transferred=call is not None and bool(call.transferred))
    return found


def _missed_in(turns: Sequence[TurnRow], *, was_transferred: bool) -> list[Miss]:
    found = []
    for number, turn in enumerate(turns):
        whys = set()
        if turn.decision == "refused" and turn.reason in REASONS:
            whys.add(REFUSED)
        if was_transferred and number == len(turns) - 1:
            whys.add(TRANSFERRED)
        if any(_same(turn, earlier) for earlier in turns[:number]):
            whys.add(AGAIN)
        if whys:
            found.append(Miss(turn, frozenset(whys)))
    return found


def _same(turn: TurnRow, earlier: TurnRow) -> bool:
    """Whether it asks again: the same, or what the same answer was given to."""
    both = turn.decision == earlier.decision == "answered"
    return turn.question == earlier.question or (both and turn.say == earlier.say)


def _wanted(misses: list[Miss], calls: Mapping[str, CallRow]) -> Wanted:
    whys = Counter(why for miss in misses for why in miss.whys)
    names = {miss.turn.call for miss in misses}
    seconds = sum(calls[name].seconds for name in names if name in calls)
    questions = Counter(miss.turn.question for miss in misses)
    refused = [
        miss.turn
        for miss in misses
        if miss.turn.decision == "refused" and miss.turn.score is not None
    ]
    best = max(refused, key=lambda turn: turn.score or 0.0, default=None)
    return Wanted(
        question=min(questions, key=lambda text: (-questions[text], text)),
        times=len(misses),
        calls=len(names),
        minutes=round(seconds / 60, 1),
        refused=whys[REFUSED],
        transferred=whys[TRANSFERRED],
        asked_again=whys[AGAIN],
        score=best.score if best else None,
        floor=best.floor if best else None,
        wordings=_wordings(misses),
    )


def _wordings(misses: list[Miss]) -> tuple[Wording, ...]:
    heard = Counter(miss.turn.heard for miss in misses)
    last = {miss.turn.heard: miss.turn for miss in misses}
    often = sorted(heard, key=lambda text: (-heard[text], text))[:MAX_WORDINGS]
    return tuple(Wording(text, heard[text], last[text].call, last[text].turn) for text in often)
