"""G.711: µ-law and A-law by look-up tables, bit for bit what ``audioop`` made.

``audioop`` left the standard library in Python 3.13. The tables follow ITU-T G.711 (tables 1a to
2b) in the arrangement of the Sun Microsystems reference code, which ``audioop`` used too: µ-law
from the top 14 bits of a sample, A-law from the top 13.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 8000
ULAW_SILENCE = 0xFF
"""The µ-law byte of a zero sample."""

_ULAW_BIAS = 33
_ULAW_CLIP = 8159
_ULAW_SEGMENT_ENDS = np.array([0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF, 0x1FFF])
_ALAW_SEGMENT_ENDS = np.array([0x1F, 0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF])


def _every_sample() -> NDArray[np.int64]:
    """All 16-bit samples, at the index of their two's complement."""
    return np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int64)


def _ulaw_encode_table() -> NDArray[np.uint8]:
    linear = _every_sample() >> 2
    mask = np.where(linear < 0, 0x7F, 0xFF)
    magnitude = np.minimum(np.abs(linear), _ULAW_CLIP) + _ULAW_BIAS
    segment = np.searchsorted(_ULAW_SEGMENT_ENDS, magnitude)
    code = (segment << 4) | ((magnitude >> (segment + 1)) & 0x0F)
    code = np.where(segment > 7, 0x7F, code)  # a clipped sample lies one past the last segment
    return (code ^ mask).astype(np.uint8)


def _ulaw_decode_table() -> NDArray[np.int16]:
    code = ~np.arange(256) & 0xFF
    magnitude = ((((code & 0x0F) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _alaw_encode_table() -> NDArray[np.uint8]:
    linear = _every_sample() >> 3
    mask = np.where(linear >= 0, 0xD5, 0x55)
    magnitude = np.where(linear >= 0, linear, -linear - 1)
    segment = np.searchsorted(_ALAW_SEGMENT_ENDS, magnitude)
    code = (segment << 4) | ((magnitude >> np.maximum(segment, 1)) & 0x0F)
    return (code ^ mask).astype(np.uint8)


def _alaw_decode_table() -> NDArray[np.int16]:
    code = np.arange(256) ^ 0x55
    segment = (code & 0x70) >> 4
    step = ((code & 0x0F) << 4) + np.where(segment == 0, 8, 0x108)
    magnitude = step << np.maximum(segment - 1, 0)
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


_ULAW_OF = _ulaw_encode_table()
_LINEAR_OF_ULAW = _ulaw_decode_table()
_ALAW_OF = _alaw_encode_table()
_LINEAR_OF_ALAW = _alaw_decode_table()


def ulaw_encode(pcm: NDArray[np.int16]) -> bytes:
    """µ-law of ``pcm`` (int16, any shape, read in C order), one byte a sample."""
    return _ULAW_OF[np.ascontiguousarray(pcm, dtype=np.int16).view(np.uint16)].tobytes()


def ulaw_decode(data: bytes) -> NDArray[np.int16]:
    """Samples (int16, shape ``(len(data),)``) of µ-law ``data``."""
    return _LINEAR_OF_ULAW[np.frombuffer(data, np.uint8)]


def alaw_encode(pcm: NDArray[np.int16]) -> bytes:
    """A-law of ``pcm`` (int16, any shape, read in C order), one byte a sample."""
    return _ALAW_OF[np.ascontiguousarray(pcm, dtype=np.int16).view(np.uint16)].tobytes()


def alaw_decode(data: bytes) -> NDArray[np.int16]:
    """Samples (int16, shape ``(len(data),)``) of A-law ``data``."""
    return _LINEAR_OF_ALAW[np.frombuffer(data, np.uint8)]
