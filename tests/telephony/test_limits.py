"""Token buckets, quiet logs, and whose call it is."""

import pytest

from telephony.limits import Bursts, Rate, by_address, by_number, is_loopback


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_so_many_a_minute_for_each_key(clock):
    rate = Rate(3, clock=clock)
    assert [rate.take("a") for _ in range(4)] == [True, True, True, False]
    assert rate.take("b")
    assert rate.spent("a")
    assert not rate.spent("b")
    clock.now += 20  # a third of a minute: one more
    assert [rate.take("a") for _ in range(2)] == [True, False]
    clock.now += 3600  # what was saved up is a minute's, no more
    assert [rate.take("a") for _ in range(4)] == [True, True, True, False]


def test_asking_in_vain_puts_nothing_off(clock):
    rate = Rate(1, clock=clock)
    rate.take("a")
    for _ in range(59):
        clock.now += 1
        assert not rate.take("a")
    clock.now += 1
    assert rate.take("a")


def test_less_than_one_a_minute_still_lets_the_first_in(clock):
    rate = Rate(0.5, clock=clock)
    assert [rate.take("a"), rate.take("a")] == [True, False]
    clock.now += 119
    assert not rate.take("a")
    clock.now += 2
    assert rate.take("a")


def test_keys_are_bounded_and_the_stalest_goes(clock):
    rate = Rate(1, clock=clock, max_keys=2)
    for key in "ab":
        rate.take(key)
    rate.take("a")  # refused, and seen
    rate.take("c")
    assert list(rate._buckets) == ["a", "c"]


def test_a_burst_is_one_line_and_the_next_says_how_many_went_unsaid(clock):
    bursts = Bursts(10, clock=clock)
    assert [bursts.line("x") for _ in range(5)] == ["x", None, None, None, None]
    assert bursts.line("y") == "y"
    clock.now += 11
    assert bursts.line("x") == "x (4 more before it)"
    clock.now += 11
    assert bursts.line("x") == "x"


@pytest.mark.parametrize(
    ("number", "key"),
    [
        ("+15555550100", "15555550100"),
        ("15555550100", "15555550100"),
        ("+1 (555) 555-0100", "15555550100"),
        ("sip:desk@example.com", "sip:desk@example.com"),
        ("", None),
        ("Anonymous", None),
        ("+266696687", None),
        (" restricted ", None),
    ],
)
def test_one_number_however_it_is_written(number, key):
    assert by_number(number) == key


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff", "2001:db8::/64"),
        ("testclient", "testclient"),
    ],
)
def test_one_address_however_many_a_line_has(host, key):
    assert by_address(host) == key


@pytest.mark.parametrize(
    ("host", "is_it"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
        ("::ffff:127.0.0.1", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False),
        ("127.0.0.1.example.com", False), ("localhost.example.com", False), ("", False),
    ],
)  # fmt: skip
def test_loopback_is_this_machine_and_nothing_that_looks_like_it(host, is_it):
    assert is_loopback(host) is is_it


def test_bursts_of_many_kinds_are_bounded():
    now = 0.0
    bursts = Bursts(10, clock=lambda: now)
    for number in range(3000):
        assert bursts.line(f"call {number}: refused") is not None
    assert len(bursts._seen) <= 1000
    assert bursts.line("call 2999: refused") is None
    assert bursts.line("call 0: refused") is not None
