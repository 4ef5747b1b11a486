"""What a telephone line makes of speech: 300 to 3,400 Hz, µ-law (ITU-T G.712 and G.711)."""

from __future__ import annotations

from functools import cache

import numpy as np

from speech import mulaw
from speech.audio import Float32, Int16, to_float32, to_int16

RATE_HZ = 8000
_LOW_HZ, _HIGH_HZ, _TAPS = 300, 3400, 255


def over_the_line(samples: Int16) -> Float32:
    """``samples`` (mono, 8 kHz) as they come out at the far end, in [-1, 1]; as many."""
    if not samples.size:
        return to_float32(samples)
    banded = np.convolve(to_float32(samples), _band(), mode="full")
    start = _TAPS // 2
    sent = to_int16(banded[start : start + samples.size].astype(np.float32))
    return to_float32(mulaw.decode(mulaw.encode(sent)))


@cache
def _band() -> Float32:
    """Windowed-sinc band-pass (Hamming)."""
    n = np.arange(_TAPS) - _TAPS // 2
    wide, low = (2 * f / RATE_HZ * np.sinc(2 * f / RATE_HZ * n) for f in (_HIGH_HZ, _LOW_HZ))
    taps: Float32 = ((wide - low) * np.hamming(_TAPS)).astype(np.float32)
    return taps
