"""The audio formats that Asterisk sends over a socket, by Asterisk's own names for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telephony.g711 import alaw_decode, alaw_encode, ulaw_decode, ulaw_encode

FRAME_MS = 20


@dataclass(frozen=True, slots=True)
class Format:
    """``silence`` is one sample of it; ``decode`` takes whole samples and gives int16."""

    rate_hz: int
    silence: bytes
    decode: Callable[[bytes], NDArray[np.int16]]
    encode: Callable[[NDArray[np.int16]], bytes]

    @property
    def frame_bytes(self) -> int:
        """Of 20 ms: Asterisk drops what is less at the end of a message, so messages are padded."""
        return self.rate_hz * FRAME_MS // 1000 * len(self.silence)

    def padded(self, payload: bytes) -> bytes:
        """``payload`` as whole frames of 20 ms, silence at its end."""
        short = -len(payload) % self.frame_bytes
        return payload + self.silence * (short // len(self.silence)) if short else payload


def _linear_decode(payload: bytes) -> NDArray[np.int16]:
    return np.frombuffer(payload, "<i2").astype(np.int16, copy=False)


def _linear_encode(samples: NDArray[np.int16]) -> bytes:
    return samples.astype("<i2", copy=False).tobytes()


FORMATS = {
    "ulaw": Format(8000, b"\xff", ulaw_decode, ulaw_encode),
    "alaw": Format(8000, b"\xd5", alaw_decode, alaw_encode),
    "slin": Format(8000, b"\0\0", _linear_decode, _linear_encode),
    "slin16": Format(16000, b"\0\0", _linear_decode, _linear_encode),
}
