"""The provider's playout buffer, without I/O: returned media plays at 8,000 samples a second.

Positions and times are whole samples since the call began.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telephony.caller_types import AUDIBLE
from telephony.g711 import ulaw_decode

_LOUD = bytes(np.abs(ulaw_decode(bytes(range(256))).astype(np.int32)) > AUDIBLE)


class _Segment(NamedTuple):
    start: int
    payload: bytes
    loud: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.payload)


class PlayoutBuffer:
    """Queues µ-law audio, plays it in real time, drops it on a clear, returns marks in order.

    Nothing is decoded before the end of the call: whether a sample is audible is looked up from
    its byte, which keeps eight callers off the agent's two cores.
    """

    def __init__(self) -> None:
        self.end = 0
        """Where the queued audio ends."""
        self.cleared = 0
        """Samples dropped unplayed, in all."""
        self._segments: list[_Segment] = []
        self._marks: deque[tuple[int, str]] = deque()
        self._heard_to = 0
        self._cursor = 0

    def add(self, payload: bytes, now: int) -> None:
        """Queue media received at ``now``; it plays at once, or after what is queued already."""
        start = max(now, self.end)
        self._segments.append(_Segment(start, payload, payload.translate(_LOUD)))
        self.end = start + len(payload)

    def clear(self, now: int) -> list[str]:
        """Drop what has not been played by ``now``; the names of the marks that come back for it.

        Ask ``heard(now)`` first.
        """
        while self._segments and self._segments[-1].end > now:
            start, payload, loud = self._segments.pop()
            if start < now:
                self._segments.append(_Segment(start, payload[: now - start], loud[: now - start]))
                break
        self.cleared += max(0, self.end - now)
        self.end = min(self.end, now)
        names = [name for _, name in self._marks]
        self._marks.clear()
        return names

    def mark(self, name: str) -> None:
        """Queue a mark behind the audio received so far."""
        self._marks.append((self.end, name))

    @property
    def next_mark(self) -> int | None:
        """When the next mark comes back, if nothing is cleared."""
        return self._marks[0][0] if self._marks else None

    def due_marks(self, now: int) -> list[str]:
        """Names of the marks whose audio has been played by ``now``, once each."""
        names = []
        while self._marks and self._marks[0][0] <= now:
            names.append(self._marks.popleft()[1])
        return names

    def heard(self, now: int) -> tuple[int, int] | None:
        """Where the first audible sample since the last call lies, and where the last one ends.

        None if nothing audible was played since then up to ``now``.
        """
        first = last = None
        while self._cursor < len(self._segments):
            segment = self._segments[self._cursor]
            if segment.start >= now:
                break
            low = max(self._heard_to - segment.start, 0)
            high = min(now, segment.end) - segment.start
            found = segment.loud.find(1, low, high)
            if found >= 0:
                first = segment.start + found if first is None else first
                last = segment.start + segment.loud.rfind(1, low, high) + 1
            if segment.end > now:
                break
            self._cursor += 1
        self._heard_to = max(self._heard_to, now)
        return None if first is None or last is None else (first, last)

    def played(self, length: int) -> NDArray[np.int16]:
        """What was played in the first ``length`` samples: int16, zeros where nothing was."""
        pcm = np.zeros(length, np.int16)
        for start, payload, _ in self._segments:
            room = length - start
            if room > 0:
                pcm[start : start + len(payload)] = ulaw_decode(payload[:room])
        return pcm
