"""The threads that hear, in the order that ``speech.scheduling`` gives."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from speech.scheduling import DROPPED, Job, Priority, Schedule

_BUSY_WINDOW_S = 0.5

_thread = threading.local()


class Abandoned(BaseException):
    """Nobody wants the result of the work on this thread any more.

    Not an ``Exception``, for the reason that ``asyncio.CancelledError`` is none: what handles
    errors must not take it for one.
    """


def checkpoint() -> None:
    """Called between the steps of a long piece of inference, so that it can be given up there.

    Raises:
        Abandoned: if its result is no longer wanted.
    """
    job: Job | None = getattr(_thread, "job", None)
    if job is not None and job.unwanted:
        raise Abandoned


@dataclass(slots=True, eq=False)
class _Work(Job):
    """A job with what is to be done, and where the result goes."""

    function: Callable[[], Any] = lambda: None
    outcome: Future[Any] = field(default_factory=Future)


class Pool:
    """Inference of all calls on ``lanes`` threads, which start when they are needed."""

    def __init__(
        self,
        lanes: int,
        *,
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.process_time,
    ) -> None:
        """``clock`` reads seconds, ``cpu_clock`` seconds of work by all threads."""
        self.lanes = lanes
        self._clock = clock
        self._schedule = Schedule(lanes)
        self._busy = _Busy(lanes, clock, cpu_clock)
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(lanes, thread_name_prefix="hearing")

    @property
    def delay_ms(self) -> float:
        """How long work that a caller waits for has to wait for a thread, now and lately."""
        with self._lock:
            return self._schedule.delay_ms(self._now_ms())

    @property
    def busy(self) -> float:
        """The share of its cores that this process has lately used, in 0 to 1."""
        with self._lock:
            return self._busy.share()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        with self._lock:
            return self._schedule.waiting()

    async def run(
        self, function: Callable[[], Any], priority: Priority, call: object | None = None
    ) -> Any:
        """``function()`` on a thread of the pool.

        ``DROPPED`` for an interim that is refused or given up for something more pressing, and
        for an eager text after ``give_up``. If the awaiting task is cancelled, the work never
        begins or ends at its next ``checkpoint``.
        """
        work = _Work(priority, call, function=function)
        with self._lock:
            if not self._schedule.add(work, self._now_ms(), self._busy.share()):
                return DROPPED
            self._schedule.give_way()
        self._threads.submit(self._serve)
        try:
            return await asyncio.wrap_future(work.outcome)
        except asyncio.CancelledError:
            with self._lock:
                self._schedule.drop(work)
            raise

    def promote(self, call: object, priority: Priority, to: Priority) -> None:
        """What ``call`` has asked for at ``priority``, begun or not, matters more now: ``to``."""
        with self._lock:
            self._schedule.promote(call, priority, to, self._now_ms())
            self._schedule.give_way()
            waits = self._schedule.waiting()
        if waits:  # in leisure so far, perhaps, with a thread free that nobody told
            self._threads.submit(self._serve)

    def give_up(self, call: object) -> None:
        """Nobody wants the eager text of ``call`` any more: it comes back ``DROPPED``."""
        with self._lock:
            never_begun = self._schedule.give_up(call)
        for work in never_begun:
            assert isinstance(work, _Work)
            if work.outcome.set_running_or_notify_cancel():
                work.outcome.set_result(DROPPED)

    def _serve(self) -> None:
        """Do what is due until nothing is. One of these is handed to the threads for each job, so
        that none is forgotten, whichever of them comes to it first.
        """
        while True:
            with self._lock:
                work = self._schedule.take(self._now_ms())
            if work is None:
                return
            assert isinstance(work, _Work)
            self._do(work)

    def _do(self, work: _Work) -> None:
        result: Any = DROPPED
        error: BaseException | None = None
        wanted = work.outcome.set_running_or_notify_cancel()
        if wanted:
            _thread.job = work
            try:
                result = work.function()
            except Abandoned:
                pass
            except BaseException as raised:  # noqa: BLE001 (it is the awaiting task's)
                error = raised
            _thread.job = None
        with self._lock:
            self._schedule.done(work)
        if error is not None:
            work.outcome.set_exception(error)
        elif wanted:
            work.outcome.set_result(result)

    def _now_ms(self) -> float:
        return self._clock() * 1000


class _Busy:
    """The share of its cores that this process has lately used, in 0 to 1."""

    def __init__(
        self, cores: int, clock: Callable[[], float], cpu_clock: Callable[[], float]
    ) -> None:
        self._cores, self._clock, self._cpu_clock = cores, clock, cpu_clock
        self._at, self._cpu_at = clock(), cpu_clock()
        self._share = 0.0

    def share(self) -> float:
        """Measured anew when half a second has passed since the last time."""
        now = self._clock()
        if now - self._at >= _BUSY_WINDOW_S:
            cpu = self._cpu_clock()
            self._share = (cpu - self._cpu_at) / (now - self._at) / self._cores
            self._at, self._cpu_at = now, cpu
        return self._share
