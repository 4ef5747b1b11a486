"""Harmless values of the same shape in the place of personal ones, for what leaves the house.

The same value always has the same stand-in, so a call still makes sense. Numbers: 555-01xx is kept
for fiction (NANPA), cards are those that the card networks give out for tests, and example.com is
nobody's (RFC 2606).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import chain, repeat

from agent.privacy.kinds import Found, Kind
from agent.privacy.redacting import find, replaced
from agent.privacy.words import runs_of, words_of

_CARDS = ("4111111111111111", "5555555555554444", "4012888888881881", "6011111111111117")
_SHORT_CARDS = {13: "4222222222222", 14: "30569309025904", 15: "378282246310005"}
_FIRST = "Jane John Mary Robert Linda Peter Susan David Emily Thomas".split()
_LAST = "Doe Smith Miller Taylor Wilson Brown Clark Lewis Walker Moore".split()
_DAYS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_MONTHS = "January February March April June July August September October".split()
_ONES = "zero one two three four five six seven eight nine".split()
_PLACEHOLDER = re.compile(r"\[(" + "|".join(kind.value for kind in Kind) + r")\]")
_SAMPLES = {
    Kind.CARD: "4111 1111 1111 1111", Kind.PHONE: "202-555-0142",
    Kind.EMAIL: "jane.doe@example.com", Kind.BIRTH: "January 1, 1980", Kind.ACCOUNT: "00142",
    Kind.NAME: "Jane",
}  # fmt: skip
_TRIES = 100


def stand_ins(text: str, keep: frozenset[str] = frozenset()) -> str:
    """``text`` with stand-ins for placeholders and for what is personal, but not for ``keep``."""
    whole = replaced(text, find(text, keep), lambda one: _stand_in(text, one, keep))
    return _PLACEHOLDER.sub(lambda match: _SAMPLES[Kind(match[1])], whole)


def _stand_in(text: str, one: Found, keep: frozenset[str]) -> str:
    said = text[one.start : one.end]
    match one.kind:
        case Kind.NAME:
            return _name(said)
        case Kind.EMAIL:
            return _email(said)
        case Kind.BIRTH:
            return _birth(said)
        case _:
            return _number(said, one.kind, keep)


def _drawn(value: str, most: int, tried: int = 0) -> int:
    """A number below ``most`` that depends on ``value`` alone, and on how often one was drawn."""
    plain = re.sub(r"['’]s$|[\W_]", "", value.lower())
    return int.from_bytes(hashlib.sha256(f"{plain}{tried}".encode()).digest()[:4], "big") % most


def _name(said: str) -> str:
    if re.fullmatch(r"(?:[^\W\d_][\s.,-]+)+[^\W\d_]", said):  # spelled
        return " ".join(_cased("DOE", said))
    words = said.split()
    title = [words.pop(0)] if re.match(r"(?:mr|mrs|ms|miss|mister|missus)\b", said, re.I) else []
    drawn = [_FIRST[_drawn(words[0], len(_FIRST))]] if words else []
    drawn += [_LAST[_drawn(words[-1], len(_LAST))]] if len(words) > 1 else []
    ending = re.search(r"['’]s$", said)
    return _cased(" ".join(title + drawn), said) + (ending[0] if ending else "")


def _cased(value: str, like: str) -> str:
    return value.lower() if like == like.lower() else value


def _email(said: str) -> str:
    first, last = _FIRST[_drawn(said, len(_FIRST))].lower(), _LAST[_drawn(said, 10, 1)].lower()
    if "@" in said:
        return f"{first}.{last}@example.com"
    return f"{first} dot {last} at example dot com"


def _birth(said: str) -> str:
    day, month = _drawn(said, len(_DAYS)), _drawn(said, len(_MONTHS), 1)
    if re.fullmatch(r"[\d/.\s-]+", said):
        return f"1980-{month + 1:02}-{day + 1:02}" if said[:4].isdecimal() else "01/02/1980"
    if re.search(r"\d", said):
        return f"{_MONTHS[month]} {day + 1}, 1980"
    return _cased(f"the {_DAYS[day]} of {_MONTHS[month]} nineteen eighty", said)


def _number(said: str, kind: Kind, keep: frozenset[str]) -> str:
    """Digits for digits and words for words, as many as there were; letters for letters."""
    parts = [part for run in runs_of(words_of(said)) for part in run]
    digits = "".join(part.said for part in parts)
    for tried in range(_TRIES):
        drawn = _digits(digits, kind, tried)
        if drawn != digits and drawn not in keep and drawn[-7:] not in keep:
            break
    given = iter(drawn)
    if any(part.is_word for part in parts):
        letters = "a b " if re.match(r"[^\W\d_]\b\s", said) else ""
        return letters + " ".join(_ONES[int(digit)] for digit in given)
    return "".join(_letter(char, given) for char in said)


def _letter(char: str, digits: Iterator[str]) -> str:
    if char.isdigit():
        return next(digits, "0")
    if char.isalpha():
        return "X" if char.isupper() else "x"
    return char


def _digits(value: str, kind: Kind, tried: int) -> str:
    count = len(value)
    if kind is Kind.CARD and count >= 13:
        return _SHORT_CARDS.get(count) or (_CARDS[_drawn(value, 4, tried)] * 2)[:count]
    line = f"55501{_drawn(value, 100, tried):02}"
    if kind is Kind.PHONE and count >= 10:
        lead = {10: "202", 11: "1202"}.get(count, "0" * (count - 10) + "202")
        return lead + line
    if kind is Kind.PHONE and count == 7:
        return line
    drawn = chain(f"{_drawn(value, 100, tried):02}", repeat("0"))
    return "".join(next(drawn) for _ in range(count))[::-1]
