"""The days a report is about, as the business counts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

WEEK = 7
MAX_DAYS = 3660
_DAY = timedelta(days=1)
_FIRST, _LAST = date(1970, 1, 1), date(9000, 1, 1)


@dataclass(frozen=True, slots=True)
class Period:
    """From the first moment of ``first`` to the last of ``last``, in ``zone``.

    Raises:
        ValueError: it ends before it begins, or is over ten years.
    """

    first: date
    last: date
    zone: tzinfo

    def __post_init__(self) -> None:
        is_known = _FIRST <= self.first <= self.last <= _LAST
        if not is_known or self.last - self.first > timedelta(days=MAX_DAYS):
            raise ValueError(
                f"{self.first} to {self.last}: give the earlier day first, ten years at most"
            )

    @classmethod
    def of(cls, first: date | None, last: date | None, zone: tzinfo, now: datetime) -> Period:
        """The days that are given; without both the seven until today, without one seven days."""
        if last is None:
            today = now.astimezone(zone).date()
            last = today if first is None else max(first, min(today, _later(first, WEEK - 1)))
        return cls(_later(last, 1 - WEEK) if first is None else first, last, zone)

    @property
    def since(self) -> datetime:
        """Its first moment, UTC."""
        return self._begin(self.first)

    @property
    def until(self) -> datetime:
        """The first moment after it, UTC."""
        return self._begin(self.last + _DAY)

    @property
    def name(self) -> str:
        """In words."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"

    def days(self) -> Iterator[date]:
        """Every day of it."""
        for number in range((self.last - self.first).days + 1):
            yield self.first + number * _DAY

    def part_of(self, at: datetime) -> str:
        """The day of a moment; of a single day's period its hour, as "14:00"."""
        local = at.astimezone(self.zone)
        return f"{local:%H}:00" if self.first == self.last else str(local.date())

    def parts(self) -> list[str]:
        """All that :meth:`part_of` can give, in order."""
        if self.first == self.last:
            return [f"{hour:02}:00" for hour in range(24)]
        return [str(day) for day in self.days()]

    def _begin(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.zone).astimezone(UTC)


def _later(day: date, days: int) -> date:
    """So many days after ``day``; of the calendar's first and last ones, ``day`` itself."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return day
