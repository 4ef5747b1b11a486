"""Dates of birth: a date beside "born" or "birthday", or a full date of another century."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.privacy.cues import BIRTH_AFTER, BIRTH_BEFORE, sides
from agent.privacy.kinds import Found, Kind
from agent.privacy.words import runs_of
from rag.days import HOLIDAY
from speech.abbreviations import MONTHS
from speech.number_words import Word, below_hundred, ordinal_at, year_at

_MONTHS = frozenset(MONTHS)
_NUMERIC = re.compile(
    r"(?<![\d/.-])(?:(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](?:(?:19|20)\d\d|\d\d))(?![\d/]|[-.]\d)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_HOLIDAY = re.compile(rf"(?:{HOLIDAY.pattern})(?:,?\s(?:of\s|in\s)?(?:19|20)\d\d\b)?", re.I)
"""What is looked up has "july 4" as "independence day"."""
_BIRTH = re.compile(r"birth|\bborn\b|\bd\.?\s?o\.?\s?b\b", re.I)
_LONG_AGO = range(1900, 2020)
"""Nobody asks a desk about a day so long past: such a date is somebody's, without a cue too."""
_NOT_MINE = re.compile(r"\b(?:before|after|since|between|people|patients|anyone|until)\b", re.I)
_MOST_PARTS = 8


def find_births(text: str, words: Sequence[Word]) -> Iterator[Found]:
    """The dates of birth of ``text``; some may overlap, the longer comes first."""
    spans = [(m.start(), m.end(), _year_of(m.group())) for m in _NUMERIC.finditer(text)]
    if _YEAR.search(text) or _BIRTH.search(text):
        spans += [(m.start(), m.end(), _year_of(m.group())) for m in _HOLIDAY.finditer(text)]
    spans += _named(words)
    found = [Found(Kind.BIRTH, a, b) for a, b, year in spans if _is_birth(text, a, b, year)]
    yield from sorted(found, key=lambda one: one.start - one.end)
    for start, end in _bare(text, words):
        if not any(one.start < end and start < one.end for one in found):
            yield Found(Kind.BIRTH, start, end)


def _is_birth(text: str, start: int, end: int, year: int) -> bool:
    before, after = sides(text, start, end)
    return (year in _LONG_AGO) or _is_cued(before, after)


def _is_cued(before: str, after: str) -> bool:
    cue = BIRTH_BEFORE.search(before)
    if cue is not None:
        return not _NOT_MINE.search(before[max(0, cue.start() - 20) :])
    return BIRTH_AFTER.match(after) is not None


def _year_of(written: str) -> int:
    year = _YEAR.search(written)
    return int(year.group()) if year else 0


def _named(words: Sequence[Word]) -> list[tuple[int, int, int]]:
    """Dates with a month's name: start, end and the year, or 0 where day or year is missing."""
    spans = []
    for at, word in enumerate(words):
        if word.text not in _MONTHS:
            continue
        first, day_before = _day_before(words, at)
        here, day_after = _day_after(words, at + 1)
        year, used = _year(words, here)
        here += used
        if not (day_before or day_after or year):
            continue
        whole = int(year) if year and (day_before or day_after) else 0
        spans.append((words[first].start, words[here - 1].end, whole))
    return spans


def _day_before(words: Sequence[Word], month: int) -> tuple[int, bool]:
    """The first word of "the twenty first of" before ``month``; and whether a day is there."""
    last = month - 1
    if last >= 0 and words[last].text == "of":
        last -= 1
    for size in (3, 2, 1):
        start = last - size + 1
        if start < 0:
            continue
        for read in (ordinal_at, below_hundred):
            day, used = read(words[: last + 1], start)
            if used == size and 1 <= day <= 31:
                return start - (start > 0 and words[start - 1].text == "the"), True
    return month, False


def _day_after(words: Sequence[Word], here: int) -> tuple[int, bool]:
    if here < len(words) and words[here].text == "the":
        day, used = ordinal_at(words, here + 1)
        return (here + 1 + used, True) if used and 1 <= day <= 31 else (here, False)
    if here < len(words) and year_at(words, here)[1]:
        year = year_at(words, here)[0]
        if len(year) == 4 and not _day_then_year(words, here):
            return here, False
    for read in (ordinal_at, below_hundred):
        day, used = read(words, here) if here < len(words) else (0, 0)
        if used and 1 <= day <= 31:
            return here + used, True
    return here, False


def _day_then_year(words: Sequence[Word], here: int) -> bool:
    """Whether "twenty nineteen fifty" is a day and a year, and no year alone."""
    _, used = below_hundred(words, here)
    return bool(used and year_at(words, here + used)[1])


def _year(words: Sequence[Word], here: int) -> tuple[str, int]:
    if here >= len(words):
        return "", 0
    if _YEAR.fullmatch(words[here].text):
        return words[here].text, 1
    year, used = year_at(words, here)
    if used:
        return year, used
    short, used = below_hundred(words, here)
    return (f"19{short}", used) if used and short >= 20 else ("", 0)


def _bare(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Numbers beside a cue: "twelve eleven fifty nine is my birthday", "born in 1951"."""
    if not _BIRTH.search(text):
        return
    for run in runs_of(words):
        digits = sum(len(part.said) for part in run)
        start, end = run[0].start, run[-1].end
        if not 3 <= digits <= 10 or len(run) > _MOST_PARTS:
            continue
        before, after = sides(text, start, end)
        cue = BIRTH_BEFORE.search(before)
        if cue is not None and re.search(r"\d|\b(?:phone|number)\b", cue["between"]):
            continue
        if _is_cued(before, after):
            yield start, end
