"""What is queued for the loudspeaker, between the event loop and PortAudio's threads."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable

_AHEAD = 10
"""Pieces queued before a writer waits: 200 ms, against a loop that is late."""
_LOOKS = 50
"""Pieces, a second of them, over which microphone and speaker are held together."""
_MOST_LATE = 4
_MOST_KEPT = 100
_RUNS = 8
"""Questions after which a device runs: the first fill it at once, and it may take 2 s to start."""


class Speaker:
    """Plays pieces of ``size`` bytes in order, silence in between, and remembers what it played.

    One thread asks for the next piece (:meth:`next`), another for what was played while it heard
    one (:meth:`heard_with`); the rest is the event loop's.
    """

    def __init__(self, size: int) -> None:
        self._silence = bytes(size)
        self._lock = threading.Lock()
        self._queue: deque[bytes | str] = deque()
        self._played: deque[bytes] = deque()
        self._least, self._looks = _MOST_KEPT, 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tell: Callable[[str], Awaitable[None]] | None = None
        self._room = asyncio.Event()
        self._running = asyncio.Event()
        self._taken = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def opened(
        self, loop: asyncio.AbstractEventLoop, tell: Callable[[str], Awaitable[None]]
    ) -> None:
        """The device is open; ``tell`` is awaited on ``loop`` with each mark that was heard."""
        self._loop, self._tell = loop, tell

    async def runs(self, timeout_s: float) -> bool:
        """Wait until the device takes pieces in their time; whether it does."""
        try:
            await asyncio.wait_for(self._running.wait(), timeout_s)
        except TimeoutError:
            return False
        return True

    async def play(self, piece: bytes) -> bool:
        """Queue ``piece``; returns when there is room for another."""
        with self._lock:
            self._queue.append(piece)
            self._room.clear()
        while self._pieces() > _AHEAD:
            await self._room.wait()
            self._room.clear()
        return True

    def mark(self, name: str) -> None:
        """Tell ``name`` once everything before it was heard, or dropped."""
        with self._lock:
            self._queue.append(name)

    def clear(self) -> None:
        """Drop what is queued."""
        with self._lock:
            marks = [one for one in self._queue if isinstance(one, str)]
            self._queue.clear()
        self._room.set()
        for name in marks:
            self._heard(name, 0.0)

    def next(self, frames: int, later_s: float) -> bytes:
        """The next pieces for the device, ``frames`` in all, heard ``later_s`` from now."""
        marks: list[str] = []
        with self._lock:
            pieces = [self._piece(marks) for _ in range(2 * frames // len(self._silence))]
            self._played.extend(pieces)
            if len(self._played) > _MOST_KEPT:  # no microphone asks
                self._played.clear()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._took, marks, later_s)
        return b"".join(pieces)

    def _piece(self, marks: list[str]) -> bytes:
        while self._queue:
            first = self._queue.popleft()
            if isinstance(first, bytes):
                return first.ljust(len(self._silence), b"\0")
            marks.append(first)
        return self._silence

    def heard_with(self) -> bytes:
        """What was played since the microphone was last asked about: a piece, none or several.

        Asked once a piece. Devices ask in bursts, so some pieces wait here; those that have waited
        for longer than a burst, since one of the devices stood still, all come at once.
        """
        with self._lock:
            self._least = min(self._least, len(self._played))
            self._looks += 1
            pieces = 1
            if self._looks == _LOOKS:
                pieces += max(0, self._least - _MOST_LATE)
                self._least, self._looks = _MOST_KEPT, 0
            pieces = min(pieces, len(self._played))
            return b"".join(self._played.popleft() for _ in range(pieces))

    def _pieces(self) -> int:
        with self._lock:
            return sum(isinstance(one, bytes) for one in self._queue)

    def _took(self, marks: list[str], later_s: float) -> None:
        self._room.set()
        self._taken += 1
        if self._taken == _RUNS:
            self._running.set()
        for name in marks:
            self._heard(name, later_s)

    def _heard(self, name: str, later_s: float) -> None:
        """Tell ``name``, ``later_s`` from now; on the loop."""
        if self._loop is not None and self._tell is not None:
            task = self._loop.create_task(self._tell_later(name, later_s))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell_later(self, name: str, later_s: float) -> None:
        await asyncio.sleep(max(0.0, later_s))
        assert self._tell is not None
        await self._tell(name)
