"""Optional legs run only where they can be expected to end in time."""

import pytest

from rag.deadline import Deadline, Leg


class Clock:
    """Nanoseconds that pass only when told."""

    def __init__(self):
        self.ns = 5_000_000_000

    def __call__(self):
        return self.ns

    def passes(self, ms):
        self.ns += int(ms * 1e6)


@pytest.fixture
def clock():
    return Clock()


def run(deadline, leg, clock, ms):
    """Whether ``leg``, which takes ``ms``, was run."""
    with deadline.running(leg) as allowed:
        if allowed:
            clock.passes(ms)
    return allowed


def test_what_is_left_goes_down_to_below_zero(clock):
    deadline = Deadline(200, clock)
    assert deadline.left_ms() == 200
    clock.passes(150.5)
    assert deadline.left_ms() == 49.5
    clock.passes(60)
    assert deadline.left_ms() == -10.5


def test_a_leg_fits_if_it_ends_at_the_deadline_at_the_latest(clock):
    deadline = Deadline(200, clock)
    clock.passes(150)
    assert deadline.allows(50)
    assert not deadline.allows(50.001)


def test_nothing_is_allowed_once_time_is_up_however_quick(clock):
    deadline = Deadline(200, clock)
    clock.passes(200)
    assert not deadline.allows(0)


def test_a_leg_that_ends_in_time_is_not_reported(clock):
    deadline, leg = Deadline(200, clock), Leg("sparse")
    assert run(deadline, leg, clock, 30)
    assert deadline.degraded == ()
    assert leg.expected_ms == 30


def test_a_leg_is_skipped_before_it_starts_when_its_slowest_run_would_not_fit(clock):
    sparse, rerank = Leg("sparse"), Leg("rerank")
    for leg in (sparse, rerank):
        leg.ran(60)
        leg.ran(1)
    deadline = Deadline(200, clock)
    clock.passes(150)
    assert not run(deadline, sparse, clock, 1)
    assert not run(deadline, rerank, clock, 1)
    assert deadline.degraded == ("sparse_leg_skipped_deadline", "rerank_leg_skipped_deadline")


def test_a_leg_that_overran_is_late_and_the_next_search_knows(clock):
    leg = Leg("rerank")
    first = Deadline(100, clock)
    assert run(first, leg, clock, 101)
    assert first.degraded == ("rerank_leg_late",)
    second = Deadline(100, clock)
    assert not run(second, leg, clock, 101)
    assert second.degraded == ("rerank_leg_skipped_deadline",)


def test_a_leg_that_fails_is_timed_and_the_error_goes_on(clock):
    deadline, leg = Deadline(100, clock), Leg("sparse")

    def broken():
        with deadline.running(leg):
            clock.passes(120)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert leg.expected_ms == 120
    assert deadline.degraded == ("sparse_leg_late",)


def test_only_the_last_32_runs_count():
    leg = Leg("sparse")
    leg.ran(500)
    for _ in range(31):
        leg.ran(2)
    assert leg.expected_ms == 500
    leg.ran(2)
    assert leg.expected_ms == 2


def test_a_leg_that_was_slow_once_is_tried_again(clock):
    leg = Leg("sparse")
    leg.ran(5)
    leg.ran(500)
    leg.ran(5)
    allowed = [run(Deadline(200, clock), leg, clock, 5) for _ in range(4)]
    assert allowed == [False, False, True, True]


def test_a_leg_never_run_is_skipped_without_time_and_tried_with_some(clock):
    leg = Leg("sparse")
    assert not run(Deadline(0, clock), leg, clock, 5)
    assert run(Deadline(1, clock), leg, clock, 0.5)
