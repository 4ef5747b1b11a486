"""Named days in text: weekdays, spans of weekdays, and holidays.

Used to carry a day from one question to the next, and to check that an answer is about the day
that was asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WEEKDAY_WORD = re.compile(rf"\b{WEEKDAY}s?\b")

# Longer names first: "christmas eve" is not "christmas", "good friday" is not a friday.
# The holidays of the United States' federal list and the commonest others.
_HOLIDAY_NAMES = (
    ("christmas eve", r"christmas eve"),
    ("christmas", r"christmas(?: day)?|xmas"),
    ("new year's eve", r"new year'?s? eve"),
    ("new year", r"new year'?s?(?: day)?"),
    ("thanksgiving", r"thanksgiving(?: day)?"),
    ("good friday", r"good friday"),
    ("easter monday", r"easter monday"),
    ("easter", r"easter(?: sunday)?"),
    ("memorial day", r"memorial day"),
    ("labor day", r"labou?r day"),
    ("independence day", r"independence day|(?:4th|fourth) of july|july (?:4th|fourth|4)\b"),
    ("martin luther king day", r"martin luther king(?:,? jr\.?)?(?:'?s)?(?: day)?|mlk day"),
    ("presidents day", r"president'?s'? day"),
    ("juneteenth", r"juneteenth"),
    ("columbus day", r"columbus day|indigenous peoples'? day"),
    ("veterans day", r"veteran'?s'? day"),
    ("halloween", r"halloween"),
    ("boxing day", r"boxing day"),
    ("diwali", r"diwali"),
    ("eid", r"eid"),
    ("hanukkah", r"hanukkah|chanukah"),
    ("valentine's day", r"valentine'?s(?: day)?"),
    ("mother's day", r"mother'?s day"),
    ("father's day", r"father'?s day"),
)
_HOLIDAYS = tuple((name, re.compile(rf"\b(?:{rx})(?!\w)")) for name, rx in _HOLIDAY_NAMES)

_ANY_HOLIDAY = "|".join(rx for _, rx in _HOLIDAY_NAMES)
# "the friday after thanksgiving" is neither a friday like others nor thanksgiving.
_BESIDE = rf"(?:the )?(?:day|{WEEKDAY}) (?P<side>after|before) (?P<holiday>{_ANY_HOLIDAY})"
_BESIDE_HOLIDAY = re.compile(rf"\b{_BESIDE}(?!\w)")
HOLIDAY = re.compile(rf"\b(?:{_ANY_HOLIDAY})(?!\w)")
# What a follow-up may put in the place of a day: a weekday, a holiday, "the weekend", "today".
DAY_SLOT = re.compile(
    rf"\b(?:(?:(?:the )?(?:day|{WEEKDAY}) (?:after|before) )?(?:{_ANY_HOLIDAY})(?!\w)"
    rf"|{WEEKDAY}s?\b"
    r"|(?:the |a )?week(?:day|end)s?\b|today\b|tomorrow\b)"
)

# "December 25th", "the 25th of december", "december twenty fifth" once numbers are digits.
_DATE_OF = r"\b(?:the )?(?:{0} (?:the )?{1}(?:st|th)?|{1}(?:st|th)? (?:of )?{0})\b"
_ON_DATES = tuple(
    (re.compile(_DATE_OF.format(month, day)), name)
    for month, day, name in (
        ("december", "25", "christmas"),
        ("december", "24", "christmas eve"),
        ("december", "31", "new year's eve"),
        ("january", "1", "new year"),
    )
)
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_DATE = re.compile(
    rf"\b(?:(?P<month>{'|'.join(_MONTHS)}) (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<first>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<of>{'|'.join(_MONTHS)}))\b(?!,? \d{{4}})"
)

# Other names of a day, and the one that documents use.
_ALSO_CALLED = (
    (re.compile(r"\bblack friday\b"), "the friday after thanksgiving"),
    (
        re.compile(r"\b(?:the )?(?:(?:4th|fourth) of july|july (?:the )?(?:4th|fourth|4))\b"),
        "independence day",
    ),
    (re.compile(r"\bxmas\b"), "christmas"),
    (re.compile(r"\bmlk day\b"), "martin luther king day"),
)

# Most sentences name neither a holiday nor a day: two searches show it, in place of sixty.
_MAY_BE_HOLIDAY = re.compile(
    "|".join([HOLIDAY.pattern, *(pattern.pattern for pattern, _ in _ALSO_CALLED)])
)
_MAY_BE_DAY = re.compile(r"day|daily|week|\b(?:mon|tue|wed|thu|fri|sat|sun)")

_DAY = r"(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\.?"
_SPAN = re.compile(rf"\b{_DAY}\s*(?:to|through|thru|until|till|-|–|—)\s*{_DAY}(?!\w)")
# "Sat 9–1", "Sun: closed": short only before what holds on the day.
_SHORT = re.compile(r"\b(mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b\.?(?=:? ?(?:\d|closed\b))")
_GROUPS = (
    (re.compile(r"\b(?:every day|daily|(?:7|seven) days(?: a week)?|all week)\b"), range(7)),
    (re.compile(r"\bweekdays?\b"), range(5)),
    (re.compile(r"\bweekends?\b"), range(5, 7)),
)


def weekdays(text: str) -> frozenset[str]:
    """The weekdays that ``text`` names, spans and "weekdays", "weekend", "daily" spelt out.

    Holidays that hold a weekday's name ("Good Friday") do not count.
    """
    text = text.lower()
    if not _MAY_BE_DAY.search(text):
        return frozenset()
    text = _without_holidays(text)
    found: set[str] = set()
    for match in _SPAN.finditer(text):
        first, last = (_number(name) for name in match.groups())
        found.update(WEEKDAYS[(first + step) % 7] for step in range((last - first) % 7 + 1))
    for pattern, numbers in _GROUPS:
        if pattern.search(text):
            found.update(WEEKDAYS[number] for number in numbers)
    found.update(WEEKDAYS[_number(match[1])] for match in _SHORT.finditer(text))
    found.update(match.group().rstrip("s") for match in WEEKDAY_WORD.finditer(text))
    return frozenset(found)


@lru_cache(maxsize=8192)
def holidays(text: str) -> frozenset[str]:
    """The holidays that ``text`` names, each under one name ("july 4" is independence day)."""
    text = text.lower().replace("’", "'")
    if not _MAY_BE_HOLIDAY.search(text):
        return frozenset()
    text = by_usual_name(text)
    found: set[str] = set()
    for match in _BESIDE_HOLIDAY.finditer(text):
        found.update(f"day {match['side']} {name}" for name in holidays(match["holiday"]))
    text = _BESIDE_HOLIDAY.sub(" ", text)
    for name, pattern in _HOLIDAYS:
        text, count = pattern.subn(" ", text)
        if count:
            found.add(name)
    return frozenset(found)


# The sentences of a knowledge base come again with every question.
@lru_cache(maxsize=8192)
def named_days(text: str) -> frozenset[str]:
    """Weekdays and holidays together."""
    return weekdays(text) | holidays(text)


@lru_cache(maxsize=8192)
def singled_out(text: str) -> frozenset[str]:
    """The weekdays and holidays that ``text`` names by themselves, not within a span."""
    text = text.lower()
    if not _MAY_BE_DAY.search(text) and not _MAY_BE_HOLIDAY.search(text):
        return frozenset()
    alone = WEEKDAY_WORD.finditer(_SPAN.sub(" ", _without_holidays(text)))
    return holidays(text) | frozenset(match.group().rstrip("s") for match in alone)


def dates(text: str) -> frozenset[str]:
    """The days of a month that ``text`` names, as "december 26"; holidays have names instead."""
    found = _DATE.finditer(by_holiday(by_usual_name(text.lower())))
    return frozenset(f"{m['month'] or m['of']} {int(m['day'] or m['first'])}" for m in found)


def by_holiday(text: str) -> str:
    """Lower-case ``text`` with the holidays that always fall on a date in its place."""
    for pattern, name in _ON_DATES:
        text = pattern.sub(name, text)
    return text


def by_usual_name(text: str) -> str:
    """Lower-case ``text`` with "july 4th" as independence day, and others alike.

    The day stays the same, so no question gains a subject.
    """
    for pattern, name in _ALSO_CALLED:
        text = pattern.sub(name, text)
    return text


def _without_holidays(text: str) -> str:
    text = text.replace("’", "'")
    if not _MAY_BE_HOLIDAY.search(text):
        return text
    text = _BESIDE_HOLIDAY.sub(" ", by_usual_name(text))
    for _, pattern in _HOLIDAYS:
        text = pattern.sub(" ", text)
    return text


def _number(name: str) -> int:
    return next(n for n, day in enumerate(WEEKDAYS) if day.startswith(name[:3]))
