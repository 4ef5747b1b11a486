"""The last seconds of a recording in memory, and what is still to be heard of the agent. No I/O.

Places are samples since the call began, the same for both channels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from telephony.g711 import ULAW_SILENCE

UInt8 = NDArray[np.uint8]


class Tape:
    """Two channels of µ-law side by side, silence where nothing was put.

    What lies before ``settled`` is out of reach. ``written`` is up to where the file goes.
    """

    def __init__(self, room: int) -> None:
        """``room`` is how many samples are kept without asking for more memory."""
        self._rows: UInt8 = np.full((room, 2), ULAW_SILENCE, np.uint8)
        self._base = 0
        self.settled = 0
        self.written = 0
        self._dirty = 0

    def put(self, channel: int, at: int, ulaw: UInt8) -> None:
        """Lay ``ulaw`` down at ``at``, which is not before ``settled``."""
        end = at + ulaw.size
        self._reach(end)
        self._rows[at - self._base : end - self._base, channel] = ulaw
        self._dirty = min(self._dirty, at)

    def blank(self, channel: int, start: int, end: int) -> None:
        """Silence from ``start`` to ``end``."""
        start = max(start, self.settled)
        end = min(end, self._base + len(self._rows))
        if start < end:
            self._rows[start - self._base : end - self._base, channel] = ULAW_SILENCE
            self._dirty = min(self._dirty, start)

    def move(self, channel: int, start: int, end: int, by: int) -> None:
        """Put what lies from ``start`` to ``end`` earlier by ``by``, over what was there."""
        lane = self._rows[:, channel]
        low, high = start - self._base, end - self._base
        lane[low - by : high - by] = lane[low:high].copy()
        lane[high - by : high] = ULAW_SILENCE
        self._dirty = min(self._dirty, start - by)

    def fresh(self, now: int) -> tuple[int, bytes]:
        """Where the file is to be written up to ``now``, and with what. It counts as written."""
        at, now = min(self._dirty, self.written), max(now, self.written)
        self._reach(now)
        data = self._rows[at - self._base : now - self._base].tobytes()
        self.written = self._dirty = now
        return at, data

    def settle(self, to: int) -> bytes:
        """Nothing before ``to`` will change any more; the rows from ``settled`` on."""
        to = min(to, self.written)
        if to <= self.settled:
            return b""
        data = self._rows[self.settled - self._base : to - self._base].tobytes()
        self.settled = to
        return data

    def _reach(self, end: int) -> None:
        """Make room up to ``end``: by letting go of what is settled, or else by more memory."""
        if end - self._base <= len(self._rows):
            return
        kept = self._rows[self.settled - self._base :]
        needed = max(len(self._rows), 2 * (end - self.settled))
        rows = np.full((needed, 2), ULAW_SILENCE, np.uint8)
        rows[: len(kept)] = kept
        self._rows, self._base = rows, self.settled
