"""Phone numbers as they are said: "five five five, oh one four two", "one, eight hundred, …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from speech.number_words import Word, pieces
from speech.values import Kind, Value

_DOTTED_PHONE = re.compile(r"(?:\+?1[. -])?\d{3}\.\d{3}\.\d{4}\b|\d{3}\.\d{4}\b")


def phone_at(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """The phone number that begins with word ``at``, and how many words it takes."""
    plus = text[: words[at].start].endswith("+") or words[at].text == "plus"
    dotted = _DOTTED_PHONE.match(text, words[at].start)
    if dotted:
        digits = "+" * plus + re.sub(r"\D", "", dotted[0])
        used = sum(w.start < dotted.end() for w in words[at:])
        begin = words[at].start - plus
        return Value(Kind.PHONE, digits, begin, dotted.end(), phone_written(digits)), used
    start = at + (words[at].text == "plus")
    parts, used = pieces(words, start, loose=True)
    while used:
        digits = "".join(parts)
        ends_at_pause = start + used == len(words) or not words[start + used].glue.isspace()
        if _is_phone(digits, parts, plus) and (ends_at_pause or used == len(parts)):
            break
        parts, used = _shorter(words, start, used)
    if not used:
        return None
    begin = words[at].start - (plus and words[at].text != "plus")
    if begin and text[begin - 1] == "(":
        begin -= 1
    end = words[start + used - 1].end
    digits = "+" * plus + digits
    return Value(Kind.PHONE, digits, begin, end, phone_written(digits)), start + used - at


def _is_phone(digits: str, parts: Sequence[str], plus: bool) -> bool:
    length = len(digits)
    if plus:
        return 9 <= length <= 15
    if length == 11:
        return digits[0] in "01"
    # 7 digits in few pieces ("2026, 500, ...") are a list of numbers, unless grouped as a phone's.
    if [len(part) for part in parts] in ([3, 4], [3, 3, 4], [10], [1, 3, 3, 4]):
        return length != 10 or len(parts) > 1 or digits[0] != "0"
    return length in (7, 10) and len(parts) >= 4


def _shorter(words: Sequence[Word], at: int, used: int) -> tuple[list[str], int]:
    """The pieces up to the pause before the last one."""
    for end in range(at + used - 1, at, -1):
        if not words[end].glue.isspace():
            parts, taken = pieces(words[:end], at, loose=True)
            return parts, taken
    return [], 0


def phone_written(digits: str) -> str:
    """``5550142`` -> 555-0142; ``3125550142`` -> 312-555-0142; of other lengths as they are."""
    plus, bare = digits.startswith("+"), digits.removeprefix("+")
    if len(bare) == 7:
        return f"{bare[:3]}-{bare[3:]}"
    if len(bare) < 10 or (len(bare) > 10 and not plus and bare[0] != "1"):
        return digits
    country, rest = bare[:-10], bare[-10:]
    lead = f"+{country} " if plus else f"{country}-" if country else ""
    return f"{lead}{rest[:3]}-{rest[3:6]}-{rest[6:]}"
