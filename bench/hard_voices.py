"""Recorded callers made hard to hear: quiet, whispered, a child's, through a bad line.

Mono float32 at 8 kHz in and out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import soxr

from bench.noises import RATE_HZ, over_telephone
from speech.audio import Float32
from telephony.bad_line import BadLine

_CHILD = 1.35
_ORDER = 12
_BLOCK = 240


def child(audio: Float32) -> Float32:
    """Pitch and formants a third higher, as of a shorter throat; faster by as much."""
    return soxr.resample(audio, RATE_HZ * _CHILD, RATE_HZ).astype(np.float32)


def whispered(audio: Float32, seed: int = 0) -> Float32:
    """The voice taken out by linear prediction: each 30 ms block's spectral shape, from noise."""
    rng = np.random.default_rng(seed)
    hop = _BLOCK // 2
    window = np.hanning(_BLOCK + 1)[:-1]
    out = np.zeros(audio.size + _BLOCK)
    for at in range(0, audio.size - _BLOCK, hop):
        block = audio[at : at + _BLOCK] * window
        power = np.abs(np.fft.rfft(block, 1024)) ** 2
        correlation = np.fft.irfft(power)[: _ORDER + 1]
        if correlation[0] < 1e-9:
            continue
        row = correlation[:_ORDER] * np.r_[1.001, np.ones(_ORDER - 1)]
        lags = np.abs(np.subtract.outer(np.arange(_ORDER), np.arange(_ORDER)))
        predictor = np.linalg.solve(row[lags], correlation[1:])
        error = max(correlation[0] - predictor @ correlation[1:], 0.0)
        response = np.fft.rfft(np.r_[1, -predictor], 1024)
        shaped = np.fft.irfft(np.fft.rfft(rng.normal(size=_BLOCK), 1024) / response)[:_BLOCK]
        out[at : at + _BLOCK] += shaped * window * np.sqrt(error / _BLOCK)
    return (out[: audio.size] * 10 ** (-10 / 20)).astype(np.float32)


def _narrow(audio: Float32) -> Float32:
    spectrum = np.fft.rfft(audio)
    frequency = np.fft.rfftfreq(audio.size, 1 / RATE_HZ)
    spectrum[(frequency < 400) | (frequency > 2800)] = 0
    return np.fft.irfft(spectrum, audio.size).astype(np.float32)


def _through(line: BadLine) -> Callable[[Float32], Float32]:
    def hear(audio: Float32) -> Float32:
        pcm = np.clip(np.rint(audio * 32768), -32768, 32767).astype(np.int16)
        return line.heard_with_gaps(pcm).astype(np.float32) / np.float32(32768)

    return hear


VOICES: dict[str, Callable[[Float32], Float32]] = {
    "as recorded": lambda audio: audio,
    "20 dB quieter": lambda audio: audio * np.float32(0.1),
    "whispered": whispered,
    "a child": child,
    "narrow band": _narrow,
    "10 % loss": _through(BadLine(loss_percent=10)),
    "half-second gaps": _through(BadLine(gap_ms=500)),
    "clipped": _through(BadLine(gain_db=30)),
    "offset": _through(BadLine(offset=6000)),
    "noise": _through(BadLine(noise_db=-35)),
}


def hard(kind: str, audio: Float32) -> Float32:
    """``audio`` made hard in the way ``kind`` names, through µ-law."""
    return over_telephone(VOICES[kind](audio))
