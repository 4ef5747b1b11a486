"""Whose inference is next, for all calls of a process. No threads and no clock in here: jobs and
times (in ms) are handed in, so that a test says exactly when what happens; ``speech.pool`` runs
it.

Within a priority the calls take turns (round robin: one that asks for much never starves
another), and within a call what was asked first comes first.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Final


class Priority(IntEnum):
    """What a piece of inference is for, the most pressing first."""

    FINAL = 0
    """The text of a turn that is over."""
    EAGER = 1
    """The text at a pause that may be the end."""
    ANSWER = 2
    TURN = 3
    """Whether a pause is the end."""
    SECOND = 4
    """A second opinion on a text: long work."""
    INTERIM = 5
    """The text so far, while the caller speaks."""
    BACKGROUND = 6
    """Work that no caller waits for. It has a thread of its own; see ``speech.pool``."""


class Dropped(Enum):
    """The outcome of work that was not done, or not to its end."""

    DROPPED = "dropped"


DROPPED: Final = Dropped.DROPPED

INTERIM_DELAY_MS = 40.0
"""Interims are refused while pressing work has lately waited longer than this to begin."""
INTERIM_BUSY = 0.6
"""Interims are refused while the process uses more than this share of its cores."""
_INTERIMS_PER_LANE = 1
_DELAY_FORGOTTEN_MS = 1000.0


@dataclass(slots=True, eq=False)
class Job:
    """One piece of inference. ``call`` is whose it is; without one it stands for itself.

    ``unwanted`` is set on a running job whose result nobody will use: it may stop early.
    """

    priority: Priority
    call: Hashable | None = None
    asked_ms: float = 0.0
    unwanted: bool = False

    @property
    def pressing(self) -> bool:
        """Whether a caller waits in silence for it."""
        return self.priority < Priority.SECOND


@dataclass(slots=True)
class Schedule:
    """What waits and what runs, on ``lanes`` threads.

    Second opinions and interims never take the last lane, so that a final begins at once unless
    other pressing work has it. When all lanes are taken all the same, running interims are given
    up. Pressing work is never refused.
    """

    lanes: int
    _waiting: dict[Priority, OrderedDict[Hashable, deque[Job]]] = field(
        default_factory=lambda: {priority: OrderedDict() for priority in Priority}
    )
    _running: set[Job] = field(default_factory=set)
    _delay_ms: float = 0.0
    _delay_at_ms: float = -math.inf

    def add(self, job: Job, now_ms: float, busy: float = 0.0) -> bool:
        """Have ``job`` wait for its turn. False: it is an interim, and refused for load.

        ``busy`` is the share of its cores that the process uses.
        """
        if job.priority is Priority.INTERIM and self._too_busy(now_ms, busy):
            return False
        job.asked_ms = now_ms
        calls = self._waiting[job.priority]
        calls.setdefault(job if job.call is None else job.call, deque()).append(job)
        return True

    def take(self, now_ms: float) -> Job | None:
        """The job that begins now, if any may."""
        if len(self._running) >= self.lanes:
            return None
        for priority, calls in self._waiting.items():
            if calls and (priority < Priority.SECOND or self._leisurely_may_run()):
                call, jobs = calls.popitem(last=False)
                job = jobs.popleft()
                if jobs:
                    calls[call] = jobs  # behind all others
                self._running.add(job)
                if job.pressing:
                    self._delay_ms = max(now_ms - job.asked_ms, self._recent_delay_ms(now_ms))
                    self._delay_at_ms = now_ms
                return job
        return None

    def done(self, job: Job) -> None:
        """``job``, taken before, has ended."""
        self._running.discard(job)

    def drop(self, job: Job) -> bool:
        """Nobody wants ``job`` any more. Whether it had not begun, and now never will."""
        job.unwanted = True
        call = job if job.call is None else job.call
        calls = self._waiting[job.priority]
        jobs = calls.get(call, ())
        if job not in jobs:
            return False
        calls[call].remove(job)
        if not calls[call]:
            del calls[call]
        return True

    def promote(self, call: Hashable, priority: Priority, to: Priority, now_ms: float) -> None:
        """What ``call`` has asked for at ``priority``, running or not, matters more now: ``to``.

        What waited in leisure until now counts as asked for now.
        """
        for job in self._running:
            if job.call == call and job.priority is priority:
                job.priority = to
        for job in self._waiting[priority].pop(call, ()):
            if not job.pressing:
                job.asked_ms = now_ms
            job.priority = to
            self._waiting[to].setdefault(call, deque()).append(job)

    def give_up(self, call: Hashable) -> list[Job]:
        """``call`` has gone on speaking: nobody wants its eager text. Those that had not begun,
        and now never will.
        """
        for job in self._running:
            if job.priority is Priority.EAGER and job.call == call:
                job.unwanted = True
        return list(self._waiting[Priority.EAGER].pop(call, ()))

    def give_way(self) -> None:
        """Give up running interims as long as pressing work waits and every lane is taken."""
        if self._pressing_waits() and len(self._running) >= self.lanes:
            for job in self._running:
                if job.priority is Priority.INTERIM:
                    job.unwanted = True

    def delay_ms(self, now_ms: float) -> float:
        """How long pressing work waits to begin: the longest of what waits now and of what began
        lately, which is forgotten exponentially (time constant 1 s).
        """
        waiting = (
            now_ms - jobs[0].asked_ms
            for priority, calls in self._waiting.items()
            if priority < Priority.SECOND
            for jobs in calls.values()
        )
        return max(self._recent_delay_ms(now_ms), *waiting, 0.0)

    def waiting(self) -> int:
        """How many jobs wait."""
        return sum(len(jobs) for calls in self._waiting.values() for jobs in calls.values())

    def _recent_delay_ms(self, now_ms: float) -> float:
        return self._delay_ms * math.exp((self._delay_at_ms - now_ms) / _DELAY_FORGOTTEN_MS)

    def _pressing_waits(self) -> bool:
        return any(self._waiting[priority] for priority in Priority if priority < Priority.SECOND)

    def _leisurely_may_run(self) -> bool:
        leisurely = sum(not job.pressing for job in self._running)
        return leisurely < max(1, self.lanes - 1)

    def _too_busy(self, now_ms: float, busy: float) -> bool:
        return (
            busy > INTERIM_BUSY
            or self.delay_ms(now_ms) > INTERIM_DELAY_MS
            or self._pressing_waits()
            or self._interims_waiting() >= _INTERIMS_PER_LANE * self.lanes
        )

    def _interims_waiting(self) -> int:
        return sum(len(jobs) for jobs in self._waiting[Priority.INTERIM].values())
