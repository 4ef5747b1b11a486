"""The simulated clock: time jumps, and nothing runs beside it."""

import asyncio
import threading
import time
from datetime import UTC, datetime

import pytest
from pipecat.transports import base_output

from agent.replay.clock import SimulatedLoop, StuckError, run_simulated
from speech import sessions
from speech.scheduling import DROPPED, Priority

AT = datetime(2026, 12, 1, 10, tzinfo=UTC)


def test_an_hour_goes_by_in_no_time_and_in_order():
    async def call(loop):
        done = []

        async def after(seconds, name):
            await asyncio.sleep(seconds)
            done.append((name, round(loop.time() - began, 3)))

        began = loop.time()
        await asyncio.gather(after(3600, "late"), after(0.02, "soon"), after(60, "later"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        return done, loop.world()

    done, world = run_simulated(call, AT)
    assert done == [("soon", 0.02), ("later", 60.0), ("late", 3600.0)]
    assert world.replace(microsecond=0) == datetime(2026, 12, 1, 11, 0, 5, tzinfo=UTC)


def test_what_never_comes_is_an_error_not_a_wait():
    async def call(loop):
        await asyncio.Event().wait()

    with pytest.raises(StuckError, match="never comes"):
        run_simulated(call, AT)


def test_work_for_threads_is_done_here_and_takes_simulated_time():
    async def call(loop):
        began = loop.time()
        thread = await asyncio.to_thread(threading.get_ident)
        heard = await sessions.run(lambda: 7, priority=Priority.EAGER, call="a")
        return thread, heard, loop.time() - began

    thread, heard, took_s = run_simulated(call, AT)
    assert (thread, heard) == (threading.get_ident(), 7)
    assert took_s == pytest.approx(0.08, abs=0.001)


def test_a_provisional_text_that_nobody_wants_is_never_worked_out():
    asked = []

    async def call(loop):
        eager = asyncio.ensure_future(
            sessions.run_or_drop(asked.append, 1, priority=Priority.EAGER, call="a")
        )
        await asyncio.sleep(0.01)
        sessions.pool().give_up("a")
        return await eager

    assert run_simulated(call, AT) is DROPPED
    assert asked == []


def test_every_clock_is_given_back():
    before = base_output.time, sessions.pool

    async def call(loop):
        assert base_output.time.monotonic() == loop.time()
        raise KeyError("a call that fails")

    with pytest.raises(KeyError):
        run_simulated(call, AT)
    assert (base_output.time, sessions.pool) == before
    assert base_output.time is time


def test_each_loop_begins_at_the_same_time():
    loops = [SimulatedLoop(AT) for _ in range(2)]
    assert loops[0].time() == loops[1].time()
    for loop in loops:
        loop.close()
