"""What a statement gives as its value: money, a clock time, a span, a number to call, a place.

It is what the question asks for, so it does not stand in the question.
"""

from __future__ import annotations

import re

_MONEY_UNIT = r"(?:dollars?|euros?|pounds?|rupees?|cents?|gbp|usd|eur)"
MONEY = re.compile(rf"[$€£₹]\s?\d|\d+(?:\.\d\d)? ?{_MONEY_UNIT}\b|\bfee\b")
CLOCK = re.compile(
    r"\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bo'clock\b"
)
SPAN = re.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|ten|twelve|twenty four|a few) (?:\w+ )?"
    r"(?:minute|hour|day|week|month|year)s?\b"
)
PHONE = re.compile(r"\b\d{3}[- ]\d{4}\b|\(\d{3}\)")
PLACE = re.compile(
    r"(?:located |found )?"
    r"(?:in|at|on|near|behind|beside|next to|across|opposite|by|inside|outside)\b"
)

_UNIT = (
    rf"(?:{_MONEY_UNIT}|percent|%|(?:business )?(?:minutes?|hours?|days?|weeks?|months?|years?))"
)
_LEADS = (
    "from|until|till|between|at|by|before|after|for|within|of|around|about|up to|to|every|is|are"
    "|and|an?"
)
# "under 18", "room 112" and "bus 14" say which one is meant, and stay.
_VALUE = re.compile(
    rf"(?:\b(?:{_LEADS})\s+)*(?<!aged )(?<!ages )(?<!age )(?<!under )(?<!over )(?<!room )(?<!lot )"
    rf"(?<!bus )(?:[$€£₹]\s?[\d,.]+|\b\d[\d,.:-]*(?: ?(?:[ap]\.?m\b\.?|{_UNIT}\b'?))?"
    r"|\bnoon\b|\bmidnight\b)(?: (?:an|per|a) (?:hour|day|night|week|month|person|dose)\b)?"
)
_BREAK = re.compile(
    r"\s*(?:[,;:(–—]| but | because | so that | which | if | as long as | unless | since ).*$"
)
_LOOSE = "within|by|from|to|at|in|for|of|up|about|until|on|with|over|under|per|after|before"
_DANGLING = re.compile(
    rf"(?:(?<!check) (?:{_LOOSE}|and|or|the|an?|is|are|only))+$|^(?:{_LOOSE}) *$"
)


def is_value(text: str) -> bool:
    """Whether ``text`` is a value and nothing else: "3:00 pm", "$20", "10 days"."""
    return any(map(str.isdigit, text)) and not without_values(text)


def short(text: str) -> str:
    """A predicate without its values and side clauses."""
    return without_values(_BREAK.sub("", text))


def without_values(text: str) -> str:
    """``text`` without its values, and without the words that led to them."""
    kept = " ".join(_VALUE.sub(" ", text).replace(",", " ").strip(" .-;").split())
    return _DANGLING.sub("", kept)
