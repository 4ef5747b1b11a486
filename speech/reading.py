"""How written text is read aloud: times, dates, money, phone numbers and the rest as words.

Ordered rules, each of which turns one written form into words, so that no later rule sees its
digits again. The order is the disambiguation: a phone number is looked for before a range, a
date before a fraction, a room before a plain number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from frontdesk import Spoken
from speech import numbers as n
from speech.abbreviations import (
    ABBREVIATIONS,
    LETTER_WORDS,
    MONTHS,
    TOP_LEVEL_DOMAINS,
    UNITS,
    WEEKDAYS,
)

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_MONTH = "|".join(sorted((m.capitalize() for m in MONTHS), key=len, reverse=True))
_WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_DASH = r"\s?[-–—]\s?"
_HALF = r"[ap]\.?\s?m\b\.?"
_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}
_FRACTIONS = {
    "1/2": "one half", "1/3": "one third", "2/3": "two thirds",
    "1/4": "one quarter", "3/4": "three quarters",
}  # fmt: skip
# What compatibility forms would leave or spoil: other hyphens than - in a phone number, signs.
_PLAIN = str.maketrans({"‐": "-", "‑": "-", "−": "-", "№": " number ", **dict.fromkeys("™®©℠")})
# 2½ -> 2 and ½, before its compatibility form (1⁄2) is put there.
_WHOLE_AND_PART = re.compile(r"(?<=\d)\s?(?=[¼½¾⅓⅔])")


@lru_cache(maxsize=2048)
def read_aloud(spoken: Spoken) -> str:
    """The words of ``spoken`` in the form given to a synthesiser: no digits, no symbols.

    Raises:
        TypeError: if it is not a ``Spoken``.
    """
    if not isinstance(spoken, Spoken):
        raise TypeError(f"only Spoken may be read aloud, not {type(spoken).__name__}")
    text = _WHOLE_AND_PART.sub(" and ", spoken.text.translate(_PLAIN))
    text = unicodedata.normalize("NFKC", text)
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    for pattern, words in _RULES:
        text = pattern.sub(words, text)
    if not any(c.isalpha() for c in text):
        return ""
    text = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(text.split()))
    text = re.sub(r"([,;:])[,;:]+", r"\1", text)
    return re.sub(r"[,;:]+([.!?])", r"\1", text).strip(" ,;")


def spell(letters: str) -> str:
    """``MRI`` -> M-R-I: the hyphens keep a lone A from being read as the article."""
    return "-".join(letters)


def _email(match: re.Match[str]) -> str:
    local, host = match["local"], match["host"]
    return f"{_dotted(local)} at {_dotted(host)}"


def _web(match: re.Match[str]) -> str:
    path = match["path"] or ""
    return _dotted(match["host"]) + "".join(f" slash {_dotted(p)}" for p in path.split("/") if p)


def _dotted(text: str) -> str:
    """``front-desk.example.com`` -> front dash desk dot example dot com."""
    marks = {".": " dot ", "-": " dash ", "_": " underscore ", "+": " plus "}
    parts = re.split(r"([.\-_+])", text)
    words = [marks.get(p) or TOP_LEVEL_DOMAINS.get(p.lower(), p) for p in parts]
    return " ".join(re.sub(r"\d", lambda d: f" {n.digits(d[0])} ", "".join(words)).split())


def _phone(match: re.Match[str]) -> str:
    groups = [group for group in match.group("country", "area", "area2", "office", "line") if group]
    words = n.phone(groups)
    if match["ext"]:
        words += f", extension {n.digits(match['ext'])}"
    return words


def _phone_words(match: re.Match[str]) -> str:
    return n.digits(match[0])


def _date(month: str, day: str, year: str | None = None) -> str:
    words = f"{month} {n.ordinal(day)}"
    if year:
        words += f", {n.year('20' + year if len(year) == 2 else year)}"
    return words


def _named_date(match: re.Match[str]) -> str:
    words = _date(MONTHS[match["month"].rstrip(".").lower()], match["day"])
    if match["last"]:
        words += f" to {n.ordinal(match['last'])}"
    if match["second"]:
        words += f" {match['link']} {n.ordinal(match['second'])}"
    return words + (f", {n.year(match['year'])}" if match["year"] else "")


def _numbered_date(match: re.Match[str]) -> str:
    month, day, year = match["month"], match["day"], match["year"]
    if not year and match[0] in _FRACTIONS:
        return _FRACTIONS[match[0]]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        link = " " if match[0] in ("24/7", "20/20") else " over "
        return f"{n.cardinal(month)}{link}{n.cardinal(day)}"
    return _date(_month_name(int(month)), day, year)


def _iso_date(match: re.Match[str]) -> str:
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return n.digits(match[0])
    return _date(_month_name(month), match["day"], match["year"])


def _month_name(number: int) -> str:
    return list(dict.fromkeys(MONTHS.values()))[number - 1]


def _half(text: str | None) -> str:
    """``a.m.`` -> ' AM', which eSpeak NG says as letters; its 'a m' is the article and an M."""
    return f" {text[0].upper()}M" if text else ""


def _full_stop(match: re.Match[str]) -> str:
    """The stop of a final ``a.m.`` also ends the sentence when a new one begins after it."""
    rest = match.string[match.end() :]
    return "." if match[0].endswith(".") and re.match(r"$|\s+[A-Z\"']", rest) else ""


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], match["half"]
    words = n.clock(hour, minute)
    if not half and minute == "00" and int(hour) <= 12:
        words += " o'clock"
    return words + _half(half) + _full_stop(match)


def _time_range(match: re.Match[str]) -> str:
    start = n.clock(match["h1"], match["m1"]) + _half(match["half1"])
    end = n.clock(match["h2"], match["m2"]) + _half(match["half2"])
    return f"{start} to {end}{_full_stop(match)}"


def _money(match: re.Match[str]) -> str:
    unit, units, cent, cents = _CURRENCIES[match["sign"]]
    amount, last, scale = match["amount"], match["last"], match["scale"]
    if match["hyphen"]:
        return f"{n.cardinal(amount)}-{unit}-"
    if last:
        return f"{n.cardinal(amount)} to {n.money(last, unit, units, cent, cents)}"
    if scale:
        return f"{n.cardinal(amount)} {scale.strip().lower()} {units}"
    return n.money(amount, unit, units, cent, cents)


def _unit(match: re.Match[str]) -> str:
    singular, plural = UNITS[match["unit"]]
    last = match["last"]
    words = n.cardinal(match["amount"])
    if last:
        return f"{words} to {n.cardinal(last)} {plural}"
    return f"{words} {singular if match['amount'] == '1' else plural}"


def _percent(match: re.Match[str]) -> str:
    first = f"{n.cardinal(match['first'])} to " if match["first"] else ""
    return f"{first}{n.cardinal(match['last'])} percent"


def _weekdays(match: re.Match[str]) -> str:
    start, end = (WEEKDAYS[match[k].lower()] for k in ("start", "end"))
    return f"{start} to {end}"


def _months(match: re.Match[str]) -> str:
    start, end = (MONTHS[match[k].rstrip(".").lower()] for k in ("start", "end"))
    return f"{start} to {end}"


def _place(match: re.Match[str]) -> str:
    letter = f" {_letter(match['letter'])}" if match["letter"] else ""
    return f"{match['place']} {n.pairs(match['number'])}{letter}"


def _letter(letter: str) -> str:
    return "eigh" if letter.upper() == "A" else letter.upper()


def _plain_number(match: re.Match[str]) -> str:
    number = match[0]
    if "," not in number and "." not in number:
        if len(number) == 4 and 1900 <= int(number) <= 2099:
            return n.year(number)
        if len(number) > 6 or (len(number) > 1 and number[0] == "0"):
            return n.digits(number)
    return n.cardinal(number)


def _decade(match: re.Match[str]) -> str:
    words = n.pairs(match[1])
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def _capitals(match: re.Match[str]) -> str:
    word = match[0]
    if word in ("AM", "PM"):
        return word
    if word in LETTER_WORDS or not re.search("[AEIOUY]", word):
        return spell(word)
    return word


def _rule(pattern: str, words: str | Callable[[re.Match[str]], str], flags: int = 0) -> _Rule:
    if isinstance(words, str):
        template = words
        return re.compile(pattern, flags), lambda match: match.expand(template)
    return re.compile(pattern, flags), words


_I = re.IGNORECASE
_RULES: tuple[_Rule, ...] = (
    _rule(r"[‘’]", "'"),
    _rule(r"[“”\"*_`#](?!\d)", ""),
    _rule(r"\.{3,}", "."),
    _rule(r"^[-•] ", "", re.MULTILINE),
    _rule("⁄", "/"),
    # numbers nobody says, and a point without a number before it
    _rule(r"\d{16,}|\d{1,3}(?:,\d{3}){5,}", lambda m: n.digits(m[0])),
    _rule(r"(?<![\w.,])\.(?=\d)", "0."),
    # addresses of the net
    _rule(r"(?P<local>[\w.+-]+)@(?P<host>[\w-]+(?:\.[\w-]+)+)", _email),
    _rule(
        r"\b(?:https?://)?(?:www\.)?(?P<host>(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|health|"
        r"example|co\.uk|in|us))(?:(?P<path>/[\w/.-]*\w)|/)?(?![\w@])",
        _web,
        _I,
    ),
    # phone numbers
    _rule(
        r"(?<![\w-])(?:\+?(?P<country>1)[-. ])?(?:\((?P<area>\d{3})\) ?|(?P<area2>\d{3})[-. ])?"
        r"(?P<office>\d{3})[-.](?P<line>\d{4})\b(?:,? ?(?:ext\.?|x|extension) ?(?P<ext>\d+))?",
        _phone,
        _I,
    ),
    _rule(r"(?<![\w$.,-])(?:911|988)(?![\w,-]|\.\d)", _phone_words),
    _rule(
        r"\b(extension|ext\.?|PIN|code|option) (\d+)\b",
        lambda m: f"{'extension' if m[1].lower().startswith('ext') else m[1]} {n.digits(m[2])}",
        _I,
    ),
    # dates
    _rule(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b", _iso_date),
    _rule(
        rf"\b(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b"
        rf"(?:{_DASH}(?P<last>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:))?"
        r"(?: (?P<link>and|or|through|to) (?P<second>\d{1,2})(?:st|nd|rd|th)?(?=[.,;!?)]|$))?"
        r"(?:,? (?P<year>\d{4})\b)?",
        _named_date,
    ),
    _rule(
        rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b",
        lambda m: f"the {n.ordinal(m['day'])} of {MONTHS[m['month'].lower()]}",
    ),
    _rule(
        rf"\b(?P<month>{_MONTH})\.? (?P<year>(?:19|20)\d\d)\b",
        lambda m: f"{MONTHS[m['month'].rstrip('.').lower()]} {n.year(m['year'])}",
    ),
    _rule(
        r"(?<![\d/])(?P<month>\d{1,3})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}|\d\d))?(?![\d/])",
        _numbered_date,
    ),
    _rule(rf"\b(?P<start>{_MONTH})\.?{_DASH}(?P<end>{_MONTH})\b\.?", _months),
    _rule(rf"\b(?P<start>{_WEEKDAY})\.?{_DASH}(?P<end>{_WEEKDAY})\b\.?", _weekdays, _I),
    _rule(
        r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.(?=\s*[\d,;:&])",
        lambda m: WEEKDAYS[m[1].lower()],
    ),
    # times
    _rule(
        rf"\b(?P<h1>\d{{1,2}})(?::(?P<m1>\d\d))? ?(?P<half1>{_HALF})?{_DASH}"
        rf"(?P<h2>\d{{1,2}})(?::(?P<m2>\d\d))? ?(?P<half2>{_HALF})",
        _time_range,
        _I,
    ),
    _rule(
        rf"\b(?P<h1>\d{{1,2}}):(?P<m1>\d\d) ?(?P<half1>{_HALF})?{_DASH}"
        r"(?P<h2>\d{1,2}):(?P<m2>\d\d)\b(?P<half2>)",
        _time_range,
        _I,
    ),
    _rule(rf"\b(?P<hour>\d{{1,2}})(?::(?P<minute>\d\d)) ?(?P<half>{_HALF})?(?![\d:])", _time, _I),
    _rule(rf"\b(?P<hour>\d{{1,2}})(?P<minute>) ?(?P<half>{_HALF})", _time, _I),
    _rule(r"\b(\d{1,2}) o'clock", lambda m: f"{n.cardinal(m[1])} o'clock", _I),
    # money
    _rule(
        rf"(?P<sign>[$€£₹]) ?(?P<amount>{_NUMBER})(?:(?P<hyphen>-)(?=[a-z])|"
        rf"{_DASH}(?:(?P=sign))?(?P<last>{_NUMBER})|(?P<scale> (?:million|billion|thousand)))?",
        _money,
        _I,
    ),
    _rule(r"\b(\d+) ?¢", lambda m: f"{n.cardinal(m[1])} {'cent' if m[1] == '1' else 'cents'}"),
    _rule(r" ?/ ?(?=(?:month|visit|year|day|hour|week|person|child|dose|night|mile)\b)", " per "),
    # rooms, houses, post codes
    _rule(
        r"\b(?P<place>room|suite|ste\.?|apt\.?|apartment|unit|form|building|bldg\.?|gate|flight|"
        r"box|bay|exam room) #?(?P<number>\d{1,5})(?P<letter>[A-Z])?\b",
        _place,
        _I,
    ),
    _rule(
        r"\b(?P<number>\d{3,5})(?= (?:[NSEW]\.? )?[A-Z][a-z]+(?: [A-Z][a-z]+)? "
        r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Dr|Drive|Ln|Lane|Way|Court|Ct|Place|Pl)\b)",
        lambda m: n.pairs(m["number"]),
    ),
    _rule(r"\b([A-Z]{2}),? (\d{5})(?:-(\d{4}))?\b", lambda m: f"{spell(m[1])} {n.digits(m[2])}"),
    # quantities
    _rule(r"(?<![\w.])(?<!\d )-(?=\d)", "minus "),
    _rule(rf"(?:(?P<first>{_NUMBER})(?:%)?{_DASH})?(?P<last>{_NUMBER}) ?%", _percent),
    _rule(
        rf"\b(?P<amount>{_NUMBER})(?:{_DASH}(?P<last>{_NUMBER}))? ?(?P<unit>{_UNIT})(?![\w])",
        _unit,
    ),
    _rule(r"\b(\d+)(?:st|nd|rd|th)\b", lambda m: n.ordinal(m[1]), _I),
    _rule(r"\b(\d{2,4}0)s\b", _decade),
    _rule(r"\b(\d+)\+", lambda m: f"{n.cardinal(m[1])} and over"),
    _rule(r"(?:#|\b(?:No|no|Nos)\. ?)(?=\d)", "number "),
    _rule(
        rf"(?<![\w-])({_NUMBER}){_DASH}({_NUMBER})(?![\w-]*\d)",
        lambda m: f"{n.cardinal(m[1])} to {n.cardinal(m[2])}",
    ),
    # words
    *(_rule(pattern, words) for pattern, words in ABBREVIATIONS),
    _rule(r"\b(vitamin|hepatitis|type|part|building|form) A\b", r"\1 eigh", _I),
    _rule(
        r"\b[A-Z]+\d+(?:[A-Z]+\d+)*[A-Z]*\b",
        lambda m: "-".join(
            n.cardinal(p) if p.isdigit() else spell(p) for p in re.findall(r"\d+|[A-Z]+", m[0])
        ),
    ),
    _rule(r"\b([A-Za-z]+)-(?=\d)", r"\1 "),
    _rule(r"\b[A-Z]{2,5}(?=s?\b)", _capitals),
    # what is left
    _rule(_NUMBER, lambda m: f" {_plain_number(m)}" if _glued(m) else _plain_number(m)),
    _rule(r"\s*[–—]\s*|\s-+\s", ", "),
    _rule(r"\s*[()]\s*", ", "),
    _rule(r"(?<=\w)/(?=\w)", " or "),
    _rule(r"\s*&\s*", " and "),
    _rule(r"\s*\+\s*", " plus "),
    _rule(r"\s*=\s*", " equals "),
    _rule(r"@", " at "),
    _rule(r"%", " percent "),
    # eSpeak NG reads emoji and signs by their names
    _rule(r"[^\w\s.,;:!?'-]|_", " "),
)


def _glued(match: re.Match[str]) -> bool:
    """Whether a letter stands right before the number ("B12" apart, which has its own rule)."""
    return match.start() > 0 and match.string[match.start() - 1].isalpha()
