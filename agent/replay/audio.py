"""A call from its audio: the real pipeline, from VAD to voice, on a simulated clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent.call import Call
from agent.replay.caller import RecordedCaller, ScriptedCaller
from agent.replay.case import Case, Pins, Turn
from agent.replay.clock import SimulatedLoop, run_simulated
from agent.replay.engines import ReplayEngines, SecondOpinions
from agent.replay.kept import KeptRecord
from agent.replay.line import Caller, SimulatedLine
from agent.replay.models import RECORDED, Models
from agent.replay.recorded import duration_s, turns_of
from agent.second_opinion import Opinions
from agent.session import Session
from frontdesk import ConfigError
from speech.audio import Int16
from telephony.recording import load_audio

SCRIPT_HZ = 8000
Events = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Heard:
    """One call's events; ``begun_ms`` is when each turn of its script began."""

    events: Events
    begun_ms: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        """How long the call took."""
        return duration_s(self.events)


def hear_case(
    case: Case, engines: ReplayEngines, models: Models = RECORDED, live: Opinions | None = None
) -> Heard:
    """The call in which a caller says the turns of ``case``.

    Raises:
        ConfigError: a turn has no audio, or its file cannot be read.
        StuckError: the call never ends.
    """
    if not case.has_audio:
        raise ConfigError("not every turn has audio: leave --audio out")
    tracks = [track_of(case, turn) for turn in case.turns]
    begun: list[float] = []

    def make(record: KeptRecord) -> Caller:
        def begins(number: int) -> None:
            begun.append(record.now_ms())

        return ScriptedCaller(case.turns, tracks, SCRIPT_HZ, begins)

    events = _run(make, SCRIPT_HZ, case, engines, models, live)
    return Heard(events, tuple(begun))


def hear_recording(
    track: Int16,
    rate_hz: int,
    case: Case,
    engines: ReplayEngines,
    models: Models = RECORDED,
    live: Opinions | None = None,
) -> Heard:
    """The call in which the caller says what stands on ``track``; ``case`` is its record's."""
    return Heard(
        _run(lambda record: RecordedCaller(track, rate_hz), rate_hz, case, engines, models, live)
    )


def _run(
    make: Callable[[KeptRecord], Caller],
    rate_hz: int,
    case: Case,
    engines: ReplayEngines,
    models: Models,
    live: Opinions | None,
) -> Events:
    texts = {turn.heard: turn.second for turn in case.turns if turn.second}
    words, rewriter = models.words_of(case, engines.index), models.rewriter_of(case)
    own = engines.for_call(words, rewriter, SecondOpinions(texts, live))

    async def call(loop: SimulatedLoop) -> Events:
        record = KeptRecord(loop.time)

        async def gone() -> None:
            await talk.gone()

        problem = str((case.pins.desk or {}).get("transfer", ""))
        line = SimulatedLine(make(record), rate_hz, gone, problem)
        session = Session(own.index, own.policy, models.standing(case.pins))
        talk = Call(own.settings, own, line, record, session=session)
        await talk.run()
        return record.events

    events: Events = run_simulated(call, case.pins.at)
    return events


def track_of(case: Case, turn: Turn) -> Int16:
    """What a caller says in ``turn``: int16, 8 kHz, mono.

    Raises:
        ConfigError: a file cannot be read, or there is no folder for it.
    """
    if turn.silence_s:
        return _silence(turn.silence_s)
    pieces = []
    for piece in turn.say:
        if isinstance(piece, str):
            if case.audio is None:
                raise ConfigError('the case names no folder for its audio: add "audio"')
            pieces.append(load_audio(case.audio / piece))
        else:
            pieces.append(_silence(piece))
    return np.concatenate(pieces)


def _silence(seconds: float) -> Int16:
    return np.zeros(round(seconds * SCRIPT_HZ), np.int16)


def results_of(case: Case, heard: Heard) -> tuple[dict[str, Any], ...]:
    """What came of each turn, in the shape of a case's, with what was heard and was said before.

    A turn in which the caller was taken to be done too soon counts with its last words.
    """
    begun = [*heard.begun_ms, *[float("inf")] * (len(case.turns) + 1 - len(heard.begun_ms))]
    verdicts = _verdicts(heard.events)
    rows = []
    for number, turn in enumerate(case.turns):
        span = begun[number], begun[number + 1]
        mine = [one for at, one in verdicts if span[0] <= at < span[1]]
        row: dict[str, Any] = {"heard": "", "decision": None, "said": _said(heard.events, *span)}
        if mine:
            first, last = mine[0], mine[-1]
            row = {**row, **last.expect, "heard": last.heard}
            row.setdefault("hand_over", "")
            row["before"], row["second"] = first.before, last.second
        if turn.silence_s:
            row = {"said": row["said"]} if not mine else row
        rows.append(row)
    return tuple(rows)


def _verdicts(events: Events) -> list[tuple[float, Turn]]:
    """The turns of a record, each with when it was answered."""
    times = [event["t_ms"] for event in events if event["event"] == "verdict"]
    return list(zip(times, turns_of(events), strict=True))


def _said(events: Events, since_ms: float, until_ms: float) -> list[str]:
    return [
        event["say"]
        for event in events
        if event["event"] == "said" and since_ms <= event["t_ms"] < until_ms
    ]


def matched(
    case: Case, heard: Heard, at_ms: Sequence[float]
) -> tuple[Case, tuple[dict[str, Any], ...]]:
    """The turns of a record beside those that the recording gave, by when they were answered.

    ``at_ms`` is when each turn of ``case`` was. One that came on neither side is empty there.
    """
    found = _verdicts(heard.events)
    turns: list[Turn] = []
    rows: list[dict[str, Any]] = []
    for turn, at in zip(case.turns, at_ms, strict=True):
        near = [one for one in found if abs(one[0] - at) <= _NEAR_MS]
        best = min(near, key=lambda one: abs(one[0] - at), default=None)
        turns.append(turn)
        if best is None:
            rows.append({"heard": "", "decision": None, "say": ""})
            continue
        found.remove(best)
        rows.append({**best[1].expect, "heard": best[1].heard, "before": best[1].before})
    for _, extra in found:
        expect = {"decision": None, "say": ""} if case.turns else {}
        turns.append(Turn(heard="", expect=expect))
        rows.append({**extra.expect, "heard": extra.heard})
    return Case(tuple(turns), case.pins, case.about), tuple(rows)


_NEAR_MS = 2500.0

__all__ = ["Heard", "Pins", "hear_case", "hear_recording", "matched", "results_of", "track_of"]
