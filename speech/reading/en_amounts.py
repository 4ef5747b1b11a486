"""Money, measures and other amounts, as English words."""

from __future__ import annotations

import re

from speech import numbers as n
from speech.abbreviations import UNITS
from speech.reading.en_dates import DASH
from speech.reading.rules import Rule, rule

_I = re.IGNORECASE
NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₩": ("won", "won", "jeon", "jeon"),
}
_CODES = {"USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "RS": "₹", "RS.": "₹", "JPY": "¥"}
_SIGN = "[" + "".join(_CURRENCIES) + "]"
_SCALES = {"k": "thousand", "m": "million", "b": "billion"}
_FRACTIONS = {
    "1/2": "one half", "1/3": "one third", "2/3": "two thirds",
    "1/4": "one quarter", "3/4": "three quarters", "1/8": "one eighth",
    "3/8": "three eighths", "5/8": "five eighths", "7/8": "seven eighths",
}  # fmt: skip
_FRACTION = "|".join(_FRACTIONS)
_PER = {
    "hr": "hour", "hrs": "hour", "mo": "month", "yr": "year", "wk": "week", "d": "day",
    "min": "minute", "ea": "each",
}  # fmt: skip
_EACH = "month|visit|year|day|hour|week|person|child|adult|dose|night|mile|session|class|minute"
_NUMBERED = "chapter|part|section|type|phase|stage|level|class|grade|volume|war"
_ROMAN = {
    "II": "2", "III": "3", "IV": "4", "VI": "6", "VII": "7", "VIII": "8", "IX": "9", "XI": "11",
    "XII": "12", "XL": "40",
}  # fmt: skip


def _money(match: re.Match[str]) -> str:
    unit, units, cent, cents = _CURRENCIES[match["sign"]]
    amount, last, scale = match["amount"], match["last"], match["scale"]
    if match["hyphen"]:
        return f"{n.cardinal(amount)}-{unit}-"
    if last:
        end = n.money(last, unit, units, cent, cents)
        start = n.money(amount, unit, units, cent, cents) if "." in amount else n.cardinal(amount)
        return f"{start} to {end}"
    if scale:
        scale = scale.strip().lower()
        return f"{n.cardinal(amount)} {_SCALES.get(scale, scale)} {units}"
    if len(amount.partition(".")[2].rstrip("0")) > 2:
        return f"{n.cardinal(amount)} {units}"
    return n.money(amount, unit, units, cent, cents)


def _unit(match: re.Match[str]) -> str:
    singular, plural = UNITS.get(match["unit"]) or UNITS[match["unit"].lower()]
    last = match["last"]
    words = n.cardinal(match["amount"])
    if last:
        return f"{words} to {n.cardinal(last)} {plural}"
    return f"{words} {singular if match['amount'] == '1' or match['hyphen'] else plural}"


def _percent(match: re.Match[str]) -> str:
    first = f"{n.cardinal(match['first'])} to " if match["first"] else ""
    return f"{first}{n.cardinal(match['last'])} percent"


def _plain_number(match: re.Match[str]) -> str:
    number = match[0]
    if "," not in number and "." not in number:
        if len(number) == 4 and 1900 <= int(number) <= 2099:
            return n.year(number)
        if len(number) > 6 or (len(number) > 1 and number[0] == "0"):
            return n.digits(number)
    return n.cardinal(number)


def _apart(match: re.Match[str]) -> str:
    """A number with a space on the side where a letter touches it."""
    text, end = match.string, match.end()
    before = " " * (match.start() > 0 and text[match.start() - 1].isalpha())
    after = " " * (end < len(text) and text[end].isalpha())
    return before + _plain_number(match) + after


def _decade(match: re.Match[str]) -> str:
    words = n.pairs(match[1]) if match[1][-3:] != "000" else n.cardinal(match[1])
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def _roman(match: re.Match[str]) -> str:
    return f"{match[1]} {n.cardinal(_ROMAN[match[2]])}"


def _ordinals(match: re.Match[str]) -> str:
    words = n.ordinal(match[1].replace(",", ""))
    return f"{words} to {n.ordinal(match[2])}" if match[2] else words


def _feet(match: re.Match[str]) -> str:
    feet = "foot" if match[1] == "1" else "feet"
    inches = match.groupdict().get("inches")
    return f"{n.cardinal(match[1])} {feet}" + (f" {n.cardinal(inches)}" if inches else "")


RULES: tuple[Rule, ...] = (
    # money
    rule(r"\bUS ?(?=\$)", "", needs=r"\$"),
    rule(
        r"\b(USD|EUR|GBP|INR|JPY|Rs\.?) ?(?=\d)",
        lambda m: _CODES[m[1].upper()],
    ),
    rule(
        rf"({NUMBER}) ?(USD|EUR|GBP|INR)\b",
        lambda m: f"{_CODES[m[2].upper()]}{m[1]}",
        _I,
        needs=r"\d ?[UEGIuegi]",
    ),
    rule(rf"(?<={_SIGN})(\d[\d,.]*\d)(?=[a-z]{{3}})", r"\1 ", needs=_SIGN),
    rule(
        rf"(?P<sign>{_SIGN}) ?(?P<amount>{NUMBER})(?:(?P<hyphen>-)(?=[a-z])|"
        rf"{DASH}(?:(?P=sign))?(?P<last>{NUMBER})|"
        r"(?P<scale> (?:million|billion|trillion|thousand|lakh|crore)\b|[kmb]\b))?",
        _money,
        _I,
        needs=_SIGN,
    ),
    rule(r"\b(\d+) ?¢", lambda m: f"{n.cardinal(m[1])} {'cent' if m[1] == '1' else 'cents'}"),
    rule(rf" ?/ ?(?=(?:{_EACH})\b)", " per ", needs="/"),
    rule(
        rf"(?<=[a-z]) ?/ ?({'|'.join(_PER)})\b(?!\.\w)",
        lambda m: f" {'per ' * (m[1] != 'ea')}{_PER[m[1]]}",
        needs="/",
    ),
    # quantities
    rule(r"(?<![\w.])(?<!\d )-(?=\d)", "minus "),
    rule(r"±\s?(?=\d)", "plus or minus "),
    rule(r"<\s?(?=\d)", "less than "),
    rule(r">\s?(?=\d)(?!\s?\d+-)", "more than "),
    rule(r"~\s?(?=\d)", "about "),
    rule(r"\b(\d)' ?(?P<inches>\d{1,2})(?:\"|'')", _feet),
    rule(r"\b(\d+)'(?= ?(?:x|by)\b| ?[x×])", _feet),
    rule(r"(?<=\d) ?[x×] ?(?=\d)", " by "),
    rule(r"(?<=[a-z]) [x×] (?=\d)", " by "),
    rule(r"(?<=\d)\*(?=\d)", " times "),
    rule(rf"(?:(?P<first>{NUMBER})(?:%)?(?:{DASH}| to (?=\d+%)))?(?P<last>{NUMBER}) ?%", _percent),
    rule(
        rf"\b(?P<amount>{NUMBER})(?:(?:{DASH}| to )(?P<last>{NUMBER}))?(?:(?P<hyphen>-)| ?)"
        rf"(?P<unit>{_UNIT}|KG|MG|ML|KM|CM|LBS?|OZ|FT|HRS?|MINS?)(?![\w])",
        _unit,
    ),
    rule(
        r"\b(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)(?:[-–](\d+)(?:st|nd|rd|th))?\b",
        _ordinals,
        _I,
    ),
    rule(r"\b(\d{2,4}0)s\b", _decade),
    rule(
        rf"(?<![\w.,])({NUMBER})\+(?= (?:years|days|items|locations|people|hours|minutes))",
        lambda m: f"more than {n.cardinal(m[1])}",
    ),
    rule(rf"(?<![\w.,])({NUMBER})\+", lambda m: f"{n.cardinal(m[1])} and over"),
    rule(r"(?:#|\b(?:No|no|Nos)\. ?)(?=\d)", "number "),
    rule(
        rf"(?<![\w.,])({NUMBER})/(\d+)(?= stars?\b)",
        lambda m: f"{n.cardinal(m[1])} out of {n.cardinal(m[2])}",
    ),
    rule(
        r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])",
        lambda m: f"{n.cardinal(m[1])} over {n.cardinal(m[2])}",
    ),
    rule(r"(?<![\d.])\d+(?:\.\d+){2,}\b", lambda m: _points(m[0])),
    rule(
        rf"(?<![\w-])({NUMBER}){DASH}({NUMBER})(?![\w-]*\d)",
        lambda m: f"{n.cardinal(m[1])} to {n.cardinal(m[2])}",
    ),
    rule(
        rf"\b((?i:{_NUMBERED})) ({'|'.join(_ROMAN)})\b",
        _roman,
        needs=r"[IVX]{2}|XL",
    ),
)
FIRST: tuple[Rule, ...] = (  # before dates, which would take 1/2 for January
    rule(
        rf"\b(\d+) ({_FRACTION})(?![\d/])",
        lambda m: f"{n.cardinal(m[1])} and {_FRACTIONS[m[2]]}",
    ),
    rule(rf"(?<![\d/.$-])({_FRACTION})(?![\d/])", lambda m: _FRACTIONS[m[1]]),
    rule(r"(?<=€)(\d+),(\d\d)(?!\d)", r"\1.\2"),
)
LAST: tuple[Rule, ...] = (rule(NUMBER, _apart),)


def _points(text: str) -> str:
    """``192.168.1.1`` and ``2.0.1``: point by point."""
    return " " + " dot ".join(n.digits(part) for part in text.split("."))
