"""Whether what comes in is the agent's own voice, come back over the caller's loudspeaker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from speech.audio import Float32, Int16

# Most of a voice's energy on a telephone lies under 2 kHz, and a quarter of the work is enough.
_RATE_HZ = 4000
# The path from loudspeaker to microphone: the loudest arrival and 4 ms around it.
_BEFORE, _TAPS = 4, 16
_SILENT = 1e-9


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like what was played is what came in.

    ``share`` of its energy, 0 to 1, is a delayed and filtered copy of what was played; ``gain`` is
    the RMS of that part over that of the stretch that it copies (0 where either is silent).
    """

    share: float
    gain: float


NOTHING = Likeness(0.0, 0.0)


def likeness(heard: Int16, played: Int16, rate_hz: int) -> Likeness:
    """How much of ``heard`` comes from ``played``.

    Both are mono int16 at ``rate_hz`` and end at the same moment; ``played`` is the longer by the
    longest delay that is looked for. The delay is where the normalised cross-correlation is
    largest in magnitude; the path around it is a least-squares filter of 16 taps at 4 kHz. By
    chance a voice explains something of any other: 0.11 of 200 ms (median), 0.3 (95 %).

    Raises:
        ValueError: if ``played`` is shorter than ``heard``, or either is not one-dimensional.
    """
    if heard.ndim != 1 or played.ndim != 1 or played.size < heard.size:
        raise ValueError(f"cannot look for {played.shape} in {heard.shape}")
    h, p = _coarse(heard, rate_hz), _coarse(played, rate_hz)
    energy = float(h @ h)
    if h.size < 2 * _TAPS or energy < _SILENT * h.size or float(p @ p) < _SILENT * p.size:
        return NOTHING
    start = _alignment(h, p)
    padded = np.concatenate((np.zeros(_TAPS, np.float32), p, np.zeros(_TAPS, np.float32)))
    shifted = np.lib.stride_tricks.sliding_window_view(padded, h.size)
    paths = shifted[start + _BEFORE : start + _BEFORE + _TAPS]
    gram = paths @ paths.T
    gram[np.diag_indices(_TAPS)] += 1e-3 * float(np.trace(gram)) / _TAPS + _SILENT
    matched = paths @ h
    share = float(matched @ np.linalg.solve(gram, matched)) / energy
    source = p[start : start + h.size]
    share = min(1.0, max(0.0, share))
    return Likeness(share, (share * energy / (float(source @ source) + _SILENT)) ** 0.5)


def _alignment(h: Float32, p: Float32) -> int:
    """Where in ``p`` the stretch begins that is most like ``h``, up to its sign and level."""
    size = 1 << (p.size + h.size - 1).bit_length()
    spectrum = np.fft.rfft(p, size) * np.conj(np.fft.rfft(h, size))
    correlation = np.fft.irfft(spectrum, size)[: p.size - h.size + 1]
    sums = np.concatenate(([0.0], np.cumsum(np.square(p, dtype=np.float64))))
    energies = sums[h.size :] - sums[: sums.size - h.size]
    floor = 0.01 * float(energies.max()) + _SILENT
    return int(np.argmax(np.square(correlation) / np.maximum(energies, floor)))


def _coarse(samples: Int16, rate_hz: int) -> Float32:
    """At 4 kHz in [-1, 1), without its mean (a line's offset is no echo).

    Averaging neighbours lets some of what lies over 2 kHz through, of both alike.
    """
    step = max(1, rate_hz // _RATE_HZ)
    whole = samples[samples.size % step :].reshape(-1, step)
    wave: Float32 = whole.mean(axis=1, dtype=np.float32) / np.float32(32768)
    return wave - wave.mean(dtype=np.float32) if wave.size else wave
