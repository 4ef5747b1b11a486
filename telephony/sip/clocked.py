"""The caller's audio against the clock: as much of it as time has passed. No I/O.

What the network lost, what a telephone leaves out while nobody speaks and what a held call does
not send at all comes out as silence; a sender whose clock runs fast loses a frame now and then.
"""

from __future__ import annotations

FRAME_MS = 20
_BEHIND_MS = 200
"""Audio this late is missing: more than jitter makes of it. Silence then, until some comes."""
_AHEAD_MS = 100
"""Audio is left out when there is this much more than time has passed."""


class Clocked:
    """16-bit samples in as they arrive, whole frames of 20 ms out as they are due."""

    def __init__(self, rate_hz: int) -> None:
        self.frame_bytes = rate_hz * FRAME_MS // 1000 * 2
        self.filled = 0
        """Frames of silence that were put in."""
        self.dropped = 0
        """Frames that were left out."""
        self._began: float | None = None
        self._frames = 0
        self._rest = b""
        self._absent = False

    def due(self, audio: bytes, now: float) -> bytes:
        """Take ``audio`` that has just arrived; what is due at ``now`` (seconds), maybe nothing."""
        if self._began is None:
            self._began = now
        passed = int((now - self._began) * 1000) // FRAME_MS
        self._rest += audio
        frames, size = len(self._rest) // self.frame_bytes, self.frame_bytes
        extra = max(0, self._frames + frames - passed - _AHEAD_MS // FRAME_MS)
        if extra:
            self._rest = self._rest[extra * size :]
            self.dropped += extra
            frames -= extra
        out, self._rest = self._rest[: frames * size], self._rest[frames * size :]
        self._frames += frames
        behind = passed - self._frames
        self._absent = behind > _BEHIND_MS // FRAME_MS or (self._absent and not audio)
        missing = behind - 1 if self._absent else 0
        if missing > 0:
            out += bytes(missing * size)
            self._frames += missing
            self.filled += missing
        return out
