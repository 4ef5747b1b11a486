"""How often the agent takes a pause for the end of a turn, and how long it waits at a real end.

    python -m bench.cutoffs --data DIR [--clips N] [--evidence FILE] [--fit]

Offline and on a clock of its own: callers who pause for 700 ms (:mod:`bench.pauses`) pass the real
VAD; at each pause that it finds, the real recogniser judges the audio of a live call
(:mod:`bench.listening`), and its judgement reaches the turn machine when it would on an idle
machine. Smart Turn, which judges where the recogniser tells nothing, is reported beside it. The
garage's recordings are the half that the weights of :mod:`agent.patience` were fitted and its
thresholds chosen on, the clinic's are the half that counts. FILE keeps what was heard, so that
another policy takes seconds. --fit prints the weights that the garage's recordings give.

A turn is cut if it ends before the caller goes on. It is taken back if the caller goes on before
anybody could have reacted to the voice: then the call answers the whole question.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger
from numpy.typing import NDArray
from tqdm import tqdm

from agent.call import turn_policy
from agent.completeness import completeness
from agent.half_said import half_said
from agent.patience import dangles
from agent.settings import Settings
from agent.turns import (
    REACTION_MS,
    Action,
    Clock,
    Event,
    Heard,
    SoundsComplete,
    SpeechStarted,
    SpeechStopped,
    TurnMachine,
    TurnPolicy,
)
from bench import pauses
from bench.data import lacking
from bench.listening import STOP_MS, Ears, Pause, Watched, keep, kept
from bench.pauses import Trial
from bench.recordings import AUDIO, ROOT
from bench.results import percentiles, write_result
from rag.floor import auc

GARAGE_AUDIO = ROOT / "out" / "audio-garage"
CHOSEN_ON, COUNTS = "garage", "clinic"

# What the curve is drawn for.
_CHANCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8)
_UNSURE_MS = (400.0, 600.0, 700.0, 850.0)
# What the models take, on one thread of an idle two-core EPYC: Moonshine 15 ms and 23 a second.
_TURN_MODEL_MS = 47.0
_RECOGNISER_MS, _RECOGNISER_MS_A_SECOND = 15.0, 23.0
# From the end of the turn to the first sample of a prepared answer, and what a person needs to
# react to it (agent/call.py's limit for taking a turn back).
_AUDIBLE_MS = 50.0

Floats = NDArray[np.float64]


class Judge(Enum):
    """Who says how finished a turn sounds."""

    RECOGNISER = "recogniser"
    TURN_MODEL = "turn model"

    def of(self, pause: Pause) -> float:
        """Its probability that the turn is over."""
        return pause.finished if self is Judge.RECOGNISER else pause.probability


@dataclass(frozen=True, slots=True)
class Outcome:
    """When a trial's turn was taken to be over, and whether that was inside a pause of it.

    ``heard`` says that a voice that starts at once was heard before the caller went on.
    """

    watched: Watched
    ended_ms: float
    cut: bool
    heard: bool
    taken_back: bool

    @property
    def wait_ms(self) -> float:
        """From the end of speech to the end of the turn."""
        return self.ended_ms - self.watched.end_ms


def run(watched: Watched, policy: TurnPolicy, judge: Judge = Judge.RECOGNISER) -> Outcome | None:
    """What the turn machine makes of a trial; None where the VAD heard no speech."""
    machine = TurnMachine(policy)
    for event, at_ms in _events(watched, judge):
        while (due := machine.deadline_ms) is not None and due < at_ms:
            if Action.END_TURN in machine.step(Clock(), due):
                return _outcome(watched, due)
        if Action.END_TURN in machine.step(event, at_ms):
            return _outcome(watched, at_ms)
    due = machine.deadline_ms
    return None if due is None or not watched.starts_ms else _outcome(watched, due)


def _events(watched: Watched, judge: Judge) -> list[tuple[Event, float]]:
    """Everything the machine is told, in the order of time."""
    events: list[tuple[Event, float]] = [(SpeechStarted(), at) for at in watched.starts_ms]
    for pause in watched.pauses:
        decode_ms = _RECOGNISER_MS + _RECOGNISER_MS_A_SECOND * pause.audio_ms / 1000
        events.append((SpeechStopped(STOP_MS), pause.at_ms))
        told: list[tuple[Event, float]] = []
        if judge is Judge.TURN_MODEL:
            told.append((SoundsComplete(pause.probability), pause.at_ms + _TURN_MODEL_MS))
        tells = pause.finished if judge is Judge.RECOGNISER else None
        told.append(
            (Heard(pause.text, finished=tells), max(pause.at_ms, pause.begun_ms + decode_ms))
        )
        resumed = _resumed(watched, pause)
        events += [(event, at_ms) for event, at_ms in told if at_ms < resumed]
    return sorted(events, key=lambda one: one[1])


def _resumed(watched: Watched, pause: Pause) -> float:
    """When the VAD heard the caller go on after ``pause``."""
    return min((at for at in watched.starts_ms if at > pause.at_ms), default=math.inf)


def _outcome(watched: Watched, ended_ms: float) -> Outcome:
    goes_on = min((end for _, end in watched.gaps_ms if ended_ms < end), default=-math.inf)
    noticed = min((at for at in watched.starts_ms if at > ended_ms), default=math.inf)
    audible = ended_ms + _AUDIBLE_MS
    cut = ended_ms < goes_on
    back = cut and noticed - audible <= REACTION_MS
    return Outcome(watched, ended_ms, cut, audible < goes_on, back)


def figures(
    every: Sequence[Watched], policy: TurnPolicy, judge: Judge = Judge.RECOGNISER
) -> dict[str, Any]:
    """Cut-offs by kind of pause, and the wait at the end of untouched questions, by business."""
    outcomes = [one for watched in every if (one := run(watched, policy, judge))]
    found: dict[str, Any] = {}
    for kb in (COUNTS, CHOSEN_ON):
        own = [one for one in outcomes if one.watched.kb == kb]
        paused = [one for one in own if one.watched.kind == "paused"]
        whole = [one for one in own if one.watched.kind == "whole"]
        found[kb] = {
            "paused": _share(paused),
            "after a dangling word": _share(o for o in paused if dangles(o.watched.said)),
            "after words that are whole": _share(o for o in paused if _reads_whole(o)),
            "within an untouched question": _early(whole),
            "wait_ms": percentiles([one.wait_ms for one in whole if one.wait_ms >= 0]),
        }
    for kind in ("number", "digits"):
        own = [one for one in outcomes if one.watched.kind == kind]
        found[kind] = {
            **_share(own),
            "wait_ms": percentiles([one.wait_ms for one in own if not one.cut]),
        }
    total = [o for o in outcomes if o.watched.gaps_ms and o.watched.kb != CHOSEN_ON]
    return {"total": _share(total), **found}


def _reads_whole(one: Outcome) -> bool:
    return not dangles(one.watched.said) and completeness(one.watched.said) > 0


def _share(outcomes: Iterable[Outcome]) -> dict[str, float | int]:
    """Of all, how many were cut, with the voice heard, and without being taken back."""
    every = list(outcomes)
    count = len(every) or 1
    return {
        "n": len(every),
        "cut": round(sum(one.cut for one in every) / count, 3),
        "heard": round(sum(one.heard for one in every) / count, 3),
        "not_taken_back": round(sum(one.cut and not one.taken_back for one in every) / count, 3),
    }


def _early(whole: Sequence[Outcome]) -> dict[str, float | int]:
    """Turns that ended before the last word, at a pause of the speaker's own."""
    early = sum(one.wait_ms < 0 for one in whole)
    return {"n": len(whole), "cut": round(early / (len(whole) or 1), 3)}


def curve(every: Sequence[Watched], policy: TurnPolicy) -> list[dict[str, Any]]:
    """Cut-offs against waiting, for more and more caution."""
    rows = []
    for unsure_ms in _UNSURE_MS:
        for chance in _CHANCES:
            own = replace(policy, complete_probability=chance, unsure_ms=unsure_ms)
            found = figures(every, own)
            row: dict[str, Any] = {
                "complete_probability": own.complete_probability,
                "unsure_ms": unsure_ms,
                "total": found["total"],
            }
            for kb in (COUNTS, CHOSEN_ON):
                row[kb] = {**found[kb]["paused"], **found[kb]["wait_ms"]}
            rows.append(row)
    return rows


def areas(every: Sequence[Watched], kb: str) -> dict[str, float]:
    """Area under the curve, ends against pauses: by how they sound to each judge, how they read,
    and both with the weights of the business that they were chosen on.
    """
    found: dict[str, float] = {}
    for judge in Judge:
        rows, weights = judged(every, kb, judge), fitted(every, judge=judge)
        both = weights["sound"] * rows.sound + weights["words"] * rows.words
        scores = {judge.value: rows.sound, "words": rows.words, f"{judge.value}, words": both}
        found["ends"] = int(rows.is_end.sum())
        found["pauses"] = int((~rows.is_end).sum())
        for name, score in scores.items():
            found[name] = round(float(auc(score[rows.is_end], score[~rows.is_end])), 3)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Ends and pauses: how they sound and read, in log odds (n,), and which are ends (n,)."""

    sound: Floats
    words: Floats
    is_end: NDArray[np.bool_]


def judged(every: Sequence[Watched], kb: str, judge: Judge) -> Judged:
    """Those of ``kb``'s recordings that patience has to tell apart.

    Left out is what no one has to judge: words that cannot be the end, and gaps shorter than
    the least wait.
    """
    least_ms = TurnPolicy().settle_ms - STOP_MS
    rows = [
        (_odds(judge.of(pause)), completeness(pause.text), math.isinf(resumed))
        for watched in every
        if watched.kb == kb
        for pause in watched.pauses
        if (resumed := _resumed(watched, pause)) - pause.at_ms >= least_ms
        and not dangles(pause.text)
        and not half_said(pause.text)
    ]
    table = np.array(rows, float).reshape(-1, 3)
    return Judged(table[:, 0], table[:, 1], table[:, 2] > 0)


def fitted(
    every: Sequence[Watched], kb: str = CHOSEN_ON, judge: Judge = Judge.RECOGNISER
) -> dict[str, float]:
    """Weights of sound and words, and the bias, by logistic regression on ends and pauses."""
    rows = judged(every, kb, judge)
    seen = np.column_stack((rows.sound, rows.words, np.ones(len(rows.sound))))
    weights = np.zeros(3)
    for _ in range(30):  # Newton's method
        chance = 1 / (1 + np.exp(-seen @ weights))
        slope = (seen * (chance * (1 - chance))[:, None]).T @ seen + 0.1 * np.eye(3)
        weights -= np.linalg.solve(slope, seen.T @ (chance - rows.is_end) + 0.1 * weights)
    return dict(zip(("sound", "words", "bias"), weights.round(2).tolist(), strict=True))


def summary(every: Sequence[Watched], policy: TurnPolicy) -> dict[str, Any]:
    """What the result file holds."""
    return {
        "pause_ms": pauses.PAUSE_MS,
        "settle_ms": policy.settle_ms,
        "unsure_ms": policy.unsure_ms,
        "dangling_ms": policy.dangling_ms,
        "complete_probability": policy.complete_probability,
        "area_under_the_curve": {kb: areas(every, kb) for kb in (COUNTS, CHOSEN_ON)},
        **figures(every, policy),
        "with the turn model": figures(every, policy, Judge.TURN_MODEL),
        "curve": curve(every, policy),
    }


def _odds(probability: float) -> float:
    probability = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(probability / (1 - probability))


def trials(data: Path, clips: int) -> Iterator[Trial]:
    """Everything that is said."""
    yield from pauses.recorded_numbers(data, 48)
    yield from pauses.said_numbers(24)
    yield from pauses.questions(COUNTS, AUDIO, clips)
    if GARAGE_AUDIO.is_dir():
        yield from pauses.questions(CHOSEN_ON, GARAGE_AUDIO, clips)


def watch_all(data: Path, clips: int, evidence: Path | None) -> list[Watched]:
    """Every trial as heard: by ``evidence`` if there is such a file, else now, and kept there."""
    if evidence is not None and evidence.is_file():
        return kept(evidence)
    ears = Ears()
    every = [
        ears.watch(trial)
        for trial in tqdm(trials(data, clips), "trials", disable=not sys.stderr.isatty())
    ]
    if evidence is not None:
        keep(every, evidence)
    return every


def main(arguments: Sequence[str] | None = None) -> int:
    """Hear, judge, report."""
    parser = argparse.ArgumentParser(
        "bench.cutoffs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--clips", type=int, default=150, help="recordings of each business")
    parser.add_argument("--evidence", type=Path, help="what was heard: read if there, else written")
    parser.add_argument("--fit", action="store_true", help="print weights, and nothing else")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    options = parser.parse_args(arguments)
    if missing := lacking(options.data, ("audio.jsonl",)):
        print(missing, file=sys.stderr)
        return 2
    logger.disable("pipecat")
    every = watch_all(options.data, options.clips, options.evidence)
    if options.fit:
        print(json.dumps({judge.value: fitted(every, judge=judge) for judge in Judge}))
        return 0
    found = summary(every, turn_policy(Settings().turns))
    print(json.dumps(found, indent=2))
    if not options.no_save:
        write_result("cutoffs", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
