"""Dates and times of day, as English words."""

from __future__ import annotations

import re

from speech import numbers as n
from speech.abbreviations import MONTHS, WEEKDAYS
from speech.reading.rules import Rule, rule

_I = re.IGNORECASE
# "you may 4 times" is no date, so these need their capital.
_VERBS = ("may", "mar", "march", "dec", "sun")
_NAMES = {name for m in MONTHS for name in (m.capitalize(), m.upper(), m) if name not in _VERBS}
_MONTH = "|".join(sorted(_NAMES, key=len, reverse=True))
_ANY_MONTH = f"{_MONTH}|may|march"
_WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
DASH = r"\s?[-–—]\s?"
_HALF = r"(?:[ap]\.?\s?m\b\.?|(?<=\d)[ap]\b)"
_ST = r"(?:st|nd|rd|th)"
_ZONE = r"(?: ?(?P<zone>(?:[ECMP][SD]?T|GMT|UTC|IST)\b))?"


def _date(month: str, day: str, year: str | None = None) -> str:
    words = f"{month} {n.ordinal(day)}"
    return f"{words}, {n.year('20' + year if len(year) == 2 else year)}" if year else words


def _month(text: str) -> str:
    return MONTHS[text.rstrip(".").lower()]


def _named_date(match: re.Match[str]) -> str:
    words = _date(_month(match["month"]), match["day"])
    if match["last"]:
        words += f" to {n.ordinal(match['last'])}"
    if match["second"]:
        link = "and" if match["link"] == "&" else match["link"]
        words += f" {link} {n.ordinal(match['second'])}"
    return words + (f", {n.year(match['year'])}" if match["year"] else "")


def _day_first(match: re.Match[str]) -> str:
    words = f"the {n.ordinal(match['day'])} of {_month(match['month'])}"
    return words + (f" {n.year(match['year'])}" if match["year"] else "")


def _numbered_date(match: re.Match[str]) -> str:
    month, day, year = match["month"], match["day"], match["year"]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        link = " " if match[0] in ("24/7", "20/20") else " over "
        return f"{n.cardinal(month)}{link}{n.cardinal(day)}"
    return _date(_month_name(int(month)), day, year)


def _full_date(match: re.Match[str]) -> str:
    """``15-01-2020`` and ``01.10.2010``: the month first where it can be."""
    month, day = int(match["month"]), int(match["day"])
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return n.digits(match[0])
    return _date(_month_name(month), str(day), match["year"])


def _month_name(number: int) -> str:
    return list(dict.fromkeys(MONTHS.values()))[number - 1]


def _half(text: str | None) -> str:
    """``a.m.`` -> ' AM', which eSpeak NG says as letters; its 'a m' is the article and an M."""
    return f" {text[0].upper()}M" if text else ""


def _full_stop(match: re.Match[str]) -> str:
    """The stop of a final ``a.m.`` also ends the sentence when a new one begins after it."""
    rest = match.string[match.end() :]
    return "." if match[0].endswith(".") and re.match(r"$|\s+[A-Z\"']", rest) else ""


def _of_24(hour: str, minute: str | None, *, both: bool = False) -> str:
    """``17``, ``30`` -> five thirty PM: few callers count to 24; '' for an hour of the morning.

    ``both``: of the morning as well, as the other end of a range needs it.
    """
    number = int(hour)
    if number > 24 or (1 <= number <= 12 and not both):
        return ""
    words = n.clock(str((number - 1) % 12 + 1), minute)
    return f"{words} {'PM' if 12 <= number < 24 else 'AM'}"


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], match["half"]
    words = n.clock(hour, minute)
    of_24 = "" if half else _of_24(hour, minute)
    if of_24:
        return of_24 + (f" {'-'.join(match['zone'])}" if match["zone"] else "")
    if not half and minute == "00" and int(hour) <= 12:
        words += " o'clock"
    zone = match["zone"]
    return words + _half(half) + (f" {'-'.join(zone)}" if zone else _full_stop(match))


def _seconds(match: re.Match[str]) -> str:
    """``14:10:30`` -> fourteen hours, ten minutes and thirty seconds: what is timed to a second."""
    parts = [
        f"{n.cardinal(value)} {unit}{'s' * (int(value) != 1)}"
        for value, unit in zip(match.groups()[:3], ("hour", "minute", "second"), strict=True)
    ]
    return f"{parts[0]} {parts[1]} and {parts[2]}" + _half(match["half"])


def _time_range(match: re.Match[str]) -> str:
    if not match["half1"] and not match["half2"]:
        ends = [(match[f"h{n}"], match[f"m{n}"]) for n in "12"]
        if any(_of_24(*end) for end in ends):
            return " to ".join(_of_24(*end, both=True) or n.clock(*end) for end in ends)
    start = n.clock(match["h1"], match["m1"]) + _half(match["half1"])
    end = n.clock(match["h2"], match["m2"]) + _half(match["half2"])
    return f"{start} to {end}{_full_stop(match)}"


def _half_of_day(match: re.Match[str]) -> str:
    named = {"a": "AM", "p": "PM"}
    start, end = n.clock(match[1], None), n.clock(match[3], None)
    return f"{start} {named[match[2]]} to {end} {named[match[4]]}"


def _months(match: re.Match[str]) -> str:
    return f"{_month(match['start'])} to {_month(match['end'])}"


def _weekday(match: re.Match[str]) -> str:
    return WEEKDAYS[match[1].lower()]


def _weekdays(match: re.Match[str]) -> str:
    start, end = (WEEKDAYS[match[k].lower()] for k in ("start", "end"))
    return f"{start} to {end}"


def _years(match: re.Match[str]) -> str:
    """``2025-26`` -> twenty twenty-five to twenty-six."""
    last = match[2]
    return f"{n.year(match[1])} to {n.year(last) if len(last) == 4 else n.cardinal(last)}"


_SHORT_DAY = r"\b(?:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)\b"
_DATES: tuple[Rule, ...] = (
    rule(r"\b(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)\b", _full_date),
    rule(r"(?<![\w./-])(?P<month>\d\d?)([.-])(?P<day>\d\d?)\2(?P<year>\d{4})(?![\w-])", _full_date),
    # a dash that is a range's, between two whole dates
    rule(
        rf"(?<=\d)(?P<st>{_ST})?{DASH}(?=(?:{_MONTH})\.? \d|\d{{1,2}}/\d{{1,2}}\b)",
        lambda m: f"{m['st'] or ''} to ",
        needs=r"\d[a-z]{0,2}\s?[-–—]",
    ),
    rule(
        rf"\b(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:{_ST})?\b"
        rf"(?:{DASH}(?P<last>\d{{1,2}})(?:{_ST})?\b(?!:))?"
        rf"(?: (?P<link>and|&|or|through|to) (?P<second>\d{{1,2}})(?:{_ST})?"
        r"(?=[.,;!?)]|$))?(?:,? ?(?P<year>\d{4})\b)?",
        _named_date,
    ),
    rule(
        rf"\b(?:the )?(?P<day>\d{{1,2}})(?:{_ST} (?:of )?(?P<month>{_ANY_MONTH})\b"
        rf"(?:,? ?(?P<year>(?:19|20)\d\d)\b)?)",
        _day_first,
    ),
    rule(
        rf"\b(?:the )?(?P<day>\d{{1,2}}) (?:of )?(?P<month>{_MONTH})\b"
        r"(?:,? ?(?P<year>(?:19|20)\d\d)\b)?",
        _day_first,
    ),
    rule(
        r"\b(?:the )?(?P<day>\d{1,2}) (?P<month>may|march),? (?P<year>(?:19|20)\d\d)\b",
        _day_first,
    ),
    rule(
        rf"\b(?P<month>{_MONTH})\.?,? (?P<year>(?:1[5-9]|20)\d\d)\b",
        lambda m: f"{_month(m['month'])} {n.year(m['year'])}",
    ),
    rule(
        r"(?<![\d/.])(?P<month>\d{1,3})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}|\d\d))?(?![\d/])",
        _numbered_date,
        needs=r"\d/\d",
    ),
    rule(rf"\b(?P<start>{_MONTH})\.?{DASH}(?P<end>{_MONTH})\b\.?", _months, needs="[-–—]"),
    rule(
        rf"\b(?P<start>{_WEEKDAY})\.?{DASH}(?P<end>{_WEEKDAY})\b\.?", _weekdays, _I, needs="[-–—]"
    ),
    rule(
        r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.(?=\s*[\d,;:&]|\s[a-z])",
        _weekday,
        needs=_SHORT_DAY,
    ),
    rule(r"\b(Mon|Wed|Sat)\.(?=\s|$)", lambda m: f"{_weekday(m)}.", needs=_SHORT_DAY),
    rule(r"\b(Tues?|Weds?|Thu(?:rs?)?|Fri)\b(?:\.(?!$))?", _weekday, needs=_SHORT_DAY),
    rule(
        r"\b((?i:since|established(?: in)?|founded(?: in)?|built in)) (1[5-8]\d\d)\b",
        lambda m: f"{m[1]} {n.year(m[2])}",
    ),
    rule(r"\b((?:19|20)\d\d)[-–](\d\d|(?:19|20)\d\d)(?![\w/-])", _years),
)
_TIMES: tuple[Rule, ...] = (
    rule(r"\b(\d{1,2})([ap])[-–](\d{1,2})([ap])\b", _half_of_day),
    rule(
        rf"\b(?P<h1>\d{{1,2}})(?::(?P<m1>\d\d))? ?(?P<half1>{_HALF})?{DASH}"
        rf"(?P<h2>\d{{1,2}})(?::(?P<m2>\d\d))? ?(?P<half2>{_HALF})",
        _time_range,
        _I,
        needs="[-–—]",
    ),
    rule(
        rf"\b(?P<h1>\d{{1,2}}):(?P<m1>\d\d) ?(?P<half1>{_HALF})?{DASH}"
        r"(?P<h2>\d{1,2}):(?P<m2>\d\d)\b(?P<half2>)",
        _time_range,
        _I,
        needs="[-–—]",
    ),
    rule(
        rf"(?P<time>\d ?{_HALF}|\b(?:12 )?(?:noon|midnight)){DASH}(?=\d|noon\b|midnight\b)",
        r"\g<time> to ",
        _I,
        needs="[-–—]",
    ),
    rule(
        rf"\b(\d\d?):(\d\d):(\d\d)(?: ?(?P<half>{_HALF}))?(?![\d:])", _seconds, _I, needs=r"\d:\d"
    ),
    rule(
        rf"\b(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?: ?(?P<half>{_HALF}))?{_ZONE}(?![\d:])",
        _time,
        _I,
        needs=r"\d:\d",
    ),
    rule(rf"\b(?P<hour>\d{{1,2}})(?P<minute>) ?(?P<half>[ap]\.?\s?m\b\.?){_ZONE}", _time, _I),
    rule(r"\b(\d{1,2}) o'clock", lambda m: f"{n.cardinal(m[1])} o'clock", _I),
)
RULES = (*_DATES, *_TIMES)
