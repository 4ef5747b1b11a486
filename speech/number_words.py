"""Number words, as they are said in English, back to numbers.

A text is first split into :class:`Word`; each function takes the words and where to begin, and says
how many words it took. What it reads: "twenty four", "two hundred and fifty", "fifteen hundred",
"one point five million", "two and a half", "two lakh", digits one by one ("five oh one", "double
four"), two halves ("seven thirty", "twenty twenty six", "nine oh five"), and any of it in digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

_ONES = {w: n for n, w in enumerate("zero one two three four five six seven eight nine".split())}
_TEENS = {
    word: n
    for n, word in enumerate(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
        10,
    )
}
_TENS = {
    word: n * 10
    for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
} | {"fourty": 40}
_SCALES = {
    "thousand": 10**3, "lakh": 10**5, "lakhs": 10**5, "million": 10**6, "crore": 10**7,
    "crores": 10**7, "billion": 10**9, "trillion": 10**12, "quadrillion": 10**15,
    "quintillion": 10**18, "sextillion": 10**21,
}  # fmt: skip
_ORDINALS = {
    word: n
    for n, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
} | {
    word: n * 10
    for n, word in enumerate(
        "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split(), 2
    )
}
_ROUND_ORDINALS = {"hundredth": 100, "thousandth": 10**3, "millionth": 10**6, "billionth": 10**9}
_SUFFIX = {1: "st", 2: "nd", 3: "rd"}
TIMES = {"double": 2, "triple": 3, "treble": 3}
_OH = frozenset({"o", "oh", "ohh", "nought"})
_WORD = re.compile(r"\d+(?:,\d{2,3})*(?:\.\d+)?(?:st|nd|rd|th)?|[^\W\d_]+(?:['’][^\W\d_]+)*")
_MOST_PIECES = 32
_CLOSE = re.compile(r"[ -]?|\s+")
_LOOSE = re.compile(r"[\s,.\-()]*")


_FIRST = frozenset(
    (*_ONES, *_TEENS, *_TENS, *_ORDINALS, *TIMES, *_OH, "a", "an", "minus", "negative", "point")
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a number of a text: lower case, where it stands, and what stands before it."""

    text: str
    start: int
    end: int
    glue: str = ""


class Shape(Enum):
    """How a number was said."""

    CARDINAL = "cardinal"
    DIGITS = "digits"
    """One by one: "two oh four"."""
    PAIR = "pair"
    """In two halves: "seven thirty"."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was said.

    ``digits`` is it as a string of digits ("0142"), with a point where one was said; ``halves`` are
    the two of a pair. ``scale`` is the last word of "five million", ``scaled`` the number before.
    """

    amount: Decimal
    digits: str
    shape: Shape
    used: int
    halves: tuple[str, str] | None = None
    scale: str = ""
    scaled: str = ""


def words_of(text: str) -> list[Word]:
    """The words and numbers of ``text``; "twenty-four" is two of them."""
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].lower().replace("’", "'")
        found.append(Word(word, match.start(), match.end(), text[end : match.start()]))
        end = match.end()
    return found


def number_at(words: Sequence[Word], at: int) -> Number | None:
    """The number that begins with word ``at``."""
    if _text(words, at) in ("minus", "negative"):
        number = number_at(words, at + 1) if _close(words, at + 1) else None
        if number is None or number.shape is not Shape.CARDINAL:
            return None
        return Number(
            -number.amount, f"-{number.digits}", number.shape, number.used + 1, None,
            number.scale, f"-{number.scaled}",
        )  # fmt: skip
    whole = _cardinal(words, at)
    parts, used = pieces(words, at)
    if not parts or (whole is not None and whole.used >= used):
        coded = used == 1 and len(parts[0]) > 1 and parts[0][0] == "0"  # 0142 is no 142
        return _joined(parts, used) if coded else whole
    return _joined(parts, used)


def pieces(
    words: Sequence[Word], at: int, *, loose: bool = False, inside: bool = False
) -> tuple[list[str], int]:
    """Digits and numbers below a hundred that stand side by side, as digits; and words taken.

    ``loose``: also across commas and stops, and with round hundreds ("eight hundred" is 800).
    ``inside``: digits went before, so an "oh" may come first.
    """
    parts: list[str] = []
    here = at
    while here < len(words) and len(parts) < _MOST_PIECES:
        if parts and not (_LOOSE.fullmatch(words[here].glue) if loose else _beside(words, here)):
            break
        part, used = _piece(words, here, first=not (parts or inside))
        if not used:
            break
        if loose and len(part) == 1 and part != "0" and _text(words, here + used) == "hundred":
            part, used = f"{part}00", used + 1
        parts += part if _text(words, here) in TIMES else [part]
        here += used
    if not loose and here - at == 2 and words[at + 1].glue == "-" and words[at].text.isdecimal():
        return parts[:1], 1  # "open 9-5"
    return parts, here - at


def below_hundred(words: Sequence[Word], at: int) -> tuple[int, int]:
    """A number from 0 to 99 and the words that it took; 0 words where there is none."""
    word = _text(words, at)
    if word in _TENS:
        one = _ONES.get(_text(words, at + 1), 0) if _close(words, at + 1) else 0
        return _TENS[word] + one, 2 if one else 1
    for table in (_ONES, _TEENS):
        if word in table:
            return table[word], 1
    if word.isdecimal() and len(word) <= 2:
        return int(word), 1
    return 0, 0


def ordinal_at(words: Sequence[Word], at: int) -> tuple[int, int]:
    """An ordinal ("twenty third", "one hundredth", "3rd") and the words that it took, or 0."""
    word = _text(words, at)
    if word[:1].isdecimal() and word[-2:] in ("st", "nd", "rd", "th"):
        return int(Decimal(word[:-2].replace(",", ""))), 1
    if word in _ORDINALS:
        return _ORDINALS[word], 1
    before = _cardinal(words, at)
    if before is None:
        return 0, 0
    # The last word was left over ("one hundred | eleventh") or taken ("twenty | third").
    last = _text(words, at + before.used)
    last = last if last != "and" else _text(words, at + before.used + 1)
    used = before.used + (1 if _text(words, at + before.used) != "and" else 2)
    if before.amount != before.amount.to_integral_value():
        return 0, 0
    value = int(before.amount)
    if last in _ORDINALS and (value % 100 == 0 or (value % 10 == 0 and _ORDINALS[last] < 10)):
        return value + _ORDINALS[last], used
    if last in _ROUND_ORDINALS and value % _ROUND_ORDINALS[last] == value:
        return value * _ROUND_ORDINALS[last], used
    return 0, 0


def ordinal_suffix(number: int) -> str:
    """``22`` -> nd."""
    return "th" if number % 100 in (11, 12, 13) else _SUFFIX.get(number % 10, "th")


def year_at(words: Sequence[Word], at: int) -> tuple[str, int]:
    """A year ("twenty twenty six", "nineteen oh five", "two thousand and nine"), and words."""
    first, used = below_hundred(words, at)
    if used and 10 <= first <= 21:
        after = at + used
        if _text(words, after) in _OH and _ONES.get(_text(words, after + 1), 0) > 0:
            return f"{first}0{_ONES[_text(words, after + 1)]}", used + 2
        rest, rest_used = below_hundred(words, after)
        if rest_used and rest >= 10 and _close(words, after):
            return f"{first}{rest}", used + rest_used
        if _text(words, after) == "hundred":
            return f"{first}00", used + 1
        return "", 0
    number = _cardinal(words, at)
    if number is None or not 1000 <= number.amount < 2100 or "." in number.digits:
        return "", 0
    return number.digits, number.used


def begins_a_number(word: str) -> bool:
    """Whether a number, or an ordinal, may begin with ``word``."""
    return word in _FIRST or word[0].isdecimal()


def _text(words: Sequence[Word], at: int) -> str:
    return words[at].text if 0 <= at < len(words) else ""


def _close(words: Sequence[Word], at: int) -> bool:
    """Whether nothing but a space or a hyphen stands before word ``at``."""
    return at < len(words) and _CLOSE.fullmatch(words[at].glue) is not None


def _beside(words: Sequence[Word], at: int) -> bool:
    """As ``_close``, but 9-11 is no 911, and dictated groups are one: "six oh six, one four"."""
    if words[at].glue == ", ":
        pairs = (words[at - 2 : at], words[at : at + 2])
        return all(len(p) == 2 and all(_is_digit(w.text) for w in p) for p in pairs)
    if words[at].glue != "-" or not words[at].text.isdecimal():
        return _close(words, at)
    return len(words[at - 1].text) == len(words[at].text) == 1


def _is_digit(word: str) -> bool:
    return word in _ONES or word in _OH


def _piece(words: Sequence[Word], at: int, *, first: bool) -> tuple[str, int]:
    word = _text(words, at)
    if word in TIMES:
        again = _text(words, at + 1)
        digit = "0" if again in _OH else str(_ONES[again]) if again in _ONES else again
        single = digit.isdecimal() and len(digit) == 1
        return (digit * TIMES[word], 2) if single else ("", 0)
    if word in _OH and _text(words, at + 1) != "clock":
        # "Oh, seven thirty" is no 07:30, "oh one four two" is 0142.
        ahead = (_text(words, at + 1), _text(words, at + 2))
        digits = all(w in _ONES or w in _OH or w in TIMES for w in ahead)
        return ("0", 1) if not first or digits else ("", 0)
    if word.isdecimal():
        return word, 1
    value, used = below_hundred(words, at)
    return (str(value), used) if used else ("", 0)


def _joined(parts: Sequence[str], used: int) -> Number:
    """Pieces side by side as one number."""
    digits = "".join(parts)
    halves = None
    if len(parts) == 2 and len(parts[0]) <= 2 and len(parts[1]) == 2:
        halves = (parts[0], parts[1])
    elif len(parts) == 3 and parts[1] == "0" and len(parts[0]) <= 2 and len(parts[2]) == 1:
        halves = (parts[0], "0" + parts[2])
    single = all(len(part) == 1 for part in parts)
    shape = Shape.PAIR if halves and not single else Shape.DIGITS
    return Number(Decimal(digits), digits, shape, used, halves)


def _cardinal(words: Sequence[Word], at: int) -> Number | None:
    """A number in the usual words, with a fraction and a scale where they follow."""
    total, here = _whole(words, at)
    if here == at and _text(words, at) != "point":
        return None
    digits = format(total, "f")
    if _text(words, here) == "point" and "." not in digits:
        parts, used = pieces(words, here + 1, inside=True)
        if used and all(p.isdecimal() for p in parts):
            digits = f"{digits if here > at else '0'}.{''.join(parts)}"
            here += 1 + used
        elif here == at:
            return None
    elif _text(words, here) == "and" and "." not in digits:
        part, used = _part(words, here + 1)
        if used:
            digits, here = format(total + part, "f"), here + 1 + used
    amount = Decimal(digits)
    scale = _text(words, here)
    if scale in _SCALES and here > at and _close(words, here):
        return Number(amount * _SCALES[scale], format(amount * _SCALES[scale], "f"),
                      Shape.CARDINAL, here + 1 - at, None, scale, digits)  # fmt: skip
    last = _text(words, here - 1)
    if last in _SCALES and total and total % _SCALES[last] == 0 and _SCALES[last] >= 10**6:
        before = format(total / _SCALES[last], "f")
        return Number(amount, digits, Shape.CARDINAL, here - at, None, last, before)
    return Number(amount, digits, Shape.CARDINAL, here - at)


def _part(words: Sequence[Word], at: int) -> tuple[Decimal, int]:
    """The "a half" of "two and a half", and its words."""
    used = 2 if _text(words, at) in ("a", "one", "three") else 1
    word = _text(words, at + used - 1)
    if word == "half":
        return Decimal("0.5"), used
    if word == "quarter" and used == 2:
        return Decimal("0.25"), used
    if word == "quarters" and _text(words, at) == "three":
        return Decimal("0.75"), 2
    return Decimal(0), 0


def _whole(words: Sequence[Word], at: int) -> tuple[Decimal, int]:
    """A whole number, or one in digits, and where it ends."""
    total, group, here, lowest = Decimal(0), None, at, Decimal(10) ** 30
    hundred = False
    if _text(words, at) in ("a", "an") and _text(words, at + 1) in ("hundred", *_SCALES):
        group, here = Decimal(1), at + 1
    while here < len(words) and (here == at or _close(words, here) or _and_scale(words, here)):
        word = words[here].text
        if word == "hundred" and group is not None and group < 100 and not hundred:
            group, hundred, here = group * 100, True, here + 1
        elif word in _SCALES and group is not None and _SCALES[word] < lowest:
            lowest = Decimal(_SCALES[word])
            total, group, hundred, here = total + group * lowest, None, False, here + 1
        else:
            skip = 1 if word == "and" and here > at and (hundred or group is None) else 0
            value, used = _group(words, here + skip)
            if not used or (group is not None and not (hundred and value < 100 <= group)):
                break
            if group is not None and group % 100:
                break
            if group is None and value >= lowest:
                break
            group, here = (group or Decimal(0)) + value, here + skip + used
    return total + (group or Decimal(0)), here


def _and_scale(words: Sequence[Word], at: int) -> bool:
    """Whether a comma before word ``at`` only parts thousands: "one thousand, two hundred"."""
    return words[at].glue == ", " and _text(words, at - 1) in _SCALES


def _group(words: Sequence[Word], at: int) -> tuple[Decimal, int]:
    value, used = below_hundred(words, at)
    if used:
        return Decimal(value), used
    word = _text(words, at)
    if word[:1].isdecimal() and word[-1].isdecimal():
        return Decimal(word.replace(",", "")), 1
    return Decimal(0), 0
