"""A trial as a call hears it: where the VAD finds pauses, and what is made of the turn at each.

The recogniser begins at the first silent window (``SpeechPausingFrame``) and is believed if a
pause follows, as in ``speech/stt.py``; Smart Turn is asked once the pause is there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pipecat.audio.vad.vad_analyzer import VADParams, VADState

from agent.settings import VadSettings
from bench.pauses import RATE_HZ, Trial
from bench.recordings import ROOT
from rag.documents import load
from rag.vocabulary import vocabulary
from speech.audio import Float32, resample, to_float32
from speech.moonshine import Moonshine
from speech.stt import PRE_ROLL_MS
from speech.turn import WINDOW_SECS, SmartTurn
from speech.vad import SharedSileroAnalyzer

_MODEL_HZ = 16000
_FRAME_MS = 20
_FRAME = RATE_HZ * _FRAME_MS // 1000
_EARLY_APART_MS = 150  # speech/stt.py
STOP_MS = VadSettings().stop_ms


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the VAD found at ``at_ms``, and what was made of the turn up to it.

    ``text`` and ``finished`` are the recogniser's, begun at ``begun_ms`` on ``audio_ms`` of
    audio; ``probability`` is the turn model's. Both are probabilities that the turn is over.
    """

    at_ms: float
    begun_ms: float
    audio_ms: float
    text: str
    finished: float
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


class Ears:
    """The models of a call, one recogniser a business."""

    def __init__(self) -> None:
        self._turn = SmartTurn()
        self._recognisers: dict[str, Moonshine] = {}

    def watch(self, trial: Trial) -> Watched:
        """Hear ``trial`` as a call does, frame by frame."""
        vad = _analyzer()
        starts: list[float] = []
        found: list[Pause] = []
        speaks, pausing, early_ms = False, False, None
        for end in range(_FRAME, trial.audio.size + 1, _FRAME):
            now_ms = end * 1000 / RATE_HZ
            state = vad._run_analyzer(trial.audio[end - _FRAME : end].tobytes())
            if vad.is_pausing and not pausing and _is_due(early_ms, now_ms):
                early_ms = now_ms
            pausing = vad.is_pausing
            if state is VADState.SPEAKING and not speaks:
                speaks = True
                starts.append(now_ms)
            elif state is VADState.QUIET and speaks:
                speaks = False
                holds = early_ms is not None and now_ms - early_ms <= STOP_MS
                begun_ms = early_ms if holds and early_ms is not None else now_ms
                found.append(self._judge(trial, starts[0] - PRE_ROLL_MS, begun_ms, now_ms))
                early_ms = None
        return Watched(
            trial.kind, trial.name, trial.kb, trial.voice, trial.said, trial.gaps_ms, trial.end_ms,
            tuple(starts), tuple(found),
        )  # fmt: skip

    def _judge(self, trial: Trial, since_ms: float, begun_ms: float, at_ms: float) -> Pause:
        since_ms = max(0.0, since_ms)
        heard = self._recogniser(trial.kb).transcribe(_heard(trial, since_ms, begun_ms))
        window = _heard(trial, max(0.0, at_ms - WINDOW_SECS * 1000), at_ms)
        assert heard.finished is not None
        return Pause(
            at_ms,
            begun_ms,
            begun_ms - since_ms,
            heard.text,
            round(heard.finished, 6),
            round(self._turn.probability(window), 6),
        )

    def _recogniser(self, kb: str) -> Moonshine:
        if kb not in self._recognisers:
            words = vocabulary(load(ROOT / "kb" / kb)) if kb else ()
            self._recognisers[kb] = Moonshine(words)
        return self._recognisers[kb]


def kept(path: Path) -> list[Watched]:
    """What was heard before."""
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


def keep(every: Sequence[Watched], path: Path) -> None:
    """Keep what was heard in ``path``."""
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in every), "utf-8")


def _is_due(early_ms: float | None, now_ms: float) -> bool:
    return early_ms is None or now_ms - early_ms >= _EARLY_APART_MS


def _heard(trial: Trial, since_ms: float, until_ms: float) -> Float32:
    samples = trial.audio[int(since_ms * RATE_HZ / 1000) : int(until_ms * RATE_HZ / 1000)]
    return resample(to_float32(samples), RATE_HZ, _MODEL_HZ)


def _analyzer() -> SharedSileroAnalyzer:
    vad = VadSettings()
    params = VADParams(
        confidence=vad.confidence,
        start_secs=vad.start_ms / 1000,
        stop_secs=vad.stop_ms / 1000,
        min_volume=0.0,
    )
    analyzer = SharedSileroAnalyzer(sample_rate=RATE_HZ, params=params)
    analyzer.set_sample_rate(RATE_HZ)
    return analyzer
