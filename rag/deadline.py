"""The time one search may take, and which of its optional legs fit into it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_NS_PER_MS = 1e6
_RUNS_REMEMBERED = 32

Clock = Callable[[], int]


class Leg:
    """An optional part of a search, such as the sparse one, and what it has cost lately.

    One object a leg and process, kept over many searches; safe to share between threads.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._runs_ms: deque[float] = deque(maxlen=_RUNS_REMEMBERED)

    @property
    def expected_ms(self) -> float:
        """The slowest of its last 32 runs, 0 before the first."""
        return max(tuple(self._runs_ms), default=0.0)

    def ran(self, ms: float) -> None:
        """Take note of a run of ``ms`` milliseconds."""
        self._runs_ms.append(ms)

    def skipped(self) -> None:
        """Forget the oldest run: a leg that was slow once gets another chance in the end."""
        with suppress(IndexError):  # nothing to forget, or another thread was first
            self._runs_ms.popleft()


class Deadline:
    """``budget_ms`` from now on, watched by whoever spends it: nothing is interrupted.

    ``clock`` gives nanoseconds. ``degraded`` lists what was left out or came late, in order:
    ``sparse_leg_skipped_deadline`` or ``sparse_leg_late`` for a leg named sparse.
    """

    def __init__(self, budget_ms: float, clock: Clock = time.perf_counter_ns) -> None:
        self._clock = clock
        self._end_ns = clock() + budget_ms * _NS_PER_MS
        self._degraded: list[str] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """What did not go as planned, as it is reported in the trace."""
        return tuple(self._degraded)

    def left_ms(self) -> float:
        """Milliseconds that are left; negative once the deadline has gone by."""
        return (self._end_ns - self._clock()) / _NS_PER_MS

    def allows(self, leg_ms: float) -> bool:
        """Whether something that takes ``leg_ms`` would end in time, if it began now."""
        left = self.left_ms()
        return left > 0 and leg_ms <= left

    @contextmanager
    def running(self, leg: Leg) -> Iterator[bool]:
        """Time ``leg``; yields whether to run it at all.

        False when it cannot be expected to end in time. What is yielded must be heeded::

            with deadline.running(sparse) as allowed:
                rows = bm25.search(text, k)[1] if allowed else ()
        """
        if not self.allows(leg.expected_ms):
            leg.skipped()
            self._degraded.append(f"{leg.name}_leg_skipped_deadline")
            yield False
            return
        start = self._clock()
        try:
            yield True
        finally:
            leg.ran((self._clock() - start) / _NS_PER_MS)
            if self.left_ms() < 0:
                self._degraded.append(f"{leg.name}_leg_late")
