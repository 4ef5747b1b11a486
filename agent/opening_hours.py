"""Opening hours: whether there is somebody to hand a caller over to. Pure; the time is given.

Hours are wall-clock times in a zone, so they need no change when the clocks do: on the day that
has 23 or 25 hours the desk opens at 08:00 as on every other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LINE = re.compile(
    r"(?P<first>[a-z]{3})(?:-(?P<last>[a-z]{3}))? "
    r"(?P<opens>\d\d:\d\d)-(?P<closes>\d\d:\d\d)"
)
_HOLIDAY = re.compile(r"(?:\d{4}-)?\d\d-\d\d")
_MIDNIGHT = time(0)


@dataclass(frozen=True, slots=True)
class _Span:
    """``days`` (0 is Monday) from ``opens`` until ``closes``: past midnight if that is no later."""

    days: frozenset[int]
    opens: time
    closes: time


@dataclass(frozen=True, slots=True)
class OpeningHours:
    """When somebody is there. Without spans: always, but for the holidays.

    A holiday is closed from midnight to midnight; hours that began the evening before run out.
    """

    spans: tuple[_Span, ...]
    zone: ZoneInfo
    holidays: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, hours: Iterable[str], zone: str = "UTC", holidays: Iterable[str] = ()
    ) -> OpeningHours:
        """From ``["mon-fri 08:00-18:00", "sat 09:00-13:00"]``, an IANA zone, and days.

        A day may have several lines; "fri 22:00-02:00" goes past midnight, "24:00" is one.
        Holidays are "2026-12-25", or "12-25" every year.

        Raises:
            ValueError: one of them cannot be read; the line says which.
        """
        try:
            at = ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"{zone!r} is no time zone such as America/New_York") from None
        days = tuple(holidays)
        for day in days:
            _check_holiday(day)
        return cls(tuple(_span(line) for line in hours), at, frozenset(days))

    def is_open(self, at: datetime) -> bool:
        """Whether somebody is there ``at`` that time (aware of its zone)."""
        local = at.astimezone(self.zone)
        if not self.spans:
            return not self._is_holiday(local)
        return any(self._within(span, local) for span in self.spans)

    def _within(self, span: _Span, local: datetime) -> bool:
        now = local.time()
        yesterday = local - timedelta(days=1)
        if span.closes > span.opens:
            return local.weekday() in span.days and (
                span.opens <= now < span.closes and not self._is_holiday(local)
            )
        began = local.weekday() in span.days and now >= span.opens and not self._is_holiday(local)
        runs_out = (
            yesterday.weekday() in span.days
            and now < span.closes
            and not self._is_holiday(yesterday)
        )
        return began or runs_out

    def _is_holiday(self, day: datetime) -> bool:
        return f"{day:%Y-%m-%d}" in self.holidays or f"{day:%m-%d}" in self.holidays


def _span(line: str) -> _Span:
    found = _LINE.fullmatch(" ".join(line.lower().split()))
    try:
        if found is None:
            raise ValueError
        first = _DAYS.index(found["first"])
        last = first if found["last"] is None else _DAYS.index(found["last"])
        opens = time.fromisoformat(found["opens"])
        closes = _MIDNIGHT if found["closes"] == "24:00" else time.fromisoformat(found["closes"])
    except ValueError:
        raise ValueError(f"{line!r} is no line such as 'mon-fri 08:00-18:00'") from None
    count = (last - first) % 7 + 1  # "sat-mon" goes round the week
    return _Span(frozenset((first + n) % 7 for n in range(count)), opens, closes)


def _check_holiday(day: str) -> None:
    try:
        if not _HOLIDAY.fullmatch(day):
            raise ValueError
        datetime.fromisoformat(day if len(day) > 5 else f"2024-{day}")  # a leap year
    except ValueError:
        raise ValueError(f"{day!r} is no day such as '2026-12-25' or '12-25'") from None
