"""Rooms, houses, streets and post codes, as English words."""

from __future__ import annotations

import re

from speech import numbers as n
from speech.abbreviations import COMPASS, STATES
from speech.reading.rules import Rule, rule

_STREET = (
    r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Dr|Drive|Ln|Lane|Way|Court|Ct|Place|Pl|"
    r"Pkwy|Hwy|Highway|Expy|Square|Sq|Terrace|Ter|Circle|Cir)\b"
)
_NAME = r"(?:[A-Z][a-z]+|\d+(?:st|nd|rd|th))"
_STATE = "|".join(STATES)
# Codes that are also words: only a post code after them tells.
_WORDS = frozenset({"OK", "OR", "IN", "ME", "HI", "OH", "PA", "MA", "LA", "AL", "ID", "DE", "CO"})
_SURE = "|".join(sorted(set(STATES) - _WORDS))


def letter(name: str) -> str:
    """A letter by its name, for a voice that would read A as the article."""
    return "eigh" if name.upper() == "A" else name.upper()


def _place(match: re.Match[str]) -> str:
    after = f" {letter(match['letter'])}" if match["letter"] else ""
    before = f"{letter(match['first'])} " if match["first"] else ""
    return f"{match['place']} {before}{n.pairs(match['number'])}{after}"


def _post_code(match: re.Match[str]) -> str:
    return f"{STATES[match[1]]} {n.digits(match[2])}"


_LONG = {
    "Ct": "Court", "Hwy": "Highway", "Pkwy": "Parkway", "Expy": "Expressway", "Sq": "Square",
    "Ter": "Terrace", "Cir": "Circle",
}  # fmt: skip
RULES: tuple[Rule, ...] = (
    rule(
        r"\b(?P<place>room|suite|ste\.?|apt\.?|apartment|unit|form|building|bldg\.?|gate|flight|"
        r"box|bay|exam room|exit|platform|locker) #?(?:(?P<first>[A-Z])-)?(?P<number>\d{1,5})"
        r"(?P<letter>[A-Z])?\b",
        _place,
        re.IGNORECASE,
    ),
    rule(
        rf"\b(?P<number>\d{{1,5}}) (?P<side>[NSEW]|[NS][EW])\.? "
        rf"(?={_NAME}(?: {_NAME})? (?i:{_STREET}))",
        lambda m: f"{n.pairs(m['number'])} {COMPASS[m['side']]} ",
    ),
    rule(
        rf"\b(?P<number>\d{{3,5}})(?= {_NAME}(?: {_NAME})? {_STREET})",
        lambda m: n.pairs(m["number"]),
    ),
    rule(
        r"(?<=[A-Za-z] )(?P<short>Ct|Hwy|Pkwy|Expy|Sq|Ter|Cir)\b\.?(?=[,.;]|$)",
        lambda m: _LONG[m["short"]],
        needs="[CHPEST][a-z]",
    ),
    rule(r"\bHwy\b\.?(?= \d)", "Highway"),
    rule(r"\bFl\.(?=\s*$|[ ,])", "floor", needs="Fl"),
    rule(rf"\b({_STATE}),? (\d{{5}})(?:-\d{{4}})?\b", _post_code),
    rule(rf"(?<=[a-z], )({_SURE})\b(?=[,.;]|$)", lambda m: STATES[m[1]], needs=", [A-Z]"),
    rule(r"\b(\d{3})\(([a-z])\)", lambda m: f"{n.pairs(m[1])} {letter(m[2])}"),
)
