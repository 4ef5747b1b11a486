"""A day or a week of calls: what came of them, how fast the replies were, what was asked most.

frontdesk report                         # the seven days until today
frontdesk report --day 2026-11-30
frontdesk report --week                  # Monday to Sunday, the one before this
frontdesk report --since 2026-11-01 --until 2026-11-30 --html november.html --csv november.csv

Days are those of handover.time_zone. The HTML file needs nothing else: print it, mail it, keep it.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from agent.settings import load_settings
from frontdesk import ConfigError

if TYPE_CHECKING:
    from agent.insight.period import Period
    from agent.insight.report import Report

_DAY = timedelta(days=1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--day", type=day, metavar="DATE", nargs="?", const="today",
                       help="one day, by the hour (default: today)")  # fmt: skip
    which.add_argument("--week", action="store_true", help="the last week that is over")
    which.add_argument("--since", type=day, metavar="DATE", help="the first day")
    parser.add_argument("--until", type=day, metavar="DATE", help="the last day, itself counted")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a row for each day or hour")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """Print it, and write the files that are asked for."""
    from agent.insight.reading import calls_of, turns_of
    from agent.insight.report import report
    from agent.records.keeper import kept

    settings = load_settings()
    period = _period(args, ZoneInfo(settings.handover.time_zone), datetime.now(UTC))
    with kept(settings.records) as records:
        store = records.store
        found = report(period, calls_of(store, period), turns_of(store, period))
    if args.html:
        from agent.insight.report_page import page

        write(args.html, page(found))
    if args.csv:
        from agent.console.csv_file import csv_lines

        write(args.csv, "".join(csv_lines(*found.csv_rows())))
    print(json.dumps(found.as_json(), indent=2) if args.json else _text(found))
    return 0


def day(text: str) -> date | str:
    """A day that is given to a command."""
    if text == "today":
        return text
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day like 2026-10-01") from None


def days_given(
    first: date | str | None, last: date | str | None, zone: tzinfo, now: datetime
) -> Period:
    """The days from ``first`` to ``last``; "today" is one.

    Raises:
        ConfigError: they are in the wrong order.
    """
    from agent.insight.period import Period

    today = now.astimezone(zone).date()
    given = [today if one == "today" else one for one in (first, last)]
    try:
        return Period.of(given[0], given[1], zone, now)  # type: ignore[arg-type]
    except ValueError as error:
        raise ConfigError(str(error)) from None


def write(path: Path, text: str) -> None:
    """Write a file that was asked for.

    Raises:
        ConfigError: it cannot be.
    """
    try:
        path.write_text(text, "utf-8", "backslashreplace", newline="")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None


def _period(args: argparse.Namespace, zone: tzinfo, now: datetime) -> Period:
    if (args.day or args.week) and args.until:
        raise ConfigError("--until goes with --since")
    if args.day:
        return days_given(args.day, args.day, zone, now)
    if args.week:
        today = now.astimezone(zone).date()
        monday = today - (today.weekday() + 7) * _DAY
        return days_given(monday, monday + 6 * _DAY, zone, now)
    return days_given(args.since, args.until, zone, now)


def _text(found: Report) -> str:
    total, marks = found.total, found.marks
    lines = [
        f"{found.period.name} ({found.period.zone})",
        f"{total.calls} calls, {total.minutes:.0f} minutes, {total.transferred} transferred, "
        f"{total.hung_up} hung up by the caller",
        f"{total.answered} questions answered, {total.refused} refused",
        f"reply after {_ms(total.reply_p50_ms)} (95th percentile {_ms(total.reply_p95_ms)})",
        f"marked by a person: {marks['wrong']} wrong, {marks['doubtful']} doubtful, "
        f"{marks['right']} right",
    ]
    if found.top:
        lines += ["", "asked most"]
        lines += [f"{one.times:6}  {one.heard}{_refused(one.refused)}" for one in found.top]
    for one in found.judged:
        lines += ["", f"{one.label}: {one.call} turn {one.turn}", f"  heard: {one.heard}"]
        lines += [f"  said:  {one.say}", *([f"  note:  {one.note}"] if one.note else [])]
    return "\n".join(lines)


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms"


def _refused(times: int) -> str:
    return f"  ({times} refused)" if times else ""
