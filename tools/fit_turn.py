"""Fit the last layer of the turn model (``speech/turn.py``) for telephone speech, and write it.

    python tools/fit_turn.py --data DIR [--sentences 1000]

Public utterances (those that ``tools/fit_patience.py`` fits on) are said by flite's and Piper's
voices over a telephone line. Each is judged at its end, and where it was cut short: in fluent
speech, or at a comma, as voices make pauses of their own. Every second one is as short as callers'
follow-ups are. The sample businesses take no part, nor do eSpeak's and Kokoro's voices. It takes
some 20 minutes, and prints the area under the curve on a fifth of the sentences, fitted on the
others. Random numbers are seeded; Piper's own are too.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from caller_voices import Engine, Voice, engine_for
from fit_patience import SOURCES, half, utterances
from telephone_band import RATE_HZ, add_noise, level_to, narrow, through_mu_law
from tqdm import tqdm

from bench.data import lacking
from rag.floor import auc
from speech.audio import resample
from speech.recogniser import SAMPLE_RATE_HZ
from speech.turn import HEAD, SmartTurn

SEED = 5
VOICES = tuple(Voice(name, "flite", name, ()) for name in ("rms", "slt", "awb", "kal16", "kal"))
JOE = Voice("joe", "piper", "piper-joe", ())
_ASKING = frozenset(
    "what is are do does can how where when who may could will would which did should".split()
)
# The VAD flags a pause 105 to 190 ms after the speech has ended.
_SILENCE_MS = (105, 190)
_BEFORE_MS = 1000
_PENALTY = 2000.0

Float32 = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where sentence ``number`` ends, or is cut: all that was said until there, over its line."""

    number: int
    is_end: bool
    speech: Float32
    line: Float32


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What the turn model hears at one place of sentence ``number``; ``own`` is its judgement."""

    number: int
    is_end: bool
    own: float
    features: Float32


class Sayer:
    """Sentences as audio over a telephone line."""

    def __init__(self, rng: random.Random, noise: np.random.Generator) -> None:
        self._rng, self._noise = rng, noise
        self._engines: dict[str, Engine] = {}

    def say(self, text: str) -> Float32:
        """``text`` in one of the voices; a third of the lines hiss or hum."""
        voice = self._rng.choice((*VOICES, JOE, JOE))
        if voice.name not in self._engines:
            self._engines[voice.name] = engine_for(voice, SEED)
        speed = self._rng.uniform(0.88, 1.3 if voice is JOE else 1.1)
        samples, rate_hz = self._engines[voice.name](text, speed)
        line = level_to(narrow(samples, rate_hz), self._rng.choice((-20, -23, -26, -30)))
        if self._rng.random() < 0.35:
            kind, snr_db = self._rng.choice(("white", "hum")), self._rng.choice((15, 20, 25, 30))
            line = add_noise(line, kind, snr_db, self._noise, line)
        return through_mu_law(line)


def sentences(folder: Path, count: int, rng: random.Random) -> list[tuple[str, int]]:
    """Utterances, and after how many words each is cut; 0 for those too short to cut."""
    every = [text for text in utterances(folder) if half(text) == 0]
    rng.shuffle(every)
    long = [text for text in every if 4 <= len(text.split()) <= 16][:count]
    short = [text for text in every if len(text.split()) <= 3]
    found = []
    for number, text in enumerate(long):
        if number % 2:
            end = " ".join(text.split()[-rng.choice((1, 2, 2, 3)) :])
            starts = ("and ", "what about ", "and what about ", "how about ", "and for ")
            text = rng.choice((rng.choice(short), rng.choice(short), *(s + end for s in starts)))
        size = len(text.split())
        found.append((text, rng.randint(2, size - 2) if size > 3 else 0))
    return found


def places(said: Sequence[tuple[str, int]], sayer: Sayer, rng: random.Random) -> Iterator[Place]:
    """Every sentence at its end and where it is cut: in fluent speech, or at a comma."""
    for number, (text, cut) in enumerate(tqdm(said, disable=not sys.stderr.isatty())):
        words = text.split()
        comma = number % 3 == 0 and cut > 0
        mark = "?" if words[0] in _ASKING else "."
        joined = (", " if comma else " ").join((" ".join(words[:cut]), " ".join(words[cut:])))
        audio = sayer.say(joined.strip(" ,") + rng.choice((mark, mark, "")))
        line = audio[: RATE_HZ * 9 // 100]
        start, end = _speech(audio)
        yield Place(number, True, audio[:end], line)
        if cut:
            share = len(" ".join(words[:cut])) / len(text)
            reach = 0.4 if comma else 0.07
            at = _quietest(audio, start + int((end - start) * share), reach)
            yield Place(number, False, audio[: _speech(audio[:at])[1] if comma else at], line)


def followed(
    place: Place, before_ms: float, silence_ms: float, noise: np.random.Generator
) -> Float32:
    """The speech up to ``place`` with the noise of its line before and after, at 16 kHz."""
    rms = float(np.sqrt(np.mean(np.square(place.line)))) + 1e-4
    before, after = (
        noise.normal(0, rms, int(length_ms * RATE_HZ / 1000)).astype(np.float32)
        for length_ms in (before_ms, silence_ms)
    )
    return resample(np.concatenate((before, place.speech, after)), RATE_HZ, SAMPLE_RATE_HZ)


def judge_all(said: Sequence[tuple[str, int]], sayer: Sayer, rng: random.Random) -> list[Judged]:
    """What Smart Turn hears at every place."""
    model, noise, found = SmartTurn(), np.random.default_rng(SEED), []
    for place in places(said, sayer, rng):
        audio = followed(place, _BEFORE_MS, rng.uniform(*_SILENCE_MS), noise)
        heard = model.listen(audio)
        found.append(Judged(place.number, place.is_end, heard.own, heard.features))
    return found


def _speech(audio: Float32) -> tuple[int, int]:
    """Where speech begins and ends, in samples."""
    frame = RATE_HZ // 100
    rms = np.sqrt(np.square(audio[: audio.size // frame * frame].reshape(-1, frame)).mean(axis=1))
    loud = np.flatnonzero(rms > max(float(np.percentile(rms, 5)) * 2.5, 0.002))
    return (int(loud[0]) * frame, int(loud[-1] + 1) * frame) if loud.size else (0, audio.size)


def _quietest(audio: Float32, middle: int, reach_s: float) -> int:
    half_window, reach = RATE_HZ // 100, int(reach_s * RATE_HZ)
    first, last = max(RATE_HZ // 10, middle - reach), min(audio.size - half_window, middle + reach)
    return min(
        range(first, last, 20),
        key=lambda at: float(np.square(audio[at - half_window : at + half_window]).sum()),
        default=middle,
    )


def fit(features: Float32, truth: Floats, penalty: float) -> tuple[Floats, float]:
    """Weights and bias by logistic regression on standardised features, by Newton's method.

    ``features`` (rows, size), ``truth`` (rows,) 1.0 for an end. The bias has no ``penalty``.
    """
    seen = features.astype(float)
    middle, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-3
    scaled = np.column_stack(((seen - middle) / spread, np.ones(len(seen))))
    ridge = np.full(scaled.shape[1], penalty)
    ridge[-1] = 0.0
    found = np.zeros(scaled.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-scaled @ found))
        slope = (scaled.T * np.maximum(chance * (1 - chance), 1e-4)) @ scaled + np.diag(ridge)
        step = np.linalg.solve(slope, scaled.T @ (chance - truth) + ridge * found)
        found -= step
        if np.abs(step).max() < 1e-6:
            break
    weights = found[:-1] / spread
    return weights, float(found[-1] - middle @ weights)


def written(weights: Floats, bias: float, path: Path) -> None:
    """Write a layer to ``path``, as ``speech`` reads it."""
    rows = {"bias": round(bias, 5), "weights": weights.round(6).tolist()}
    path.write_text(json.dumps(rows) + "\n", encoding="utf-8")


def main() -> int:
    """Say, judge, fit, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--to", type=Path, default=HEAD, help="file to write")
    options = parser.parse_args()
    if missing := lacking(options.data, SOURCES):
        print(missing, file=sys.stderr)
        return 2
    rng = random.Random(SEED)
    said = sentences(options.data, options.sentences, rng)
    judged = judge_all(said, Sayer(rng, np.random.default_rng(SEED)), rng)
    features = np.stack([one.features for one in judged])
    is_end = np.array([one.is_end for one in judged])
    own = np.array([one.own for one in judged])
    held = np.array([one.number % 5 == 0 for one in judged])
    weights, bias = fit(features[~held], is_end[~held].astype(float), _PENALTY)
    odds = features @ weights + bias
    ends, cuts = held & is_end, held & ~is_end
    print(f"{held.sum()} places: Smart Turn {auc(own[ends], own[cuts]):.3f}, "
          f"ours {auc(odds[ends], odds[cuts]):.3f}")  # fmt: skip
    written(*fit(features, is_end.astype(float), _PENALTY), options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main())
