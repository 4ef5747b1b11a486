"""Values of an English text.

One reader a kind, asked in turn at every word: the first that reads something there wins, so that
"march twenty third" is a date before it is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from speech.abbreviations import MONTHS
from speech.net_words import net_at
from speech.number_words import (
    TIMES,
    Shape,
    Word,
    begins_a_number,
    below_hundred,
    number_at,
    ordinal_at,
    ordinal_suffix,
    words_of,
    year_at,
)
from speech.phone_words import phone_at
from speech.spelled_words import letters_at
from speech.spoken_times import ends_a_range, hours_of_ranges, time_at, with_half_of
from speech.unit_words import CODES, COINS, CURRENCY_SIGNS, HUNDREDTHS, UNIT_WORDS
from speech.values import Kind, Meaning, Value

_MONTH_NUMBER = {
    short: number
    for number, name in enumerate(dict.fromkeys(MONTHS.values()), 1)
    for short, whole in MONTHS.items()
    if whole == name
}
_VERBS = frozenset({"may", "march", "mar"})
_BEFORE_DATE = frozenset("on in until till by of from since before after next this".split())
_STREETS = frozenset(
    "street st avenue ave road rd lane ln drive boulevard blvd way court ct pl".split()
)
_NUMBERED = frozenset(
    "room suite unit apartment apt building gate flight bus route box bay number extension ext "
    "code option pin floor".split()
)
_ALWAYS = re.compile(r"24/7\b|twenty[- ]four seven\b(?! (?:hundred|thousand))", re.IGNORECASE)
_NET = re.compile(r"@|\bdot\b|\bwww\b|\w\.\w", re.IGNORECASE)
_STARTS = frozenset(
    (*_MONTH_NUMBER, *CODES, "the", "half", "quarter", "noon", "midday", "midnight")
)
_NOT_A_NUMBER = re.compile(r"(?:no|this|that|which|any|every|some|each|the|another) one\b|one of\b")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?(?![\d/])")

Reader = Callable[[str, Sequence[Word], int], "tuple[Value, int] | None"]


def values_of(text: str) -> tuple[Value, ...]:
    """The values of ``text``, in its order; none of them overlap."""
    words = words_of(text)
    found: list[Value] = []
    at = 0
    readers = _READERS if _NET.search(text) else _READERS[1:]
    while at < len(words):
        if readers is not _READERS and not _may_begin(words[at].text):
            at += 1
            continue
        for reader in readers:
            read = reader(text, words, at)
            if read:
                value, used = read
                _settle_range(text, found, value)
                found.append(value)
                at += used
                break
        else:
            at += 1
    return tuple(hours_of_ranges(text, found))


def _may_begin(word: str) -> bool:
    """Whether any value but an address of the net may begin with ``word``."""
    return len(word) == 1 or word == "plus" or word in _STARTS or begins_a_number(word)


def _settle_range(text: str, found: list[Value], value: Value) -> None:
    """The "nine" of "nine to five pm" is a time as well, of the same half or the other."""
    if not found or value.kind is not Kind.TIME:
        return
    before = found[-1]
    if ends_a_range(text[before.end : value.start]):
        found[-1] = with_half_of(before, value)


def _net(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    return net_at(text, words, at)


def _time(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    return time_at(words, at)


def _date(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    for pattern in (_ISO_DATE, _SLASHED):
        match = pattern.match(text, words[at].start)
        if match:
            year, month, day = _numbers(match)
            if 1 <= month <= 12 and 1 <= day <= 31:
                value = f"{year}-" * bool(year) + f"{month:02}-{day:02}"
                used = sum(w.start < match.end() for w in words[at:])
                return Value(Kind.DATE, value, match.start(), match.end(), match[0]), used
    return _month_first(text, words, at) or _day_first(text, words, at)


def _numbers(match: re.Match[str]) -> tuple[str, int, int]:
    if match.re is _ISO_DATE:
        return match[1], int(match[2]), int(match[3])
    year = match[3] or ""
    return f"20{year}" if len(year) == 2 else year, int(match[1]), int(match[2])


def _month_first(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "march twenty third [twenty twenty six]", "march the third", "march twenty twenty six"."""
    month = _MONTH_NUMBER.get(words[at].text)
    if month is None or at + 1 >= len(words):
        return None
    year, used = year_at(words, at + 1)
    if used:
        return _dated(text, words, at, 1 + used, month, 0, year)
    the = words[at + 1].text == "the"
    day, used = ordinal_at(words, at + 1 + the)
    if not used and not the:
        day, used = below_hundred(words, at + 1)
        verb = words[at].text in _VERBS and not text[words[at].start].isupper()
        before = words[at - 1].text if at else ""
        if used and verb and before not in _BEFORE_DATE and at + 1 + used < len(words):
            return None
    if not used or not 1 <= day <= 31:
        return None
    used += 1 + the
    year, more = year_at(words, at + used)
    return _dated(text, words, at, used + more, month, day, year)


def _day_first(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "the twenty third of march", "4 July", "third march twenty twenty six"."""
    the = int(words[at].text == "the")
    day, used = ordinal_at(words, at + the) if at + the < len(words) else (0, 0)
    if not used and not the:
        day, used = below_hundred(words, at)
    here = at + the + used
    of = int(here < len(words) and words[here].text == "of")
    here += of
    month = _MONTH_NUMBER.get(words[here].text) if used and here < len(words) else None
    if month is None or not 1 <= day <= 31 or (words[here].text in _VERBS and not (the or of)):
        return None
    year, more = year_at(words, here + 1)
    return _dated(text, words, at, here + 1 + more - at, month, day, year, day_first=True)


def _dated(
    text: str,
    words: Sequence[Word],
    at: int,
    used: int,
    month: int,
    day: int,
    year: str,
    *,
    day_first: bool = False,
) -> tuple[Value, int]:
    """The date of words ``at`` and on; the month's name as it stands in the text."""
    parts = [year] * bool(year) + [f"{month:02}"] + [f"{day:02}"] * bool(day)
    name = next(text[w.start : w.end] for w in words[at : at + used] if w.text in _MONTH_NUMBER)
    if day_first:
        written = f"{day} {name}" + f" {year}" * bool(year)
    else:
        written = name + f" {day}" * bool(day)
        written += (", " if day and year else " " * bool(year)) + year
    start, end = words[at].start, words[at + used - 1].end
    return Value(Kind.DATE, "-".join(parts), start, end, written), used


def _quantity(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """Money, percentages and measures: a number with what it is of."""
    sign = text[: words[at].start].rstrip()[-1:]
    if sign in CURRENCY_SIGNS:
        return _signed_money(text, words, at, sign)
    if words[at].text in CODES and at + 1 < len(words) and _CODE_GLUE.fullmatch(words[at + 1].glue):
        money = _signed_money(text, words, at + 1, text[words[at].start : words[at].end])
        return money and (money[0], money[1] + 1)
    amount, written, used = _amount(words, at)
    if not used:
        return None
    start, here = words[at].start, at + used
    if text.startswith("%", words[here - 1].end) or text.startswith(" %", words[here - 1].end):
        end = text.index("%", words[here - 1].end) + 1
        return Value(Kind.PERCENT, amount, start, end, f"{written}%"), used
    if here >= len(words) or not _CLOSE_GLUE.fullmatch(words[here].glue):
        return None
    noun = words[here].text
    if noun == "percent" or (noun == "per" and _at(words, here + 1) == "cent"):
        more = 1 if noun == "percent" else 2
        end = words[here + more - 1].end
        return Value(Kind.PERCENT, amount, start, end, f"{written}%"), used + more
    if noun in COINS:
        return _money(text, words, at, amount, written, used)
    return _measure(text, words, at, amount, written, used)


_CODE_GLUE = re.compile(r"\.? ?")
_CLOSE_GLUE = re.compile(r"\s*|-|\s?°\s?")


def _at(words: Sequence[Word], at: int) -> str:
    return words[at].text if 0 <= at < len(words) else ""


def _amount(words: Sequence[Word], at: int) -> tuple[Decimal, str, int]:
    """A number before a noun, how it is written, and its words; "a" and "half a" count too."""
    number = number_at(words, at)
    if number:
        shown = f"{number.scaled} {number.scale}" if number.scale in _BIG else number.digits
        return number.amount, shown, number.used
    word = words[at].text
    if word == "half" and _at(words, at + 1) in ("a", "an"):
        return Decimal("0.5"), "0.5", 2
    if word in ("a", "an") and _at(words, at + 1) in (*COINS, "hour", "minute", "mile", "week"):
        rate = (*COINS, *UNIT_WORDS, "times", "twice", "once")  # "twice a week" is no week
        return (Decimal(0), "", 0) if _at(words, at - 1) in rate else (Decimal(1), "1", 1)
    return Decimal(0), "", 0


_BIG = frozenset({"million", "billion", "trillion", "thousand", "lakh", "crore"})


def _signed_money(text: str, words: Sequence[Word], at: int, sign: str) -> tuple[Value, int] | None:
    number = number_at(words, at)
    if number is None or number.shape is not Shape.CARDINAL:
        return None
    start = text.rindex(sign, 0, words[at].start)
    end = words[at + number.used - 1].end
    unit = CURRENCY_SIGNS[CODES.get(sign.lower(), sign)]
    value = Value(Kind.MONEY, number.amount, start, end, text[start:end], unit)
    return value, number.used


def _money(
    text: str, words: Sequence[Word], at: int, amount: Decimal, written: str, used: int
) -> tuple[Value, int]:
    """ "forty dollars", "twelve dollars and fifty cents", "ninety cents"."""
    unit, sign, part = COINS[words[at + used].text]
    taken = used + 1
    if part:
        amount, written = amount / 100, format(amount / 100, ".2f")
    else:
        here = at + taken + (_at(words, at + taken) == "and")
        cents = number_at(words, here) if here < len(words) else None
        if cents and cents.amount < 100 and _at(words, here + cents.used) in HUNDREDTHS:
            amount += cents.amount / 100
            written = format(amount, ".2f")
            taken = here + cents.used + 1 - at
        elif cents and 10 <= cents.amount < 100 and _nothing_counted(words, here + cents.used):
            amount += cents.amount / 100  # "seventy five dollars sixty three"
            written = format(amount, ".2f")
            taken = here + cents.used - at
    end = words[at + taken - 1].end
    others: tuple[Meaning, ...] = ()
    if words[at + used].text in UNIT_WORDS:  # pounds
        others = ((Kind.MEASURE, amount),)
    return (
        Value(Kind.MONEY, amount, words[at].start, end, f"{sign}{written}", unit, others),
        taken,
    )


def _nothing_counted(words: Sequence[Word], at: int) -> bool:
    return at >= len(words) or not words[at].glue.isspace()


def _measure(
    text: str, words: Sequence[Word], at: int, amount: Decimal, written: str, used: int
) -> tuple[Value, int] | None:
    here = at + used
    for length in (4, 3, 2, 1):
        name = " ".join(w.text for w in words[here : here + length])
        if name in UNIT_WORDS and len(words) >= here + length:
            unit, shown = UNIT_WORDS[name]
            used += length
            half = " ".join(w.text for w in words[at + used : at + used + 3])
            if half == "and a half":
                amount, used = amount + Decimal("0.5"), used + 3
                written = format(amount, "f")
            end = words[at + used - 1].end
            gap = "" if shown.startswith("°") else " "
            noun = text[words[here].start : words[here + length - 1].end]
            shown = f"{written}{gap}{shown or noun}"
            if words[at].text in ("a", "an", "half"):
                shown = text[words[at].start : end]
            return Value(Kind.MEASURE, amount, words[at].start, end, shown, unit), used
    return None


def _ordinal(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """An ordinal; a lone "first" or "second" only where it can be nothing else."""
    number, used = ordinal_at(words, at)
    if not used:
        return None
    word = words[at].text
    alone = len(words) == 1 or _at(words, at - 1) == "the"
    if used == 1 and word in ("first", "second") and not alone:
        return None
    start, end = words[at].start, words[at + used - 1].end
    written = f"{number}{ordinal_suffix(number)}"
    if word in ("first", "second") and used == 1 < len(words):
        written = text[start:end]
    return Value(Kind.ORDINAL, Decimal(number), start, end, written), used


def _around_the_clock(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """ "24/7", "twenty four seven"."""
    match = _ALWAYS.match(text, words[at].start)
    if not match:
        return None
    used = sum(word.start < match.end() for word in words[at:])
    return Value(Kind.DIGITS, "247", match.start(), match.end(), "24/7"), used


def _number(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    number = number_at(words, at)
    if number is None or _NOT_A_NUMBER.match(text[words[max(at - 1, 0)].start :].lower()):
        return None
    start, end = words[at].start, words[at + number.used - 1].end
    if text[start : start + 1] == "." or text[max(0, start - 1) : start] == ".":
        start -= text[start - 1 : start] == "." and not text[: start - 1].strip()
    if number.shape is Shape.DIGITS:
        others = ((Kind.NUMBER, number.amount), *_clock_and_coins(number.halves))
        # "one three star spot" is no 13
        two = number.used == 2 and len(words[at].text) > 2 and not _is_numbered(words, at, 2)
        shown = text[start:end] if two and len(number.digits) == 2 else number.digits
        if words[at].text in TIMES:
            shown = number.digits
        return Value(Kind.DIGITS, number.digits, start, end, shown, "", others), number.used
    shown = f"{number.scaled} {number.scale}" if number.scale in _BIG else number.digits
    small = number.used == 1 and number.amount < 10 and not words[at].text[0].isdecimal()
    if small:
        shown = text[start:end]
    value = Value(Kind.NUMBER, number.amount, start, end, shown)
    if number.shape is Shape.PAIR:
        value = _pair(words, at, number.used, value, number.halves)
    return value, number.used


def _pair(
    words: Sequence[Word], at: int, used: int, value: Value, halves: tuple[str, str] | None
) -> Value:
    """Two halves: a time if a clock shows them and nothing near says that they are a number."""
    meanings = _clock_and_coins(halves)
    numbered = _is_numbered(words, at, used)
    hour = int(halves[0]) if halves else 0
    if numbered or not meanings or meanings[0][0] is not Kind.TIME or hour > 18 or hour == 0:
        return replace(value, others=meanings)
    number: Meaning = (value.kind, value.value)
    kind, time = meanings[0]
    shown = f"{hour}:{halves[1]}" if halves else value.written
    return replace(value, kind=kind, value=time, written=shown, others=(*meanings[1:], number))


def _is_numbered(words: Sequence[Word], at: int, used: int) -> bool:
    """Whether a number is that of a room or a house."""
    streets = (_at(words, at + used + n) in _STREETS for n in range(3))
    return _at(words, at - 1) in _NUMBERED or any(streets)


def _clock_and_coins(halves: tuple[str, str] | None) -> tuple[Meaning, ...]:
    """The times and the amount of money that "seven thirty" may be."""
    if halves is None:
        return ()
    hour, minute = int(halves[0]), int(halves[1])
    money: Meaning = (Kind.MONEY, Decimal(hour) + Decimal(minute) / 100)
    if hour > 23 or minute > 59:
        return (money,)
    times = [f"{hour:02}:{minute:02}"]
    if 1 <= hour <= 12:
        times.append(f"{(hour + 12) % 24:02}:{minute:02}")
    return (*((Kind.TIME, time) for time in times), money)


_READERS: tuple[Reader, ...] = (
    _net, _around_the_clock, _date, _time, phone_at, _quantity, _ordinal, letters_at, _number,
)  # fmt: skip
