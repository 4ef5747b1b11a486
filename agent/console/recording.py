"""A call's recording as browsers play it: 16-bit PCM in a WAV, any range of it, and its peaks.

The file on disk is stereo µ-law WAV and may still be growing, or have been cut short by a kill:
its length on disk counts, not the one in its header. Nothing is decoded but what is asked for.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontdesk import WireError
from telephony.g711 import ulaw_decode

_MULAW = 7  # RFC 2361, appendix A
_HEAD_BYTES = 44
_CHUNK_BYTES = 131_072
_MAX_HEAD = 4096
MAX_PART_BYTES = 1_048_576
"""Of a range without an end. Browsers read no further ahead than they play, and a connection that
is not read is closed; so they ask again instead."""
_FULL_SCALE = 32768.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A stereo µ-law WAV file: its samples begin at byte ``start`` and ``frames`` are there."""

    path: Path
    rate_hz: int
    start: int
    frames: int

    @classmethod
    def open(cls, path: Path) -> Recording:
        """Read the header.

        Raises:
            OSError: it cannot be read.
            WireError: it is no stereo µ-law WAV.
        """
        with path.open("rb") as file:
            head = file.read(_MAX_HEAD)
            size = file.seek(0, 2)
        rate_hz, start = _header(head)
        return cls(path, rate_hz, start, max(0, size - start) // 2)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.rate_hz

    @property
    def size(self) -> int:
        """Bytes of it as PCM WAV."""
        return _HEAD_BYTES + 4 * self.frames

    def pcm(self, start: int, end: int) -> Iterator[bytes]:
        """Bytes ``start`` until ``end`` of it as PCM WAV, in chunks."""
        if start < _HEAD_BYTES:
            yield self._pcm_header()[start : min(end, _HEAD_BYTES)]
        at, last = max(start, _HEAD_BYTES), end
        with self.path.open("rb") as file:
            while at < last:
                until = min(last, at + _CHUNK_BYTES)
                yield self._samples(file.fileno(), at - _HEAD_BYTES, until - _HEAD_BYTES)
                at = until

    def peaks(self, buckets: int) -> NDArray[np.float32]:
        """The loudest sample of each of ``buckets`` equal parts, float32 (2, buckets), 0 to 1.

        Row 0 is the caller, row 1 the agent. Fewer parts where there are fewer samples.
        """
        buckets = max(1, min(buckets, self.frames))
        if not self.frames:
            return np.zeros((2, 1), np.float32)
        with self.path.open("rb") as file:
            file.seek(self.start)
            samples = np.fromfile(file, np.uint8, 2 * self.frames).reshape(-1, 2)
        # The lower seven bits of µ-law, inverted, grow with loudness (ITU-T G.711): no decoding.
        loud = ~samples & 0x7F
        edges = np.linspace(0, len(loud), buckets, endpoint=False, dtype=np.int64)
        most = np.maximum.reduceat(loud, edges, axis=0).astype(np.uint8)
        level = np.abs(ulaw_decode((~most).tobytes()).astype(np.float32)) / _FULL_SCALE
        return np.ascontiguousarray(level.reshape(-1, 2).T)

    def _samples(self, fd: int, start: int, end: int) -> bytes:
        """Bytes of the decoded samples; what a file that shrinks lacks is silence."""
        first, last = start // 2, -(-end // 2)
        raw = os.pread(fd, last - first, self.start + first)
        decoded = ulaw_decode(raw.ljust(last - first, b"\xff")).astype("<i2").tobytes()
        return decoded[start - 2 * first : end - 2 * first]

    def _pcm_header(self) -> bytes:
        """http://soundfile.sapp.org/doc/WaveFormat/."""
        data = 4 * self.frames
        return (
            b"RIFF" + struct.pack("<I", 36 + data) + b"WAVEfmt "
            + struct.pack("<IHHIIHH", 16, 1, 2, self.rate_hz, 4 * self.rate_hz, 4, 16)
            + b"data" + struct.pack("<I", data)
        )  # fmt: skip


def _header(head: bytes) -> tuple[int, int]:
    """The rate, and where the samples begin."""
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        raise WireError("a recording that is no WAV")
    at, rate_hz = 12, 0
    while at + 8 <= len(head):
        name, size = head[at : at + 4], int.from_bytes(head[at + 4 : at + 8], "little")
        body = head[at + 8 : at + 8 + size]
        if name == b"fmt ":
            kind, channels, rate_hz = struct.unpack_from("<HHI", body.ljust(8, b"\0"))
            if (kind, channels) != (_MULAW, 2) or not 1000 <= rate_hz <= 192_000:
                raise WireError("a recording that is not stereo µ-law")
        elif name == b"data" and rate_hz:
            return rate_hz, at + 8
        at += 8 + size + size % 2
    raise WireError("a recording without samples")


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Start and end of the one range that ``header`` asks for; None for all of it.

    RFC 9110, section 14: a header that cannot be read, or that asks for several ranges, is as none.

    Raises:
        ValueError: no byte of it is there (416).
    """
    unit, _, spec = header.partition("=")
    first, dash, last = spec.strip().partition("-")
    readable = all(not part or (part.isascii() and part.isdigit()) for part in (first, last))
    if unit.strip() != "bytes" or not dash or not readable or not (first or last):
        return None
    if len(first) > 18 or len(last) > 18:
        raise ValueError("a range that is not there")
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start = int(first)
        end = min(size, int(last) + 1 if last else start + MAX_PART_BYTES)
        if last and int(last) < int(first):
            return None
    if start >= size or start >= end:
        raise ValueError("a range that is not there")
    return start, end
