"""The figures of a text: numbers with what they count, clock times, months and number words.

Stricter than a comparison of digits: "8 a.m." is not "8 p.m.", and 30 minutes are not 30 dollars.
English units and number words; digits of every script.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag import numbers

Figure = tuple[str, str]
"""A value ("7:30", "noon", "january") and its unit ("am", "minute", "$", "" for none)."""

_UNITS = {
    word: unit
    for unit, words in {
        "am": "am",
        "pm": "pm",
        "$": "$ usd dollar dollars buck bucks",
        "€": "€ eur euro euros",
        "£": "£ gbp pound pounds",
        "₹": "₹ inr rupee rupees rs",
        "cent": "cent cents",
        "%": "% percent",
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "night": "night nights",
        "week": "week weeks",
        "month": "month months",
        "year": "year years yr yrs",
        "time": "time times",
        "person": "person persons people guest guests",
        "mile": "mile miles",
        "km": "km kilometer kilometers kilometre kilometres",
        "meter": "meter meters metre metres",
        "foot": "foot feet ft",
        "inch": "inch inches",
    }.items()
    for word in words.split()
}
_HALVES = frozenset({"am", "pm"})
_MONTHS = (
    r"january|february|april|june|july|august|september|october|november|december"
    r"|(?:march|may)(?= \d)|(?<=\d )(?:march|may)"
)
# What rag.numbers leaves as it is said.
_NAMED = r"noon|midnight|dozen|half|quarter|thousand|million|double|triple|twice|thrice"
_FIGURE = re.compile(
    r"(?P<phone>(?:\(?\b\d{3}\)?[ .-]{1,2})?\b\d{3}[ .-]\d{4}\b)"
    r"|(?P<before>[$€£₹]) ?(?P<money>\d+(?:[.:]\d+)*)"
    r"|(?P<value>\d+(?:[.:]\d+)*)(?:st|nd|rd|th)?"
    rf"(?:[ -]?(?P<unit>(?!(?:{_MONTHS}|{_NAMED})\b)[^\W\d_]+|[$€£₹%]))?"
    rf"|\b(?P<named>{_MONTHS}|{_NAMED})\b"
)
# "10 to 20 minutes" are 10 minutes and 20 minutes; "8 to 6 p.m." is not 8 p.m.
_LINK = re.compile(r" ?(?:to|or|-|–|—) ?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_HALF = re.compile(r"\b([ap])\. ?m\b\.?|(?<=\d)([ap])\b")
_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+)*")
# "you can book one": no number, unless something is counted.
_PRONOUN_ONE = re.compile(
    rf"\bone\b(?! (?:hundred|{'|'.join(u for u in _UNITS if u.isalpha())})\b)"
)


def figures(text: str, *, is_claim: bool = False) -> frozenset[Figure]:
    """Every figure of ``text``; in a claim a bare "one" is a pronoun."""
    return frozenset(in_order(text, is_claim=is_claim))


@lru_cache(maxsize=4096)
def in_order(text: str, *, is_claim: bool = False) -> tuple[Figure, ...]:
    """The same as they stand, each as often as it is said."""
    text = _plain(text, is_claim)
    found = list(_FIGURE.finditer(text))
    units = [_unit(one) for one in found]
    for n in range(len(found) - 2, -1, -1):
        between = text[found[n].end() : found[n + 1].start()]
        linked = _LINK.fullmatch(between) or found[n]["unit"] in ("to", "or")
        if not units[n] and linked and units[n + 1] not in _HALVES:
            units[n] = units[n + 1]
    return tuple((_value(one), unit) for one, unit in zip(found, units, strict=True))


@lru_cache(maxsize=4096)
def counted(text: str) -> frozenset[str]:
    """What figures of ``text`` count, where it is no unit known here ("pesos", "doses")."""
    found = _FIGURE.finditer(_plain(text, is_claim=True))
    words = {one["unit"] for one in found if one["unit"] and not one["before"]}
    return frozenset(word for word in words if word not in _UNITS and len(word) > 3)


def written(figure: Figure) -> str:
    """A figure for a person to read."""
    return " ".join(part for part in figure if part)


def _plain(text: str, is_claim: bool) -> str:
    text = unicodedata.normalize("NFKC", text).lower().replace("⁄", " / ")
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = _HALF.sub(lambda m: f"{m[1] or m[2]}m", _THOUSANDS.sub("", text))
    text = " ".join(text.split())
    if is_claim:
        text = _PRONOUN_ONE.sub("it", text)
    return _WORDS.sub(lambda m: " ".join(numbers.digits(re.split("[ -]", m.group()))), text)


def _unit(found: re.Match[str]) -> str:
    return _UNITS.get(found["before"] or found["unit"] or "", "")


def _value(found: re.Match[str]) -> str:
    if found["phone"]:
        return re.sub(r"\D", "", found["phone"])
    value = found["money"] or found["value"] or found["named"]
    whole, _, rest = value.replace(":", ".").partition(".")
    if whole.isdigit() and not rest.strip("0"):  # 8:00 is 8, and $5.00 is $5
        value = whole
    return value.lstrip("0") or "0" if len(value) < 3 else value
