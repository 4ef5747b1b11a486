"""Opening hours on the wall clock."""

from datetime import UTC, datetime

import pytest

from agent.opening_hours import OpeningHours


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("utc", "is_open"),
    [
        ("2026-07-06T12:00", True),  # Monday 08:00 in New York (EDT)
        ("2026-07-06T11:59", False),
        ("2026-07-06T21:59", True),
        ("2026-07-06T22:00", False),
        ("2026-01-05T12:00", False),  # Monday 07:00 in New York (EST)
        ("2026-01-05T13:00", True),
        ("2026-03-06T13:00", True),  # the Friday before the clocks change
        ("2026-03-09T12:00", True),  # the Monday after
        ("2026-07-05T15:00", False),  # Sunday
        ("2026-12-25T15:00", False),  # Friday, a holiday every year
        ("2026-11-26T15:00", False),  # Thursday, a holiday of that year
        ("2027-11-26T15:00", True),
    ],
)
def test_hours_follow_the_wall_clock(utc, is_open):
    hours = OpeningHours.of(["mon-fri 08:00-18:00"], "America/New_York", ["12-25", "2026-11-26"])
    assert hours.is_open(at(utc)) is is_open


@pytest.mark.parametrize(
    ("utc", "is_open"),
    [
        ("2026-07-10T22:30", True),  # Friday
        ("2026-07-11T01:59", True),  # it runs out on Saturday
        ("2026-07-11T02:00", False),
        ("2026-07-10T01:00", False),  # nothing began on Thursday
        ("2026-12-25T23:00", False),  # a Friday and a holiday
        ("2026-12-26T01:00", False),  # what would have begun on it
    ],
)
def test_hours_past_midnight_belong_to_the_day_they_began(utc, is_open):
    assert OpeningHours.of(["fri 22:00-02:00"], "UTC", ["12-25"]).is_open(at(utc)) is is_open


def test_several_lines_a_day_round_the_week_and_no_line_at_all():
    hours = OpeningHours.of(["sat-mon 08:00-12:00", "mon 13:00-24:00"])
    assert [hours.is_open(at(f"2026-07-{day}T09:00")) for day in ("04", "05", "06", "07")] == [
        True,
        True,
        True,
        False,
    ]
    assert not hours.is_open(at("2026-07-06T12:30"))
    assert hours.is_open(at("2026-07-06T23:59"))
    assert OpeningHours.of([]).is_open(at("2026-07-06T03:00"))
    assert not OpeningHours.of([], "UTC", ["07-06"]).is_open(at("2026-07-06T03:00"))
