"""µ-law (ITU-T G.711), one byte a sample: how speech for a telephone is kept.

The wire carries µ-law, so nothing is lost that a caller could hear: what is decoded here is
encoded there to the same bytes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from speech.audio import Int16

Bytes = npt.NDArray[np.uint8]

_MINUS_ZERO = 0x7F  # stands for the same sample as 0xFF


def _levels() -> Int16:
    """The sample that each byte stands for: a sign, three bits of segment, four within it."""
    code = ~np.arange(256) & 0xFF
    size = ((((code & 0x0F) << 3) + 0x84) << (code >> 4 & 7)) - 0x84
    return np.where(code & 0x80, -size, size).astype(np.int16)


def _nearest() -> Bytes:
    """The byte of the level nearest to each 16-bit sample, at the index of its bit pattern."""
    order = np.argsort(_LEVELS)
    order = order[order != _MINUS_ZERO]
    sizes = _LEVELS[order].astype(np.int64)
    samples = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int64)
    nearest: Bytes = order[np.searchsorted((sizes[:-1] + sizes[1:]) / 2, samples)].astype(np.uint8)
    return nearest


_LEVELS = _levels()
_BYTE_OF = _nearest()


def encode(samples: Int16) -> Bytes:
    """The byte of each sample."""
    coded: Bytes = _BYTE_OF[samples.view(np.uint16)]
    return coded


def decode(coded: Bytes) -> Int16:
    """The sample of each byte."""
    samples: Int16 = _LEVELS[coded]
    return samples
