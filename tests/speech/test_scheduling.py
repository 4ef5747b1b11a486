"""Whose inference is next: the order with a made clock, then the threads."""

import asyncio
import threading

import pytest

from speech.pool import Abandoned, Pool, checkpoint
from speech.scheduling import DROPPED, INTERIM_BUSY, INTERIM_DELAY_MS, Job, Priority, Schedule

FINAL, EAGER, ANSWER, TURN = Priority.FINAL, Priority.EAGER, Priority.ANSWER, Priority.TURN
SECOND, INTERIM = Priority.SECOND, Priority.INTERIM


def waiting(schedule, *jobs, now_ms=0.0):
    for job in jobs:
        assert schedule.add(job, now_ms)
    return jobs


def in_order(schedule):
    """Everything that waits, one at a time."""
    taken = []
    while (job := schedule.take(0.0)) is not None:
        schedule.done(job)
        taken.append(job)
    return taken


def test_the_most_pressing_first_whatever_came_first():
    schedule = Schedule(lanes=2)
    jobs = waiting(schedule, *(Job(p) for p in (INTERIM, SECOND, TURN, ANSWER, EAGER, FINAL)))
    assert in_order(schedule) == list(reversed(jobs))


def test_calls_take_turns_and_within_one_the_first_is_first():
    schedule = Schedule(lanes=1)
    chatty = waiting(schedule, *(Job(EAGER, "a") for _ in range(3)))
    other = waiting(schedule, *(Job(EAGER, "b") for _ in range(2)))
    lone = waiting(schedule, Job(EAGER))
    assert in_order(schedule) == [chatty[0], other[0], *lone, chatty[1], other[1], chatty[2]]


def test_one_that_asks_again_and_again_stands_behind_the_others():
    schedule = Schedule(lanes=1)
    waiting(schedule, *(Job(EAGER, call) for call in "abc"))
    served = []
    for _ in range(6):
        job = schedule.take(0.0)
        schedule.done(job)
        served.append(job.call)
        schedule.add(Job(EAGER, "a"), 0.0)
    assert "".join(served) == "abcaaa"


def test_one_lane_stays_free_for_what_presses():
    schedule = Schedule(lanes=3)
    waiting(schedule, *(Job(SECOND, call) for call in "abc"))
    assert [schedule.take(0.0).call, schedule.take(0.0).call] == ["a", "b"]
    assert schedule.take(0.0) is None
    (final,) = waiting(schedule, Job(FINAL))
    assert schedule.take(0.0) is final
    schedule.done(final)
    assert schedule.take(0.0) is None


def test_the_only_lane_serves_interims_too():
    schedule = Schedule(lanes=1)
    (interim,) = waiting(schedule, Job(INTERIM))
    assert schedule.take(0.0) is interim


def test_interims_are_refused_while_something_presses():
    schedule = Schedule(lanes=2)
    waiting(schedule, Job(ANSWER))
    assert not schedule.add(Job(INTERIM), 0.0)
    in_order(schedule)
    assert schedule.add(Job(INTERIM), 0.0)


def test_interims_are_refused_after_pressing_work_waited_until_that_is_forgotten():
    schedule = Schedule(lanes=2)
    waiting(schedule, Job(FINAL), now_ms=0.0)
    assert schedule.delay_ms(2 * INTERIM_DELAY_MS) == 2 * INTERIM_DELAY_MS
    late = 2 * INTERIM_DELAY_MS
    schedule.done(schedule.take(late))
    assert not schedule.add(Job(INTERIM), late)
    assert schedule.delay_ms(late + 1000) == pytest.approx(late * 0.3679, rel=1e-3)
    assert schedule.add(Job(INTERIM), late + 3000)
    assert schedule.add(Job(FINAL), late)  # never refused


def test_a_short_wait_does_not_hide_a_long_one_before_it():
    schedule = Schedule(lanes=2)
    for asked, begun in ((0.0, 300.0), (310.0, 311.0)):
        waiting(schedule, Job(FINAL), now_ms=asked)
        schedule.done(schedule.take(begun))
    assert schedule.delay_ms(311.0) > 290


def test_what_waits_in_leisure_is_no_delay():
    schedule = Schedule(lanes=2)
    waiting(schedule, Job(SECOND), Job(INTERIM))
    assert schedule.delay_ms(500.0) == 0.0


def test_interims_are_refused_when_the_cores_are_busy_or_too_many_wait():
    schedule = Schedule(lanes=2)
    assert not schedule.add(Job(INTERIM), 0.0, busy=INTERIM_BUSY + 0.01)
    waiting(schedule, *(Job(INTERIM, call) for call in range(2)))
    assert not schedule.add(Job(INTERIM), 0.0)
    assert schedule.waiting() == 2


def test_running_interims_give_way_only_when_there_is_no_other_lane():
    schedule = Schedule(lanes=2)
    interim, second = waiting(schedule, Job(INTERIM), Job(SECOND))
    assert schedule.take(0.0) is second
    schedule.done(second)
    assert schedule.take(0.0) is interim
    waiting(schedule, Job(FINAL))
    schedule.give_way()
    assert not interim.unwanted
    schedule.take(0.0)
    waiting(schedule, Job(EAGER))
    schedule.give_way()
    assert interim.unwanted
    assert not second.unwanted


def test_a_committed_turn_overtakes_the_pauses_of_others():
    schedule = Schedule(lanes=1)
    waiting(schedule, *(Job(EAGER, call) for call in "abc"))
    schedule.promote("c", EAGER, FINAL, now_ms=0.0)
    schedule.promote("nobody", EAGER, FINAL, now_ms=0.0)
    assert [(job.call, job.priority) for job in in_order(schedule)] == [
        ("c", FINAL),
        ("a", EAGER),
        ("b", EAGER),
    ]


def test_an_interim_that_a_pause_needs_no_longer_gives_way():
    schedule = Schedule(lanes=1)
    (interim,) = waiting(schedule, Job(INTERIM, "a"))
    assert schedule.take(0.0) is interim
    schedule.promote("a", INTERIM, EAGER, now_ms=0.0)
    waiting(schedule, Job(FINAL, "b"))
    schedule.give_way()
    assert not interim.unwanted
    schedule.give_up("a")
    assert interim.unwanted


def test_the_wait_of_an_interim_that_a_pause_needs_counts_from_the_pause_on():
    schedule = Schedule(lanes=2)
    waiting(schedule, Job(INTERIM, "a"))
    schedule.promote("a", INTERIM, EAGER, now_ms=90.0)
    assert schedule.delay_ms(100.0) == 10.0
    schedule.promote("a", EAGER, FINAL, now_ms=100.0)
    assert schedule.delay_ms(110.0) == 20.0


def test_what_is_dropped_never_begins():
    schedule = Schedule(lanes=2)
    first, second = waiting(schedule, Job(EAGER, "a"), Job(EAGER, "a"))
    assert schedule.take(0.0) is first
    assert schedule.drop(second)
    assert not schedule.drop(first)
    assert first.unwanted
    assert schedule.take(0.0) is None
    assert schedule.waiting() == 0


def test_given_up_is_the_eager_text_of_one_call_alone():
    schedule = Schedule(lanes=2)
    running, other = waiting(schedule, Job(EAGER, "a"), Job(EAGER, "b"))
    schedule.take(0.0), schedule.take(0.0)
    never, final = waiting(schedule, Job(EAGER, "a"), Job(FINAL, "a"))
    assert schedule.give_up("a") == [never]
    assert [job.unwanted for job in (running, other, final)] == [True, False, False]
    assert schedule.waiting() == 1


# The threads.


class Held:
    """Work that waits to be let go on, and passes a checkpoint then."""

    def __init__(self, result="done"):
        self.result, self.begun, self.go_on = result, threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        assert self.go_on.wait(10)
        checkpoint()
        return self.result

    async def running(self):
        assert await asyncio.to_thread(self.begun.wait, 10)


def begin(pool, work, priority, call=None):
    return asyncio.create_task(pool.run(work, priority, call))


async def test_a_final_overtakes_what_waits():
    pool, held, order = Pool(1), Held(), []
    first = begin(pool, held, FINAL)
    await held.running()
    eager = begin(pool, lambda: order.append("eager"), EAGER)
    second = begin(pool, lambda: order.append("second"), SECOND)
    await asyncio.sleep(0)
    final = begin(pool, lambda: order.append("final"), FINAL)
    await asyncio.sleep(0)
    assert pool.waiting == 3
    held.go_on.set()
    await asyncio.gather(first, eager, second, final)
    assert order == ["final", "eager", "second"]


async def test_cancelling_takes_back_what_has_not_begun():
    pool, held, begun = Pool(1), Held(), []
    first = begin(pool, held, FINAL)
    await held.running()
    waits = begin(pool, lambda: begun.append(1), FINAL)
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert pool.waiting == 0
    held.go_on.set()
    assert await first == "done"
    assert await pool.run(lambda: "next", FINAL) == "next"
    assert begun == []


async def test_an_interim_gives_way_to_a_final_and_says_so():
    pool, held = Pool(1), Held()
    interim = begin(pool, held, INTERIM)
    await held.running()
    final = begin(pool, lambda: "final", FINAL)
    await asyncio.sleep(0)
    assert await pool.run(Held(), INTERIM) is DROPPED  # refused: something presses
    held.go_on.set()
    assert await interim is DROPPED
    assert await final == "final"


async def test_given_up_work_comes_back_dropped_begun_or_not():
    pool, held = Pool(1), Held()
    running = begin(pool, held, EAGER, "a")
    await held.running()
    waits = begin(pool, Held(), EAGER, "a")
    other = begin(pool, lambda: "heard", EAGER, "b")
    await asyncio.sleep(0)
    pool.give_up("a")
    assert await waits is DROPPED
    held.go_on.set()
    assert await running is DROPPED
    assert await other == "heard"


async def test_an_interim_that_waits_begins_once_a_pause_needs_it(monkeypatch):
    pool, held, serving = Pool(2), Held(), []
    submit = pool._threads.submit
    monkeypatch.setattr(pool._threads, "submit", lambda work: serving.append(submit(work)))
    other = begin(pool, held, INTERIM, "a")
    await held.running()
    waits = begin(pool, lambda: "heard", INTERIM, "b")  # one lane is kept for what presses
    await asyncio.sleep(0)
    await asyncio.to_thread(serving[1].result, 10)  # the other thread looked, and rests again
    assert pool.waiting == 1
    pool.promote("b", INTERIM, EAGER)
    assert await asyncio.wait_for(waits, 10) == "heard"
    assert not other.done()
    held.go_on.set()
    assert await other == "done"


async def test_a_busy_process_makes_no_interims():
    clocks = {"clock": 0.0, "cpu": 0.0}
    pool = Pool(2, clock=lambda: clocks["clock"], cpu_clock=lambda: clocks["cpu"])
    assert await pool.run(lambda: "so far", INTERIM) == "so far"
    clocks.update(clock=1.0, cpu=1.9)  # 95 % of two cores
    assert await pool.run(lambda: "so far", INTERIM) is DROPPED
    clocks.update(clock=1.1)  # too soon to measure again
    assert await pool.run(lambda: "so far", INTERIM) is DROPPED
    clocks.update(clock=3.0, cpu=2.5)
    assert await pool.run(lambda: "so far", INTERIM) == "so far"


async def test_the_delay_is_what_pressing_work_waited():
    clock = [0.0]
    pool, held = Pool(1, clock=lambda: clock[0]), Held()
    first = begin(pool, held, FINAL)
    await held.running()
    assert pool.delay_ms == 0.0
    late = begin(pool, lambda: None, FINAL)
    await asyncio.sleep(0)
    clock[0] = 0.25
    assert pool.delay_ms == 250.0
    held.go_on.set()
    await asyncio.gather(first, late)
    assert pool.delay_ms == 250.0


async def test_errors_come_back_and_do_not_stop_the_threads():
    pool = Pool(1)
    with pytest.raises(ZeroDivisionError):
        await pool.run(lambda: 1 / 0, FINAL)
    assert await pool.run(lambda: "next", FINAL) == "next"


def test_a_checkpoint_elsewhere_is_nothing():
    checkpoint()
    assert not issubclass(Abandoned, Exception)
