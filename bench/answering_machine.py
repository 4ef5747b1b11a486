"""Who answered: made and recorded answers through VAD, recogniser and the callee machine.

  python -m bench.answering_machine                    # made answers, both halves
  python -m bench.answering_machine --data DIR         # and real prompts, and beeps in real speech
  python -m bench.answering_machine --data DIR --music DIR   # and in hold music
  python -m bench.answering_machine --half "developed on" --show

A simulated clock: the recogniser's text is there 120 ms after a pause begins.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pipecat.audio.vad.vad_analyzer import VADState
from tqdm import tqdm

from agent.answering_machine import (
    Action,
    AnsweringMachine,
    Beeped,
    Event,
)
from agent.callee_policy import CalleePolicy
from agent.cli import quiet_logs
from agent.turns import AgentStarted, AgentStopped, Clock, Heard, SpeechStarted, SpeechStopped
from bench.amd import by_lengths
from bench.callees import (
    HALVES,
    RATE_HZ,
    Answered,
    has_recordings,
    made,
    music_of,
    on_line,
    pairs,
    recorded,
    speech_of,
    tone,
)
from bench.listening import _analyzer as analyzer
from bench.results import write_result
from speech.audio import Int16, resample, to_float32
from speech.beep import BeepDetector
from speech.moonshine import Moonshine

_FRAME_MS = 20
_FRAME = RATE_HZ * _FRAME_MS // 1000
_HEARD_AFTER_MS = 120.0
_GREETING_MS = 4000.0
_MESSAGE_MS = 6000.0
_STARTS_MS = 100.0
_PRE_ROLL_MS = 450.0


@dataclass
class Outcome:
    """What was done in one call: when the agent greeted, began its message, and why it ended."""

    answer: Answered
    greeted_ms: float | None = None
    left_ms: list[float] = field(default_factory=list)
    hung_up: str = ""
    said_who: bool = False
    texts: list[str] = field(default_factory=list)
    spoke: list[tuple[float, float]] = field(default_factory=list)


class Simulated:
    """One call on a simulated clock: events in, the agent's voice and the machine's end out."""

    def __init__(self, answer: Answered, recogniser: Moonshine, policy: CalleePolicy) -> None:
        self.outcome = Outcome(answer)
        self._answer = answer
        self._recogniser = recogniser
        self._machine = AnsweringMachine(policy)
        self._since_ms: float | None = None
        self._heard: tuple[float, Heard] | None = None
        self._speaks: tuple[float, float] | None = None
        self._now = 0.0

    def run(self) -> Outcome:
        """Play the whole answer, or until the agent hangs up."""
        vad, beeps = analyzer(), BeepDetector(RATE_HZ)
        speaks, pausing = False, False
        audio = self._answer.audio
        for end in range(_FRAME, audio.size + 1, _FRAME):
            now = self._now = end * 1000 / RATE_HZ
            frame = audio[end - _FRAME : end]
            state = vad._run_analyzer(frame.tobytes())
            if vad.is_pausing and not pausing:
                self._hear(now)
            pausing = vad.is_pausing
            if state is VADState.SPEAKING and not speaks:
                speaks = True
                if self._since_ms is None:
                    self._since_ms = max(0.0, now - _PRE_ROLL_MS)
                self._heard = None
                self._step(SpeechStarted())
            elif state is VADState.QUIET and speaks:
                speaks = False
                self._step(SpeechStopped(vad.params.stop_secs * 1000))
            for found in beeps.feed(frame):
                self._step(Beeped(found.hz, found.ms, found.ended_ms, found.alone))
            self._clock(now)
            if self.outcome.hung_up or not (self._machine.watches or self._speaks):
                break
        return self.outcome

    def _clock(self, now: float) -> None:
        if self._heard is not None and now >= self._heard[0]:
            heard, self._heard = self._heard[1], None
            self.outcome.texts.append(heard.text)
            self._step(heard)
        if self._speaks is not None:
            began, ends = self._speaks
            if began <= now < began + _FRAME_MS:
                self._step(AgentStarted())
            if now >= ends:
                self.outcome.spoke.append(self._speaks)
                self._speaks = None
                self._step(AgentStopped())
        deadline = self._machine.deadline_ms
        if deadline is not None and now >= deadline:
            self._step(Clock())

    def _hear(self, now: float) -> None:
        if self._since_ms is None:
            return
        samples = self._answer.audio[round(self._since_ms * 8) : round(now * 8)]
        if samples.size > RATE_HZ // 5:
            model = resample(to_float32(samples[-20 * RATE_HZ :]), RATE_HZ, 16000)
            self._heard = (now + _HEARD_AFTER_MS, Heard(self._recogniser.transcribe(model).text))

    def _step(self, event: Event) -> None:
        for action in self._machine.step(event, self._now):
            self._do(action)

    def _do(self, action: Action) -> None:
        out, now = self.outcome, self._now
        match action:
            case Action.GREET:
                out.greeted_ms = now if out.greeted_ms is None else out.greeted_ms
                self._speak(_GREETING_MS)
            case Action.SAY_WHO:
                out.said_who = True
                self._speak(_GREETING_MS)
            case Action.LEAVE:
                out.left_ms.append(now)
                self._speak(_MESSAGE_MS)
            case Action.STOP | Action.CONVERSE:
                if self._speaks is not None:
                    out.spoke.append((self._speaks[0], now))
                self._speaks = None
                self._since_ms = None
            case Action.HANG_UP:
                out.hung_up = self._machine.why

    def _speak(self, ms: float) -> None:
        self._speaks = (self._now + _STARTS_MS, self._now + _STARTS_MS + ms)
        self._since_ms = self._heard = None


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of one set of calls; waits are observed percentiles in ms."""
    by: dict[str, list[Outcome]] = {kind: [] for kind in ("person", "voicemail", "menu", "no line")}
    for outcome in outcomes:
        by[outcome.answer.kind].append(outcome)
    people, machines = by["person"], by["voicemail"]
    greeted = [one for one in people if one.greeted_ms is not None and not one.left_ms]
    waits = [_since(one.greeted_ms, one.answer.words_end_ms) for one in greeted]
    left = [one for one in machines if one.left_ms]
    delays = [_since(one.left_ms[-1], one.answer.beep_end_ms) for one in left]
    return {
        "people": {
            "n": len(people),
            "taken_for_machine": sum(bool(one.left_ms or one.greeted_ms is None) for one in people),
            "talked_over": sum(wait < 0 for wait in waits),
            "wait": _spread([wait for wait in waits if wait >= 0]),
        },
        "voicemails": {
            "n": len(machines),
            "greeted_first": sum(one.greeted_ms is not None for one in machines),
            "greeted_first_and_message_left": sum(one.greeted_ms is not None for one in left),
            "message_left": len(left),
            "begun_before_the_beep": sum(delay < 0 for delay in delays),
            "begun_again_after_it": sum(len(one.left_ms) > 1 for one in left),
            "without_hearing_the_beep": sum(delay > 3000 for delay in delays),
            "wait": _spread([delay for delay in delays if delay >= 0]),
        },
        "menus": _hung_up(by["menu"]),
        "no_line": _hung_up(by["no line"]),
        "by_lengths_alone": {
            "people_taken_for_machines": _judged(people, "machine"),
            "voicemails_taken_for_people": _judged(machines, "person"),
            "not_sure": _judged((*people, *machines), "not sure"),
        },
    }


def _judged(outcomes: Iterable[Outcome], what: str) -> int:
    return sum(by_lengths(one.answer.audio, RATE_HZ) == what for one in outcomes)


def _since(at: float | None, end: float | None) -> float:
    assert at is not None
    assert end is not None
    return at - end


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"p50_ms": None, "p95_ms": None, "p100_ms": None}
    found = np.percentile(values, (50, 95, 100), method="lower")
    return {f"p{p}_ms": round(float(v)) for p, v in zip((50, 95, 100), found, strict=True)}


def _hung_up(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return {
        "n": len(outcomes),
        "hung_up": sum(bool(one.hung_up) and not one.left_ms for one in outcomes),
        "greeted": sum(one.greeted_ms is not None for one in outcomes),
        "message_left": sum(bool(one.left_ms) for one in outcomes),
    }


def beeps_found() -> dict[str, int]:
    """How many made beeps are found, each over white noise 47, 7 and 5 dB below it."""
    rng = np.random.default_rng(1)
    found = Counter[str]()
    silence = np.zeros(RATE_HZ // 2)
    for hz, ms, db in pairs():
        for noise_db in (-60.0, db - 10, db - 8):
            signal = np.concatenate((silence, tone(hz, ms, db), silence))
            tones = [one for one in _tones([on_line(signal, noise_db, rng)]) if one.alone]
            found["n"] += 1
            found["found"] += len(tones) == 1
    return dict(found)


def _tones(pieces: Iterable[Int16]) -> list[Any]:
    found = []
    for samples in pieces:
        detector = BeepDetector(RATE_HZ)
        for at in range(0, samples.size, _FRAME):
            found += detector.feed(samples[at : at + _FRAME])
        found += detector.feed(np.zeros(_FRAME * 10, np.int16))
    return found


def false_beeps(pieces: Sequence[Int16]) -> dict[str, float]:
    """How often speech, or music, is taken for a beep."""
    hours = sum(samples.size for samples in pieces) / RATE_HZ / 3600
    alone = sum(one.alone for one in _tones(pieces))
    return {"hours": round(hours, 2), "beeps": alone, "per_hour": round(alone / hours, 1)}


def _shown(outcome: Outcome) -> str:
    answer = outcome.answer
    greeted = "" if outcome.greeted_ms is None else f"greeted {_ms(outcome.greeted_ms, answer)}"
    left = " ".join(f"left {_ms(at, answer)}" for at in outcome.left_ms)
    text = outcome.texts[-1] if outcome.texts else ""
    return f"{answer.name:16} {answer.voice:8} {greeted} {left} {outcome.hung_up} | {text}"


def _ms(at: float, answer: Answered) -> str:
    since = answer.words_end_ms if answer.kind != "voicemail" else answer.beep_end_ms
    return f"{_since(at, since):+.0f}"


def main() -> int:
    """Simulate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the public data")
    parser.add_argument("--music", type=Path, help="folder of hold music, *.wav")
    parser.add_argument("--half", choices=HALVES, help="one half only; nothing is saved")
    parser.add_argument("--show", action="store_true", help="print every call")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args()
    quiet_logs()
    recogniser = Moonshine()
    halves = [args.half] if args.half else list(HALVES)
    sets: dict[str, list[Answered]] = {half: list(made(half)) for half in halves}
    if args.data and has_recordings(args.data) and HALVES[1] in halves:
        sets["recorded prompts"] = list(recorded(args.data))
    figures: dict[str, Any] = {}
    for name, answers in sets.items():
        progress = tqdm(answers, name, disable=None)
        outcomes = [Simulated(one, recogniser, CalleePolicy()).run() for one in progress]
        figures[name] = figures_of(outcomes)
        if args.show:
            print("\n".join(map(_shown, outcomes)))
    if not args.half:
        figures["beeps"] = beeps_found()
        if args.data:
            figures["false_beeps_in_speech"] = false_beeps(list(speech_of(args.data)))
        if args.music:
            figures["false_beeps_in_music"] = false_beeps(list(music_of(args.music)))
        if not args.no_save and args.data:
            write_result("answering_machine", figures)
    print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
