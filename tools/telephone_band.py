"""A clean voice turned into what a telephone line delivers: 8 kHz, 300 to 3,400 Hz, µ-law.

Band and companding are those of ITU-T G.711 and G.712. Everything is float32 in [-1, 1], mono;
randomness comes only from the generator that is passed in.
"""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

RATE_HZ = 8000
PAD_MS = 100
NOISES = ("white", "hum", "babble")

_LOW_HZ, _HIGH_HZ, _TAPS = 300, 3400, 255
_FRAME = RATE_HZ // 100
_SPEECH_BELOW_PEAK_DB = 38.0

Float32 = npt.NDArray[np.float32]


def narrow(samples: Float32, rate_hz: int) -> Float32:
    """``samples`` at 8 kHz, band-passed, trimmed to 100 ms of silence at each end."""
    at_8k = soxr.resample(samples.astype(np.float32), rate_hz, RATE_HZ, quality="HQ")
    return _trim(np.convolve(at_8k, _band_pass(), mode="same").astype(np.float32))


def level_to(samples: Float32, dbfs: float) -> Float32:
    """``samples`` scaled so that the RMS of the frames with speech is ``dbfs``, peaks kept."""
    gain = 10 ** (dbfs / 20) / _speech_rms(samples)
    return (samples * min(gain, 0.98 / np.abs(samples).max())).astype(np.float32)


def add_noise(
    samples: Float32, kind: str, snr_db: float, rng: np.random.Generator, babble: Float32
) -> Float32:
    """``samples`` with noise ``kind`` at ``snr_db`` below the speech.

    White noise and babble pass the line's band; hum (60 Hz and harmonics) is the line's own.
    ``babble`` is at least as long as ``samples``; a random stretch of it is taken.
    """
    size = samples.size
    if kind == "white":
        noise = np.convolve(rng.normal(size=size), _band_pass(), mode="same")
    elif kind == "hum":
        time = np.arange(size) / RATE_HZ
        phases = rng.uniform(0, 2 * np.pi, 6)
        noise = sum(np.sin(2 * np.pi * 60 * (n + 1) * time + phases[n]) / (n + 1) for n in range(6))
    elif kind == "babble":
        start = int(rng.integers(0, babble.size - size + 1))
        noise = babble[start : start + size]
    else:
        raise ValueError(f"unknown noise {kind!r}; known: {', '.join(NOISES)}")
    rms = float(np.sqrt(np.mean(np.square(noise))))
    gain = _speech_rms(samples) / 10 ** (snr_db / 20) / rms
    return np.clip(samples + noise * gain, -1, 1).astype(np.float32)


def through_mu_law(samples: Float32) -> Float32:
    """``samples`` after one pass of µ-law encoding and decoding."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE_HZ, format="RAW", subtype="ULAW")
    buffer.seek(0)
    decoded, _ = soundfile.read(
        buffer, dtype="float32", format="RAW", subtype="ULAW", samplerate=RATE_HZ, channels=1
    )
    return decoded  # type: ignore[no-any-return]


def _band_pass() -> Float32:
    """Windowed-sinc band-pass (Hamming)."""
    n = np.arange(_TAPS) - _TAPS // 2
    wide, low = (2 * f / RATE_HZ * np.sinc(2 * f / RATE_HZ * n) for f in (_HIGH_HZ, _LOW_HZ))
    return ((wide - low) * np.hamming(_TAPS)).astype(np.float32)


def _frame_rms(samples: Float32) -> Float32:
    """RMS of each whole 10 ms frame."""
    frames = samples[: samples.size // _FRAME * _FRAME].reshape(-1, _FRAME)
    return np.sqrt(np.mean(np.square(frames), axis=1))


def _with_speech(samples: Float32) -> npt.NDArray[np.bool_]:
    rms = _frame_rms(samples)
    return rms > rms.max() * 10 ** (-_SPEECH_BELOW_PEAK_DB / 20)


def _speech_rms(samples: Float32) -> float:
    loud = _frame_rms(samples)[_with_speech(samples)]
    return float(np.sqrt(np.mean(np.square(loud))))


def _trim(samples: Float32) -> Float32:
    pad = RATE_HZ * PAD_MS // 1000
    frames = np.flatnonzero(_with_speech(samples))
    first, last = int(frames[0]) * _FRAME, (int(frames[-1]) + 1) * _FRAME
    padded = np.pad(samples, pad)
    return padded[first : last + 2 * pad]
