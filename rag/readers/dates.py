"""Dates with a year in text, and the day on which what they say is over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from rag.days import HOLIDAY

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = "|".join(rf"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + "|sept"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
DATES = (
    ("mdy", re.compile(rf"\b({_MONTH})\.? (?:\d{{1,2}}\s*[-–]\s*)?{_DAY},? (\d{{4}})\b", re.I)),
    ("dmy", re.compile(rf"\b{_DAY} (?:of )?({_MONTH})\.?,? (\d{{4}})\b", re.I)),
    ("my", re.compile(rf"\b({_MONTH})\.?,? (?:of )?((?:19|20)\d\d)\b", re.I)),
    ("ymd", re.compile(r"\b((?:19|20)\d\d)-(\d{2})-(\d{2})\b")),
    ("slash", re.compile(r"\b(\d{1,2})[/.](\d{1,2})[/.]((?:19|20)\d\d)\b")),
)
HOLDS_YEAR = re.compile(r"\d{4}")
_YEAR = re.compile(
    rf"(?:\b(?:until|till|through|thru|expires?(?: in)?|ends?(?: in)?|end of|season|summer|winter|"
    rf"spring|autumn)|{HOLIDAY.pattern}) ((?:19|20)\d\d)\b",
    re.I,
)
# What began on a day gone by goes on; what happened then is history.
_BEGAN = re.compile(
    r"\b(?:since|from|after|as of|starting|effective|beginning|began|founded|opened|established|"
    r"built|updated|revised|reviewed|published|born|before|joined|licensed)\b"
    r"(?:(?!\b(?:to|until|till|through)\b)[^.;]){0,25}$",
    re.I,
)


def ends(sentence: str) -> Iterator[tuple[date, str]]:
    """The last day that each date in ``sentence`` holds, and the date as written."""
    if not HOLDS_YEAR.search(sentence):
        return
    rest = sentence
    for shape, pattern in DATES:
        for found in pattern.finditer(rest):
            end = _end(shape, found.groups())
            if end and not _BEGAN.search(sentence[: found.start()]):
                yield end, found.group()
        rest = pattern.sub(lambda found: "_" * len(found.group()), rest)
    for found in _YEAR.finditer(rest):
        yield date(int(found.group(1)), 12, 31), found.group()


def _end(shape: str, parts: Sequence[str]) -> date | None:
    try:
        if shape == "my":
            month, year = _month(parts[0]), int(parts[1])
            return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        if shape == "mdy":
            return date(int(parts[2]), _month(parts[0]), int(parts[1]))
        if shape == "dmy":
            return date(int(parts[2]), _month(parts[1]), int(parts[0]))
        if shape == "ymd":
            return date(int(parts[0]), int(parts[1]), int(parts[2]))
        one, two, year = map(int, parts)
        # Month or day first: the later reading, unless only one is a date.
        return max(date(year, *pair) for pair in ((one, two), (two, one)) if pair[0] <= 12)
    except ValueError:
        return None


def _month(name: str) -> int:
    return next(n for n, full in enumerate(_MONTHS, 1) if full.startswith(name[:3].lower()))
