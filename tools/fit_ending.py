"""Fit how finished a turn sounds to Moonshine's encoder (``speech/ending.py``), and write it.

    python tools/fit_ending.py --data DIR [--sentences 1500]

The sentences, voices, lines and cuts are those of ``tools/fit_turn.py``. Each place is heard
twice: at the first silent window, where a call begins to decode, and where the VAD is sure of the
pause. It takes some five minutes, and prints the area under the curve on a fifth of the sentences,
fitted on the others. Random numbers are seeded; Piper's own are too.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fit_patience import SOURCES
from fit_turn import SEED, Float32, Floats, Sayer, fit, followed, places, sentences, written

from bench.data import lacking
from rag.floor import auc
from speech.audio import levels
from speech.ending import HEAD, features
from speech.moonshine import _TAIL_S, _condition
from speech.moonshine_decoder import Decoding, Models
from speech.recogniser import SAMPLE_RATE_HZ
from speech.stt import PRE_ROLL_MS

# After the end of speech: at the VAD's first silent window, and 64 ms later at its third.
_EARLY_MS, _SURE_MS = (35, 110), (105, 190)
_PENALTY = 1000.0


def heard(models: Models, audio: Float32) -> Float32:
    """What the layer is given for a turn (mono, 16 kHz), as a call's recogniser gives it."""
    _, speech_rms = levels(audio, SAMPLE_RATE_HZ)
    conditioned = _condition(audio, speech_rms)
    states = Decoding(models, conditioned).states
    return features(states, conditioned.size / SAMPLE_RATE_HZ, _TAIL_S)


def hear_all(
    said: Sequence[tuple[str, int]], sayer: Sayer, rng: random.Random
) -> tuple[Float32, Floats]:
    """Features (places, 2, size) early and sure, and of each place (number, whether an end)."""
    models, noise = Models(), np.random.default_rng(SEED)
    rows, kinds = [], []
    for place in places(said, sayer, rng):
        rows.append(
            [
                heard(models, followed(place, PRE_ROLL_MS, rng.uniform(*span), noise))
                for span in (_EARLY_MS, _SURE_MS)
            ]
        )
        kinds.append((place.number, place.is_end))
    return np.array(rows, np.float32), np.array(kinds, float)


def main() -> int:
    """Say, hear, fit, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--to", type=Path, default=HEAD, help="file to write")
    options = parser.parse_args()
    if missing := lacking(options.data, SOURCES):
        print(missing, file=sys.stderr)
        return 2
    rng = random.Random(SEED)
    said = sentences(options.data, options.sentences, rng)
    rows, kinds = hear_all(said, Sayer(rng, np.random.default_rng(SEED)), rng)
    number, truth = kinds.T
    held, is_end = number % 5 == 0, truth > 0
    weights, bias = _fitted(rows[~held], truth[~held])
    odds = rows @ weights + bias
    early, sure = (auc(row[held & is_end], row[held & ~is_end]) for row in odds.T)
    print(f"{held.sum()} places held out: {early:.3f} at the first silent window, "
          f"{sure:.3f} at the pause; {len(truth)} fitted on")  # fmt: skip
    written(*_fitted(rows, truth), options.to)
    return 0


def _fitted(rows: Float32, truth: Floats) -> tuple[Floats, float]:
    return fit(rows.reshape(-1, rows.shape[-1]), np.repeat(truth, rows.shape[1]), _PENALTY)


if __name__ == "__main__":
    sys.exit(main())
