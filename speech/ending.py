"""How finished a turn sounds, from what the recogniser's encoder heard: no model of its own.

One logistic layer on Moonshine's encoder states around the end of speech. The encoder has run
anyway by the time a pause is judged, so the judgement costs nothing; Smart Turn v3.2 takes 47 ms,
as long as the whole recognition. Fitted by ``tools/fit_ending.py`` on synthesised sentences over
the telephone band, whole and cut inside; see ``docs/patience.md`` for what it is worth.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from frontdesk.odds import probability
from speech.audio import Float32

HEAD = Path(__file__).with_name("ending.json")

# Seconds before the end of the audio, each from and to: the silence that was appended to it, the
# last tenth of a second, and two spans before. Each span's states are averaged.
SPANS_S = ((0.0, -0.3), (0.1, 0.0), (0.22, 0.1), (0.4, 0.22))


def features(states: Float32, audio_s: float, appended_s: float) -> Float32:
    """What the layer is given: the mean state of each span, one after another.

    ``states`` (frames, size) are the encoder's over ``audio_s`` seconds, the last ``appended_s``
    of them silence that was put there.
    """
    rate = len(states) / audio_s
    end = len(states) - round(appended_s * rate)

    def mean(since_s: float, until_s: float) -> Float32:
        start = max(0, end - round(since_s * rate))
        stop = min(len(states), max(start + 1, end - round(until_s * rate)))
        kept: Float32 = states[start:stop].mean(axis=0)
        return kept

    return np.concatenate([mean(since, until) for since, until in SPANS_S])


def finished(states: Float32, audio_s: float, appended_s: float) -> float:
    """Probability in 0 to 1 that the turn is complete; see ``features``."""
    weights, bias = _layer()
    return probability(float(features(states, audio_s, appended_s) @ weights) + bias)


@cache
def _layer() -> tuple[Float32, float]:
    rows = json.loads(HEAD.read_text(encoding="utf-8"))
    return np.asarray(rows["weights"], np.float32), float(rows["bias"])
