"""What came of each turn and each call: what was right to do against what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.simulated.ear import Heard, outcome_by_ear
from bench.simulated.held import Events, Held
from bench.simulated.judging import last_verdict, outcome_of
from bench.simulated.plan import Conversation, Expect, Turn
from bench.simulated.sound import AROUND_S
from rag.types import Passage
from telephony.caller import CallResult, TurnResult
from telephony.caller_types import AUDIBLE

_CALL_OVER = "the call was not over after"
_EDGE_S = 0.1
_QUIET_S = 0.3
_FRAME = 160
_RATE_HZ = 8000


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """One turn that was reached. ``crossed``: the agent began to speak while the caller spoke.

    ``latency_ms`` runs from the end of the caller's words, without the noise behind them;
    ``by_ear`` is the outcome by ``listened``, what was heard of the reply, where it was.
    """

    turn: Turn
    outcome: str
    heard: str
    said: str
    decision: str
    reason: str
    score: float | None
    floor: float | None
    citations: tuple[str, ...]
    crossed: bool
    latency_ms: float | None
    barge_in_ms: float | None
    by_ear: str | None = None
    listened: str = ""


@dataclass(frozen=True, eq=False)
class CallOutcome:
    """One call. ``problem`` is how it did not end properly; '' for a call that did."""

    held: Held
    turns: tuple[TurnOutcome, ...]
    not_reached: int
    problem: str

    @property
    def call(self) -> Conversation:
        """What was planned."""
        return self.held.call

    @property
    def failed(self) -> bool:
        """Whether a person should look at it."""
        return bool(self.problem) or any(t.outcome != "right" or t.crossed for t in self.turns)


def judge_call(
    held: Held, passages: Mapping[str, Passage], heard: Heard | None = None
) -> CallOutcome:
    """Judge every turn of a call by the agent's record of it, or by what was ``heard`` after each.

    With both, the record counts, and the ear's outcome stands beside it. A turn that a hang-up or
    a hand-over came before is not judged, nor one whose reply had not begun by then.
    """
    events = held.events or []
    windows = _windows(held.result, events)
    turns = [
        _judge_turn(held, turn, result, window, passages)
        for turn, result, window in zip(held.call.turns, held.result.turns, windows, strict=True)
        if result.start_s is not None
    ]
    if turns and _hung_up_as_planned(held) and not held.result.turns[len(turns) - 1].answered:
        turns.pop()
    if heard is not None:
        turns = _with_ear(turns, heard, is_alone=held.events is None)
    not_reached = len(held.call.turns) - len(turns)
    problem = _problem(held, turns, by_ear=heard is not None)
    return CallOutcome(held, tuple(turns), not_reached, problem)


def _with_ear(turns: Sequence[TurnOutcome], heard: Heard, *, is_alone: bool) -> list[TurnOutcome]:
    """What the ear says beside the record; alone, it leaves out what was cut short."""
    judged = []
    for one, words in zip(turns, heard, strict=False):
        if words is None:
            judged += [] if is_alone else [one]
            continue
        by_ear = outcome_by_ear(one.turn.gold, words)
        one = replace(one, by_ear=by_ear, listened=words)
        judged.append(replace(one, outcome=by_ear, said=words) if is_alone else one)
    return judged


def _windows(result: CallResult, events: Events) -> list[Events]:
    """The events that belong to each turn: from its first sample to the next turn's.

    The two clocks are laid on each other by the greeting, which both sides have timed.
    """
    began = next((e["t_ms"] for e in events if e["event"] == "reply_started"), None)
    shift_ms = 0.0
    if began is not None and result.greeting_ms is not None:
        shift_ms = result.greeting_ms - float(began)
    starts = [t.start_s * 1000 for t in result.turns if t.start_s is not None]
    windows: list[Events] = [[] for _ in result.turns]
    for event in events:
        at = sum(start <= float(event["t_ms"]) + shift_ms for start in starts)
        if at:
            windows[at - 1].append(event)
    return windows


def _judge_turn(
    held: Held,
    turn: Turn,
    result: TurnResult,
    window: Events,
    passages: Mapping[str, Passage],
) -> TurnOutcome:
    last = last_verdict(window)
    outcome = outcome_of(turn.gold, window, passages)
    edge_s = AROUND_S if held.call.noise and turn.words else 0.0
    crossed = _crossed(turn, result, held.result.recording, edge_s)
    is_silent = bool(last.get("say")) and not (result.answered or crossed)
    if is_silent and turn.gold.expect is not Expect.NOTHING:
        outcome = "unanswered"  # decided, and never heard
    said = [str(event["say"]) for event in window if event["event"] in ("verdict", "said")]
    latency_ms = result.latency_ms
    return TurnOutcome(
        turn=turn,
        outcome=outcome,
        heard=str(last.get("heard", "")),
        said=" / ".join(filter(None, said)),
        decision=str(last.get("decision", "")),
        reason=str(last.get("reason", "")),
        score=last.get("score"),
        floor=last.get("floor"),
        citations=tuple(last.get("citations", ())),
        crossed=crossed,
        latency_ms=None if latency_ms is None else latency_ms + edge_s * 1000,
        barge_in_ms=result.barge_in_ms,
    )


def _hung_up_as_planned(held: Held) -> bool:
    error = held.result.error
    return held.call.hangs_up_s is not None and bool(error and error.startswith(_CALL_OVER))


def _problem(held: Held, turns: Sequence[TurnOutcome], *, by_ear: bool) -> str:
    """How the call did not end properly."""
    if held.result.error and not _hung_up_as_planned(held):
        return held.result.error
    if held.events is None and not by_ear:
        return "the agent has no record of it"
    kinds = {event["event"] for event in held.events or []}
    if held.events is not None and "call_ended" not in kinds:
        return "its record has no end"
    return _ended_by_agent(held, turns, kinds)


def _ended_by_agent(held: Held, turns: Sequence[TurnOutcome], kinds: Set[str]) -> str:
    """Whether the agent hung up when, and only when, it should."""
    by_agent = held.result.ended_by == "agent"
    expected = {turn.turn.gold.expect for turn in turns if turn.outcome == "right"}
    if turns and turns[-1].turn.gold.expect is Expect.GOODBYE:
        said_bye = turns[-1].outcome == "right"
        return "the agent did not hang up after goodbye" if said_bye and not by_agent else ""
    if by_agent and Expect.PERSON not in expected and "handing_over" not in kinds:
        return "the agent hung up on the caller"
    return ""


def _crossed(turn: Turn, result: TurnResult, recording: NDArray[np.int16], edge_s: float) -> bool:
    """Whether the agent began to speak while the caller spoke."""
    if not turn.words or result.start_s is None or result.end_s is None:
        return False
    first, last = result.start_s + edge_s + _EDGE_S, result.end_s - edge_s - _EDGE_S
    return any(first < at < last for at in onsets(recording[:, 1]))


def onsets(agent: NDArray[np.int16]) -> list[float]:
    """When, in seconds, the agent (int16, 8 kHz) began to speak after at least 0.3 s of quiet."""
    size = len(agent) // _FRAME * _FRAME
    frames = np.abs(agent[:size].astype(np.int32)).reshape(-1, _FRAME)
    loud = np.flatnonzero(frames.max(axis=1) > AUDIBLE) if size else np.zeros(0, np.int64)
    quiet = int(_QUIET_S * _RATE_HZ / _FRAME)
    begun = [int(at) for n, at in enumerate(loud) if n == 0 or at - loud[n - 1] > quiet]
    return [at * _FRAME / _RATE_HZ for at in begun]
