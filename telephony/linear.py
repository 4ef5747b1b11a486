"""16-bit linear audio in binary messages, least significant byte first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frontdesk import WireError


def read_linear(data: bytes, most: int) -> NDArray[np.int16]:
    """The samples in ``data``, at most ``most``.

    Raises:
        WireError: they are more, or the last is cut in two.
    """
    if len(data) > 2 * most:
        raise WireError(f"audio message of over {2 * most} bytes")
    if len(data) % 2:
        raise WireError("audio message that ends within a sample")
    return np.frombuffer(data, "<i2").astype(np.int16, copy=False)


def write_linear(samples: NDArray[np.int16], multiple: int = 1) -> bytes:
    """``samples`` as bytes, with silence behind them to a whole ``multiple``."""
    return samples.astype("<i2", copy=False).tobytes() + bytes(2 * (-samples.size % multiple))
