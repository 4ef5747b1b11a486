"""A day's or a week's report."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.insight.period import Period
from agent.insight.report import report
from agent.insight.report_page import page
from tests.agent.insight.rows import AT, call, mark, refused, turn

NEW_YORK = ZoneInfo("America/New_York")
WEEK = Period(date(2026, 3, 3), date(2026, 3, 9), NEW_YORK)
EVIL = "<script>globalThis.ran = 1</script>"


def test_what_came_of_the_calls():
    calls = [call(), call(id="c2", transferred=True, hung_up_by="agent", seconds=60.0)]
    turns = [turn(turn=n, reply_ms=ms) for n, ms in enumerate((100.0, 200.0, 300.0, 400.0))]
    found = report(WEEK, calls, [*turns, refused("pizza", reply_ms=None)])
    total = found.total
    assert (total.calls, total.turns, total.answered, total.refused) == (2, 5, 4, 1)
    assert (total.minutes, total.transferred, total.hung_up) == (3.0, 1, 1)
    assert (total.reply_p50_ms, total.reply_p95_ms) == (200.0, 300.0)  # observed values


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-03-08T04:30:00+00:00", "2026-03-07"),  # half past eleven in New York
        ("2026-03-08T05:00:00+00:00", "2026-03-08"),
        ("2026-03-09T03:59:59+00:00", "2026-03-08"),  # a day of 23 hours
        ("2026-03-09T04:00:00+00:00", "2026-03-09"),
    ],
)
def test_a_day_is_the_business_s_own(at, day):
    at = datetime.fromisoformat(at)
    parts = dict(report(WEEK, [call(started_at=at)], []).parts)
    assert {name: one.calls for name, one in parts.items() if one.calls} == {day: 1}
    assert len(parts) == 7
    alone = Period(date.fromisoformat(day), date.fromisoformat(day), NEW_YORK)
    assert alone.since <= at < alone.until


def test_one_day_is_told_by_the_hour():
    monday = Period(date(2026, 3, 9), date(2026, 3, 9), NEW_YORK)
    parts = report(monday, [call()], [turn()]).parts
    assert [at for at, one in parts if one.calls and one.answered] == ["11:00"]
    assert len(parts) == 24


def test_the_last_mark_counts_and_what_is_wrong_is_named():
    turns = [
        turn(marks=(mark("wrong"), mark("right"))),
        turn(turn=2, marks=(mark("doubtful", number=2),)),
        turn(turn=3, marks=(mark("wrong", "we open at nine", number=3),)),
    ]
    found = report(WEEK, [call()], turns)
    assert found.marks == {"right": 1, "wrong": 1, "doubtful": 1}
    assert [(one.label, one.turn) for one in found.judged] == [("wrong", 3), ("doubtful", 2)]
    assert found.judged[0].note == "we open at nine"


def test_what_was_asked_most_comes_first():
    turns = [turn(heard="Um, when do you open?"), turn(), turn(), refused("pizza")]
    turns.append(turn(decision="conversation", question="thanks"))
    first, second = report(WEEK, [call()], turns).top
    assert (first.heard, first.times, first.answered) == ("When do you open?", 3, 3)
    assert (second.question, second.refused) == ("pizza", 1)


def test_the_page_needs_nothing_else_and_runs_nothing():
    turns = [turn(heard=EVIL, marks=(mark("wrong", EVIL),)), refused("pizza", turn=2)]
    shown = page(report(WEEK, [call()], turns))
    assert EVIL not in shown
    assert shown.count("&lt;script&gt;") == 3  # asked most, heard, note
    assert "http" not in shown
    assert "<title>2026-03-09: 1 answered, 1 refused</title>" in shown


def test_no_calls_are_a_report_too():
    found = report(WEEK, [], [])
    assert found.total.reply_p50_ms is None
    assert "No calls." in page(found)
    names, rows = found.csv_rows()
    assert len(rows) == 8
    assert rows[-1] == ("total", 0, 0, 0, 0, 0, 0, 0, None, None)
    assert len(names) == len(rows[0])


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        (None, None, "2026-03-03 to 2026-03-09"),
        ("2026-03-01", None, "2026-03-01 to 2026-03-07"),
        ("2026-03-08", None, "2026-03-08 to 2026-03-09"),
        (None, "2026-02-07", "2026-02-01 to 2026-02-07"),
        ("2026-03-09", "2026-03-09", "2026-03-09"),
        ("2027-01-01", None, "2027-01-01"),
    ],
)
def test_days_that_are_not_given(first, last, days):
    given = [date.fromisoformat(one) if one else None for one in (first, last)]
    assert Period.of(*given, UTC, AT).name == days


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (date(2026, 3, 10), date(2026, 3, 9)),
        (date(2001, 1, 1), date(2026, 3, 9)),
        (date.max, None),
        (None, date.min),
        (date.max, date.max),
    ],
)
def test_days_that_no_report_is_about(first, last):
    with pytest.raises(ValueError, match="give the earlier day first"):
        Period.of(first, last, UTC, AT)
