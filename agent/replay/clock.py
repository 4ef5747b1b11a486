"""A simulated clock: an event loop whose time jumps to the next timer when nothing is left to do.

Calls on it run as fast as they are computed, and the same each time: what live calls do off the
loop is done on it, at once, and whatever reads a clock reads this one.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from pipecat.audio.vad import vad_controller
from pipecat.clocks import system_clock
from pipecat.pipeline import base_pipeline, worker
from pipecat.processors.metrics import frame_processor_metrics
from pipecat.services import stt_service
from pipecat.transports import base_output
from pipecat.workers import base_worker

from agent.replay.inline import InlinePool
from frontdesk import FrontdeskError
from speech import sessions

_BEGINS_S = 1000.0
"""Pipecat takes a clock of 0 for one that was not started."""
_ROUND_S = 1e-6
"""What one round of the loop takes: who waits until a time that rounding puts a hair away would
otherwise wait for ever."""
_CLOCKED = (
    *(base_output, vad_controller, system_clock, stt_service, frame_processor_metrics),
    *(base_pipeline, worker, base_worker),
)
"""Modules that read ``time`` themselves, as Pipecat 1.14 has them."""


class StuckError(FrontdeskError):
    """Everything waits for something that will never come: nothing is left that could end it."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop without I/O, whose clock stands still while anything is left to do.

    ``at`` is the time of the world when it begins.
    """

    def __init__(self, at: datetime = datetime(2026, 1, 1, 10, tzinfo=UTC)) -> None:
        super().__init__(selectors.SelectSelector())
        self._now_s = _BEGINS_S
        self._at = at
        self._files: Any = vars(self)["_selector"]
        self._selector: Any = _Jumping(self)

    def time(self) -> float:
        """Seconds on the simulated clock."""
        return self._now_s

    def world(self) -> datetime:
        """The time of the world."""
        return self._at + timedelta(seconds=self._now_s - _BEGINS_S)

    def jump(self, seconds: float) -> None:
        """Let so much time go by."""
        self._now_s += seconds

    def close(self) -> None:
        """Let go of the files that every loop has."""
        self._selector = self._files
        super().close()

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Do it here and now; the future is done."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 (it is the awaiting task's)
            future.set_exception(error)
        return future


class _Jumping:
    """In the place of a selector: there are no files to wait for, and waiting is jumping."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise StuckError("the call waits for something that never comes")
        self._loop.jump(max(timeout, _ROUND_S))
        return []


class _Time:
    """What Pipecat's modules take for :mod:`time`."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return self._loop.time()

    def monotonic_ns(self) -> int:
        return round(self._loop.time() * 1e9)

    perf_counter = monotonic
    perf_counter_ns = monotonic_ns

    def time(self) -> float:
        return self._loop.world().timestamp()


@contextmanager
def simulated(loop: SimulatedLoop) -> Iterator[None]:
    """Have everything that reads a clock, or asks for a thread, go by ``loop`` for as long.

    For the whole process: nothing else may run calls in it meanwhile.
    """
    clock, pool = _Time(loop), InlinePool()
    stand_ins: list[tuple[Any, str, Any]] = [(module, "time", clock) for module in _CLOCKED]
    stand_ins.append((sessions, "pool", lambda: pool))
    kept = [(module, name, getattr(module, name)) for module, name, _ in stand_ins]
    try:
        for module, name, value in stand_ins:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def run_simulated(call: Callable[[SimulatedLoop], Any], at: datetime) -> Any:
    """The result of the coroutine that ``call`` makes, on a simulated clock that begins ``at``.

    Raises:
        StuckError: it waits for what never comes.
    """
    loop = SimulatedLoop(at)
    with simulated(loop), asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(call(loop))
