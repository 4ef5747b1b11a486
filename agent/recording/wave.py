"""The file of a recording: stereo µ-law WAV, whose header says the truth once the call is over.

Format 7 (``WAVE_FORMAT_MULAW``), two channels of a byte a sample, the caller left and the agent
right; Multimedia Programming Interface and Data Specifications 1.0 (IBM, Microsoft 1991) and
RFC 2361. While the call goes on, and after a kill, the lengths in the header are 0xFFFFFFFF and
the sound is what follows it.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from frontdesk import ConfigError
from telephony.g711 import ulaw_decode

HEADER_BYTES = 58
ROW_BYTES = 2
"""A sample of the caller's and one of the agent's."""
CALLER, AGENT = 0, 1
_MULAW = 7
_OPEN = 0xFFFFFFFF
_HEADER = struct.Struct("<4sI4s 4sIHHIIHHH 4sII 4sI")


def header(rate_hz: int, rows: int | None) -> bytes:
    """The 58 bytes before ``rows`` samples a channel; None: as many as there will be."""
    size = _OPEN if rows is None else rows * ROW_BYTES
    riff = _OPEN if rows is None else HEADER_BYTES - 8 + size
    frames = _OPEN if rows is None else rows
    form = (b"fmt ", 18, _MULAW, 2, rate_hz, rate_hz * ROW_BYTES, ROW_BYTES, 8, 0)
    fact, data = (b"fact", 4, frames), (b"data", size)
    return _HEADER.pack(b"RIFF", riff, b"WAVE", *form, *fact, *data)


def rate_of(head: bytes) -> int | None:
    """The rate in Hz in the header of a recording of ours; None for any other bytes."""
    if len(head) < HEADER_BYTES:
        return None
    rate_hz = int(_HEADER.unpack(head[:HEADER_BYTES])[7])
    if not 0 < rate_hz <= 192_000:
        return None
    end = int(_HEADER.unpack(head[:HEADER_BYTES])[-1])
    rows = None if end == _OPEN else end // ROW_BYTES
    return rate_hz if head[:HEADER_BYTES] == header(rate_hz, rows) else None


def read_recording(path: str | Path) -> tuple[NDArray[np.int16], int]:
    """The samples (int16, shape ``(n, 2)``: caller, agent) of a recording, and their rate in Hz.

    One that was cut short by a kill is read as far as it goes; any other stereo file that
    libsndfile reads will do.

    Raises:
        ConfigError: it cannot be read, or is not stereo.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read recording {path}: {error.strerror}") from None
    rate_hz = rate_of(data)
    if rate_hz is None:
        return _foreign(path)
    sound = data[HEADER_BYTES:]
    rows = len(sound) // ROW_BYTES
    return ulaw_decode(sound[: rows * ROW_BYTES]).reshape(rows, 2), rate_hz


def _foreign(path: Path) -> tuple[NDArray[np.int16], int]:
    try:
        samples, rate_hz = soundfile.read(str(path), dtype="int16", always_2d=True)
    except soundfile.LibsndfileError as error:
        reason = error.error_string.rstrip(".")
        raise ConfigError(f"cannot read recording {path}: {reason}") from None
    if samples.shape[1] != 2:
        raise ConfigError(
            f"{path} is no recording of a call: it takes two channels, the caller left and the "
            f"agent right, and this has {samples.shape[1]}"
        )
    return samples, int(rate_hz)
