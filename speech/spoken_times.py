"""Times of day as they are said: "half past seven", "quarter to five p m", "noon"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from speech.number_words import Word, below_hundred, number_at
from speech.values import Kind, Meaning, Value

_NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_PAST = frozenset({"past", "after"})
_TO = frozenset({"to", "til", "till", "before", "of"})
_ROUND = frozenset({5, 10, 20, 25})
_OPENS = frozenset("from open opens between hours daily weekdays".split())
_BY = frozenset("at by until till before after around about from".split())
_ON = frozenset(
    "and or on in to until till at for please today tonight tomorrow each every is does is but "
    "so if when this monday tuesday wednesday thursday friday saturday sunday".split()
)
_OPENS_AT = re.compile(
    r"\b(?:(?<!ages )(?<!aged )from|between|open|opens|hours|daily|\w+days?)[:,]? $", re.IGNORECASE
)
_JOINS = frozenset({"and", "or", "to", "until", "till"})
_ENDS = re.compile(rf"\s*(?:$|[.,;?!]|(?:{'|'.join(sorted(_ON))})\b)", re.IGNORECASE)
_HOURS = frozenset(Decimal(n) for n in range(1, 13))
_RUN_TOGETHER = re.compile(r"(\d{1,2})\.?([0-5]\d)")  # "8.30 am", "830 am"
_RANGE = re.compile(r"\s*(?:[-–—]|to|till?|until|through)\s*")
_DAY_PARTS = {
    "in the morning": "am", "this morning": "am", "in the afternoon": "pm",
    "this afternoon": "pm", "in the evening": "pm", "this evening": "pm", "at night": "night",
    "tonight": "night",
}  # fmt: skip


def time_at(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """The time that begins with word ``at``, and how many words it takes.

    A time of no half of the day is that of the morning, and of the evening by its ``others``.
    """
    return _named(words, at) or _relative(words, at) or _clock(words, at)


def ends_a_range(between: str) -> bool:
    """Whether what stands between two values makes them a range."""
    return _RANGE.fullmatch(between) is not None


def hours_of_ranges(text: str, values: Sequence[Value]) -> list[Value]:
    """Bare hours of a range as times: "from eight to five", "Monday to Friday, eight to five".

    An end no later than its start is of the afternoon.
    """
    settled = list(values)
    for n, (first, last) in enumerate(pairwise(values)):
        between = text[first.end : last.start].strip()
        if not (between in _JOINS or ends_a_range(between)) or not _is_hour(last):
            continue
        if not _ENDS.match(text, last.end):
            continue  # "between five and ten people"
        if first.kind is Kind.TIME:
            start = int(str(first.value)[:2])
        elif _is_hour(first) and _OPENS_AT.search(text[: first.start]):
            start = int(Decimal(first.value))
            settled[n] = _as_time(first, start)
        else:
            continue
        end = int(Decimal(last.value))
        settled[n + 1] = _as_time(last, end if end > start else (end + 12) % 24)
    return settled


def _is_hour(value: Value) -> bool:
    return value.kind is Kind.NUMBER and value.value in _HOURS


def _as_time(value: Value, hour: int) -> Value:
    """A bare number as the time of that hour, its other half and the number its other meanings."""
    other: Meaning = (Kind.TIME, f"{(hour + 12) % 24:02}:00")
    shown = f"{(hour - 1) % 12 + 1}:00"
    return replace(
        value, kind=Kind.TIME, value=f"{hour % 24:02}:00", written=shown,
        others=(other, (value.kind, value.value)),
    )  # fmt: skip


def with_half_of(before: Value, value: Value) -> Value:
    """The start of a range that ends with a time: "nine" to "five pm"."""
    if not _is_hour(before):
        return before
    start, end = int(Decimal(before.value)), int(str(value.value)[:2])
    same = start % 12 + 12 * (str(value.value) >= "12:00" and not value.others)
    return _as_time(before, same if same < end else start % 12)


def _text(words: Sequence[Word], at: int) -> str:
    return words[at].text if 0 <= at < len(words) else ""


def _named(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    twelve = int(_text(words, at) in ("twelve", "12"))
    name = _text(words, at + twelve)
    if name not in _NAMED:
        return None
    start, end = words[at].start, words[at + twelve].end
    return Value(Kind.TIME, _NAMED[name], start, end, name), 1 + twelve


def _relative(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "half past seven", "a quarter to five", "twenty to nine", "ten minutes after two"."""
    minutes, used = _minutes(words, at)
    link = _text(words, at + used)
    if not used or not (link in _PAST or link in _TO):
        return None
    named = words[at + used - 1].text in ("half", "quarter", "minutes", "minute", "min", "mins")
    before = _text(words, at - 1)
    if not named and (minutes not in _ROUND or before in _OPENS or before.endswith("day")):
        return None
    hour, more = _hour(words, at + used + 1)
    if not more:
        return None
    used += 1 + more
    shift = minutes if link in _PAST else -minutes
    half, half_used = half_at(words, at + used)
    if not (named or half or _ends_there(words, at + used)):
        return None  # "five to ten minutes"
    total = (hour % 12 * 60 + shift) % 720
    if half and link in _TO and hour == 12:
        half = {"am": "pm", "pm": "am"}.get(half, half)
    return _time(words, at, used, half_used, total // 60 or 12, total % 60, half)


def _minutes(words: Sequence[Word], at: int) -> tuple[int, int]:
    a = int(_text(words, at) == "a")
    word = _text(words, at + a)
    if word in ("half", "quarter"):
        return (30 if word == "half" else 15), 1 + a
    minutes, used = below_hundred(words, at)
    if not used or not 1 <= minutes <= 59:
        return 0, 0
    return minutes, used + (_text(words, at + used) in ("minutes", "minute", "min", "mins"))


def _hour(words: Sequence[Word], at: int) -> tuple[int, int]:
    if _text(words, at) in _NAMED:
        return 12, 1
    hour, used = below_hundred(words, at)
    return (hour, used) if used and 1 <= hour <= 12 else (0, 0)


def _clock(words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """An hour, with or without minutes, and something that says it is a time."""
    hour, minute, used, shown = _hour_and_minute(words, at)
    if not used or hour > 24:
        return None
    here = at + used
    sure = shown
    if not minute and _text(words, here) in ("o'clock", "oclock"):
        here, sure = here + 1, True
    elif not minute and _text(words, here) == "o" and _text(words, here + 1) == "clock":
        here, sure = here + 2, True
    half, half_used = half_at(words, here)
    said = half and _text(words, here) not in ("tonight", "this")  # "a table for two tonight"
    if not (sure or said or (half and minute) or _said_as_time(words, at, here, minute)):
        return None
    return _time(words, at, here - at, half_used, hour, int(minute or 0), half)


def _said_as_time(words: Sequence[Word], at: int, here: int, minute: str) -> bool:
    """Whether "at seven" and the like stands before, and nothing that is counted behind."""
    if _text(words, at - 1) in ("from", "between") and _text(words, here) in _JOINS:
        return False  # of a range, and only its end shows of what
    if _text(words, at - 1) not in _BY or minute or not 1 <= below_hundred(words, at)[0] <= 12:
        return False
    return _ends_there(words, here)


def _ends_there(words: Sequence[Word], at: int) -> bool:
    """Whether nothing that is counted stands at word ``at``."""
    ends = at >= len(words) or any(c in ".,;?!" for c in words[at].glue)
    return ends or words[at].text in _ON


def _hour_and_minute(words: Sequence[Word], at: int) -> tuple[int, str, int, bool]:
    """Hour, minute ('' for none), words, and whether it was written with a colon."""
    number = number_at(words, at)
    if number is None or number.amount < 0:
        return 0, "", 0, False
    hour, used = below_hundred(words, at)
    if at + 1 < len(words) and words[at + 1].glue == ":" and used == 1:
        minute = words[at + 1].text
        if words[at].text.isdecimal() and minute.isdecimal() and len(minute) == 2:
            more = 2 if at + 2 >= len(words) or words[at + 2].glue != ":" else 3
            return hour, minute, more, int(minute) < 60
    run_together = _RUN_TOGETHER.fullmatch(words[at].text)
    if run_together and half_at(words, at + 1)[0]:
        return int(run_together[1]), run_together[2], 1, True
    if number.halves and number.used > 1:
        hours, minute = number.halves
        return int(hours), minute, number.used if int(minute) < 60 else 0, False
    if used != number.used:
        return 0, "", 0, False
    return hour, "", used, False


def half_at(words: Sequence[Word], at: int) -> tuple[str, int]:
    """ "am", "pm" or "night" where it is said there ("a m", "in the morning"), and its words."""
    word, after = _text(words, at), _text(words, at + 1)
    if word in ("am", "pm"):
        return word, 1
    if word in ("a", "p") and after == "m":
        return word + "m", 2
    for length in (1, 2, 3):
        part = _DAY_PARTS.get(" ".join(w.text for w in words[at : at + length]))
        if part:
            return part, length
    return "", 0


def _time(
    words: Sequence[Word], at: int, used: int, half_used: int, hour: int, minute: int, half: str
) -> tuple[Value, int]:
    start, end = words[at].start, words[at + used + half_used - 1].end
    # "a.m." with its last stop, which is no word
    end += half in ("am", "pm") and words[at + used + half_used - 1].glue[:1] == "."
    written = f"{hour}:{minute:02}"
    if half and not minute:
        written = str(hour)
    if half in ("am", "pm"):
        written += " a.m." if half == "am" else " p.m."
    elif half:
        written += " p.m." if 5 <= hour <= 11 else " a.m."
        half = "pm" if 5 <= hour <= 11 else "am"
    if half and hour <= 12:
        of_day = hour % 12 + 12 * (half == "pm")
        return Value(Kind.TIME, f"{of_day:02}:{minute:02}", start, end, written), used + half_used
    others: tuple[Meaning, ...] = ()
    if 1 <= hour <= 12:
        others = ((Kind.TIME, f"{(hour + 12) % 24:02}:{minute:02}"),)
    value = Value(Kind.TIME, f"{hour % 24:02}:{minute:02}", start, end, written, "", others)
    return value, used + half_used
