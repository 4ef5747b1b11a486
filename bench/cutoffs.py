"""How often the agent takes a pause for the end of a turn, and how long it waits at a real end.

    python -m bench.cutoffs --data DIR [--clips N] [--evidence FILE] [--fit]

Offline and on a clock of its own: callers who pause for 700 ms (:mod:`bench.pauses`) pass the real
VAD; at each pause that it finds, the real recogniser and turn model judge the audio of a live
call, and their judgement reaches the turn machine when it would on an idle machine. The garage's
recordings are the half that the weights of :mod:`agent.patience` and its thresholds were chosen
on, the clinic's are the half that counts. FILE keeps what was heard, so that another policy
takes seconds. --fit prints the weights that the garage's recordings give.

A turn is cut if it ends before the caller goes on. It is taken back if the caller goes on before
anybody could have reacted to the voice: then the call answers the whole question.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from tqdm import tqdm

from agent.completeness import completeness
from agent.half_said import half_said
from agent.patience import dangles
from agent.settings import Settings
from agent.turns import (
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
from bench.pauses import RATE_HZ, Trial
from bench.recordings import AUDIO, ROOT
from bench.results import percentiles, write_result
from rag.documents import load
from rag.vocabulary import vocabulary
from speech.audio import resample, to_float32
from speech.moonshine import Moonshine
from speech.stt import PRE_ROLL_MS
from speech.turn import WINDOW_SECS, SmartTurn
from speech.vad import SharedSileroAnalyzer

GARAGE_AUDIO = ROOT / "out" / "audio-garage"
CHOSEN_ON, COUNTS = "garage", "clinic"

_MODEL_HZ = 16000
_FRAME = RATE_HZ // 50
# What the models take, on one thread of an idle two-core EPYC: Moonshine 15 ms and 23 a second.
_TURN_MODEL_MS = 47.0
_RECOGNISER_MS, _RECOGNISER_MS_A_SECOND = 15.0, 23.0
# From the end of the turn to the first sample of a prepared answer, and what a person needs to
# react to it (agent/call.py's limit for taking a turn back).
_AUDIBLE_MS, _REACTION_MS = 50.0, 500.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the VAD found at ``at_ms``, and what was made of the turn up to it."""

    at_ms: float
    audio_ms: float
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Watched:
    """A trial as it was heard; ``starts_ms`` is when the VAD found speech."""

    kind: str
    name: str
    kb: str
    voice: str
    said: str
    gaps_ms: tuple[tuple[float, float], ...]
    end_ms: float
    starts_ms: tuple[float, ...]
    pauses: tuple[Pause, ...]


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


class Ears:
    """The models of a call, one recogniser a business."""

    def __init__(self) -> None:
        self._turn = SmartTurn()
        self._recognisers: dict[str, Moonshine] = {}

    def watch(self, trial: Trial) -> Watched:
        """Hear ``trial`` as a call does, frame by frame."""
        vad = _analyzer()
        audio, starts, found, speaks = trial.audio, [], [], False
        for end in range(_FRAME, audio.size + 1, _FRAME):
            state = vad._run_analyzer(audio[end - _FRAME : end].tobytes())
            if state is VADState.SPEAKING and not speaks:
                speaks = True
                starts.append(end * 1000 / RATE_HZ)
            elif state is VADState.QUIET and speaks:
                speaks = False
                begin = max(0, int((starts[0] - PRE_ROLL_MS) * RATE_HZ / 1000))
                found.append(self._judge(trial, begin, end))
        return Watched(
            trial.kind, trial.name, trial.kb, trial.voice, trial.said, trial.gaps_ms, trial.end_ms,
            tuple(starts), tuple(found),
        )  # fmt: skip

    def _judge(self, trial: Trial, begin: int, end: int) -> Pause:
        turn = resample(to_float32(trial.audio[begin:end]), RATE_HZ, _MODEL_HZ)
        window = trial.audio[max(0, end - WINDOW_SECS * RATE_HZ) : end]
        probability = self._turn.probability(resample(to_float32(window), RATE_HZ, _MODEL_HZ))
        text = self._recogniser(trial.kb).transcribe(turn).text
        at_ms, audio_ms = end * 1000 / RATE_HZ, (end - begin) * 1000 / RATE_HZ
        return Pause(at_ms, audio_ms, text, probability)

    def _recogniser(self, kb: str) -> Moonshine:
        if kb not in self._recognisers:
            words = vocabulary(load(ROOT / "kb" / kb)) if kb else ()
            self._recognisers[kb] = Moonshine(words)
        return self._recognisers[kb]


def _analyzer() -> SharedSileroAnalyzer:
    vad = Settings().vad
    params = VADParams(
        confidence=vad.confidence,
        start_secs=vad.start_ms / 1000,
        stop_secs=vad.stop_ms / 1000,
        min_volume=0.0,
    )
    analyzer = SharedSileroAnalyzer(sample_rate=RATE_HZ, params=params)
    analyzer.set_sample_rate(RATE_HZ)
    return analyzer


def run(watched: Watched, policy: TurnPolicy) -> Outcome | None:
    """What the turn machine makes of a trial; None where the VAD heard no speech."""
    machine = TurnMachine(policy)
    for event, at_ms in _events(watched):
        while (due := machine.deadline_ms) is not None and due < at_ms:
            if Action.END_TURN in machine.step(Clock(), due):
                return _outcome(watched, due)
        if Action.END_TURN in machine.step(event, at_ms):
            return _outcome(watched, at_ms)
    due = machine.deadline_ms
    return None if due is None or not watched.starts_ms else _outcome(watched, due)


def _events(watched: Watched) -> list[tuple[Event, float]]:
    """Everything the machine is told, in the order of time."""
    stop_ms = Settings().vad.stop_ms
    events: list[tuple[Event, float]] = [(SpeechStarted(), at) for at in watched.starts_ms]
    for pause in watched.pauses:
        decode_ms = _RECOGNISER_MS + _RECOGNISER_MS_A_SECOND * pause.audio_ms / 1000
        resumed = min((at for at in watched.starts_ms if at > pause.at_ms), default=math.inf)
        events.append((SpeechStopped(stop_ms), pause.at_ms))
        if pause.at_ms + _TURN_MODEL_MS < resumed:
            events.append((SoundsComplete(pause.probability), pause.at_ms + _TURN_MODEL_MS))
        if pause.at_ms + decode_ms < resumed:
            events.append((Heard(pause.text), pause.at_ms + decode_ms))
    return sorted(events, key=lambda one: one[1])


def _outcome(watched: Watched, ended_ms: float) -> Outcome:
    goes_on = min((end for _, end in watched.gaps_ms if ended_ms < end), default=-math.inf)
    noticed = min((at for at in watched.starts_ms if at > ended_ms), default=math.inf)
    audible = ended_ms + _AUDIBLE_MS
    cut = ended_ms < goes_on
    back = cut and noticed - audible <= _REACTION_MS
    return Outcome(watched, ended_ms, cut, audible < goes_on, back)


def figures(every: Sequence[Watched], policy: TurnPolicy) -> dict[str, Any]:
    """Cut-offs by kind of pause, and the wait at the end of untouched questions, by business."""
    outcomes = [one for watched in every if (one := run(watched, policy))]
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
    for tenth in range(1, 10):
        found = figures(every, replace(policy, complete_probability=tenth / 10))
        row: dict[str, Any] = {
            "complete_probability": tenth / 10,
            "total_cut": found["total"]["cut"],
        }
        for kb in (COUNTS, CHOSEN_ON):
            waits = found[kb]["wait_ms"]
            row[kb] = {
                "cut": found[kb]["paused"]["cut"],
                "p50_ms": waits["p50_ms"],
                "p70_ms": waits["p70_ms"],
                "p95_ms": waits["p95_ms"],
            }
        rows.append(row)
    return rows


def fitted(every: Sequence[Watched], kb: str = CHOSEN_ON) -> dict[str, float]:
    """Weights of sound and words, and the bias, by logistic regression on ends and pauses."""
    rows, ended = [], []
    for watched in (one for one in every if one.kb == kb):
        for pause in watched.pauses:
            inside = any(at > pause.at_ms for at in watched.starts_ms)
            if dangles(pause.text) or half_said(pause.text):
                continue
            odds = math.log(pause.probability / (1 - pause.probability))
            rows.append((odds, completeness(pause.text), 1.0))
            ended.append(0.0 if inside else 1.0)
    seen, truth = np.array(rows), np.array(ended)
    weights = np.zeros(3)
    for _ in range(30):  # Newton's method
        chance = 1 / (1 + np.exp(-seen @ weights))
        slope = (seen * (chance * (1 - chance))[:, None]).T @ seen + 0.1 * np.eye(3)
        weights -= np.linalg.solve(slope, seen.T @ (chance - truth) + 0.1 * weights)
    return dict(zip(("sound", "words", "bias"), weights.round(2).tolist(), strict=True))


def summary(every: Sequence[Watched], policy: TurnPolicy) -> dict[str, Any]:
    """What the result file holds."""
    return {
        "pause_ms": pauses.PAUSE_MS,
        "settle_ms": policy.settle_ms,
        "unsure_ms": policy.unsure_ms,
        "dangling_ms": policy.dangling_ms,
        "complete_probability": policy.complete_probability,
        **figures(every, policy),
        "curve": curve(every, policy),
    }


def trials(data: Path, clips: int) -> Iterator[Trial]:
    """Everything that is said."""
    yield from pauses.recorded_numbers(data, 48)
    yield from pauses.said_numbers(24)
    yield from pauses.questions(COUNTS, AUDIO, clips)
    if GARAGE_AUDIO.is_dir():
        yield from pauses.questions(CHOSEN_ON, GARAGE_AUDIO, clips)


def kept(path: Path) -> list[Watched]:
    """What was heard before; empty if nothing was kept."""
    if not path.is_file():
        return []
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [
        Watched(
            **{
                **row,
                "gaps_ms": tuple((begin, end) for begin, end in row["gaps_ms"]),
                "starts_ms": tuple(row["starts_ms"]),
                "pauses": tuple(Pause(**pause) for pause in row["pauses"]),
            }
        )
        for row in rows
    ]


def watch_all(data: Path, clips: int, evidence: Path | None) -> list[Watched]:
    """Every trial as heard, from ``evidence`` where it is there; new ones are added to it."""
    known = {(one.kind, one.kb, one.name): one for one in (kept(evidence) if evidence else ())}
    ears, every = Ears(), []
    for trial in tqdm(trials(data, clips), "trials", disable=not sys.stderr.isatty()):
        key = (trial.kind, trial.kb, trial.name)
        if key not in known:
            known[key] = ears.watch(trial)
            if evidence is not None:
                with evidence.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(known[key])) + "\n")
        every.append(known[key])
    return every


def main(arguments: Sequence[str] | None = None) -> int:
    """Hear, judge, report."""
    parser = argparse.ArgumentParser(
        "bench.cutoffs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--clips", type=int, default=150, help="recordings of each business")
    parser.add_argument("--evidence", type=Path, help="keep what was heard in this file")
    parser.add_argument("--fit", action="store_true", help="print weights, and nothing else")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    options = parser.parse_args(arguments)
    if missing := lacking(options.data, ("audio.jsonl",)):
        print(missing, file=sys.stderr)
        return 2
    logger.disable("pipecat")
    every = watch_all(options.data, options.clips, options.evidence)
    if options.fit:
        print(json.dumps(fitted(every)))
        return 0
    found = summary(every, TurnPolicy())
    print(json.dumps(found, indent=2))
    if not options.no_save:
        write_result("cutoffs", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
