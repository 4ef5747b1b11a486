"""How written Hindi is read aloud: digits of either script, times, dates, money and the rest.

Ordered rules, as those of :mod:`speech.reading.english`. Latin words are left to the voice.
"""

from __future__ import annotations

import re
import unicodedata

from speech import hindi_numbers as n
from speech.reading.hindi_words import (
    CURRENCIES,
    MONTHS,
    ORDINALS,
    PER,
    SHORT_FORMS,
    TOP_LEVEL_DOMAINS,
    UNITS,
)
from speech.reading.rules import Rule, applied, rule, tidy

_NUMBER = r"\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_DASH = r"\s?[-–—]\s?"
_SIGN = "|".join(re.escape(sign) for sign in sorted(CURRENCIES, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_MONTH = "|".join(sorted(set(MONTHS), key=len, reverse=True))
_SCALE = "करोड़|लाख|हज़ार|हजार|अरब|सौ"
_DAY_PART = r"(?P<part>(?:सुबह|दोपहर|शाम|रात|सवेरे|तड़के)(?: के| को)? )?"
_HALF = r"(?: ?(?P<half>[ap]\.?m\b\.?|[AP]\.?M\b\.?))?"
_AFTER = r"(?: ?बजे)?"
_END = r"(?![\w\u0900-\u097F])"
_FRACTIONS = {"1/2": "आधा", "1/4": "एक चौथाई", "3/4": "तीन चौथाई"}
_ORDINAL = r"(?:ला|ली|ले|रा|री|रे|था|थी|थे|ठा|ठी|ठे|वां|वाँ|वीं|वें|वा|वी|वे)"
# Numbers that are read digit by digit: of flats and plots, PINs, and what is dialled.
_LISTED = r"(?:प्लॉट नंबर|फ्लैट नंबर|फ़्लैट नंबर|मकान नंबर|पिन कोड|पिनकोड|पिन|एक्सटेंशन|ओटीपी|PIN)"


def words_of(text: str) -> str:
    """The words of ``text``: no digits, no symbols."""
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    # Composed and decomposed nukta letters both occur; the rules are written with the sign apart.
    text = unicodedata.normalize("NFC", text)
    text = " ".join(text.split())
    return tidy(applied(text, _RULES))


def _dotted(text: str) -> str:
    marks = {".": " डॉट ", "-": " हाइफ़न ", "_": " अंडरस्कोर ", "+": " प्लस "}
    parts = re.split(r"([.\-_+])", text)
    words = "".join(marks.get(p) or TOP_LEVEL_DOMAINS.get(p.lower(), p) for p in parts)
    return " ".join(re.sub(r"\d", lambda d: f" {n.digits(d[0])} ", words).split())


def _email(match: re.Match[str]) -> str:
    return f"{_dotted(match[1])} एट {_dotted(match[2])}"


def _web(match: re.Match[str]) -> str:
    path = "".join(f" स्लैश {_dotted(part)}" for part in (match["path"] or "").split("/") if part)
    return _dotted(match["host"]) + path


def _phone(match: re.Match[str]) -> str:
    plus = "प्लस " * match[0].startswith("+")
    return plus + ", ".join(n.digits(group) for group in re.findall(r"\d+", match[0]))


def _date(day: int, month: int, year: str) -> str | None:
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    year = f"20{year}" if len(year) == 2 else year
    name = list(dict.fromkeys(MONTHS.values()))[month - 1]
    return f"{n.cardinal(str(day))} {name}" + (f" {n.year(year)}" if year else "")


def _numbered_date(match: re.Match[str]) -> str:
    date = _date(int(match["day"]), int(match["month"]), match["year"] or "")
    return date or " बटा ".join(n.cardinal(part) for part in re.findall(r"\d+", match[0]))


def _named_date(match: re.Match[str]) -> str:
    words = f"{n.cardinal(match['day'])} {MONTHS[match['month']]}"
    return words + (f" {n.year(match['year'])}" if match["year"] else "")


def _time(match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if hour > 24 or minute > 59:
        return n.digits(match[0])
    part = match["part"] or ""
    half = (match["half"] or "").lower()[:1]
    if not part and (half or hour > 12):
        part = _part_of_day(hour % 12 + 12 if half == "p" or hour > 12 else hour % 12)
    return f"{part}{n.clock((hour - 1) % 12 + 1, minute)}"


def _part_of_day(hour: int) -> str:
    for until, name in ((4, "रात"), (12, "सुबह"), (16, "दोपहर"), (20, "शाम")):
        if hour < until:
            return f"{name} "
    return "रात "


def _seconds(match: re.Match[str]) -> str:
    hour, minute, second = (n.cardinal(part) for part in match.group(1, 2, 3))
    return f"{hour} बजकर {minute} मिनट {second} सेकंड"


def _hours(match: re.Match[str]) -> str:
    """``9-5 बजे`` -> नौ से पाँच बजे."""
    start, end = (n.cardinal(hour) for hour in (match[1], match[2]))
    return f"{start} से {end} बजे"


def _money(match: re.Match[str]) -> str:
    unit, part = CURRENCIES[match["sign"] or match["after"]]
    amount, last, scale = match["amount"].replace(",", ""), match["last"], match["scale"]
    if last:
        return f"{n.cardinal(amount)} से {n.cardinal(last)} {unit}"
    if scale:
        half = re.fullmatch(r"(\d\d?)\.5", amount)
        words = n.and_a_half(int(half[1])) if half else n.cardinal(amount)
        return f"{words} {scale.strip()} {unit}"
    whole, _, fraction = amount.partition(".")
    if not part or len(fraction) > 2 or not fraction.strip("0"):
        bare = amount if fraction.strip("0") else whole
        return f"{n.cardinal(bare)} {unit}"
    small = f"{n.cardinal(str(int((fraction + '0')[:2])))} {part}"
    return f"{n.cardinal(whole)} {unit} {small}" if int(whole) else small


def _unit(match: re.Match[str]) -> str:
    first = f"{n.cardinal(match['first'])} से " if match["first"] else ""
    return f"{first}{n.cardinal(match['last'])} {UNITS[match['unit']]}"


def _ordinal(match: re.Match[str]) -> str:
    return n.ordinal(match[1].replace(",", ""), match[2])


def _borrowed(match: re.Match[str]) -> str:
    """``2nd`` -> सेकंड, as it is said of floors and streets."""
    number = int(match[1])
    return ORDINALS[number] if number < len(ORDINALS) else n.ordinal(match[1], "वां")


def _range(match: re.Match[str]) -> str:
    return f"{n.cardinal(match[1])} से {n.cardinal(match[2])}"


def _plain_number(match: re.Match[str]) -> str:
    number = match[0]
    long = len(number) > 9 and "." not in number and "," not in number
    odd = len(number) > 1 and number[0] == "0" and "." not in number
    return (
        f" {n.digits(number) if odd or (long and number[-4:] != '0000') else n.cardinal(number)} "
    )


_RULES: tuple[Rule, ...] = (
    rule(r"[‘’“”\"*_`#]", "", needs=""),
    rule("⁄", "/", needs="⁄"),
    rule(r"\.{3,}", "।", needs=r"\.\."),
    *(rule(pattern, words, needs="") for pattern, words in SHORT_FORMS),
    # addresses of the net, phone numbers
    rule(r"([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)", _email, needs="@"),
    rule(
        r"\b(?:https?://)?(?:www\.)?(?P<host>(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|example|"
        r"co\.in|in|info))(?:(?P<path>/[\w/.-]*\w)|/)?(?![\w@])",
        _web,
        re.IGNORECASE,
        needs=r"\.[A-Za-z]",
    ),
    rule(r"\+\d{1,3}(?:[ -]?\(?\d{2,10}\)?){1,5}", _phone),
    rule(r"\(?\b0\d{2,4}\)?[-. ]\d{5,8}\b|\b\d{3,5}[- ]\d{5,7}\b|\b0 \(\d+\) \d+", _phone),
    rule(r"(?<![\d.,])[1-9]\d{9}(?![\d.,])", _phone),
    rule(r"\b\d{3}-\d{3}-\d{4}\b|\b\d{3}-\d{4}\b|\b1800[- ]\d{3}[- ]\d{3,4}\b", _phone),
    rule(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\b", lambda m: _dotted(m[0])),
    rule(rf"({_LISTED})[ :]*(\d+)", lambda m: f"{m[1]} {n.digits(m[2])}"),
    rule(r"(, [^\d,]{2,30}[ -])(\d{6})\b", lambda m: f"{m[1]}{n.digits(m[2])}"),
    # dates
    rule(
        r"\b(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)\b",
        _numbered_date,
    ),
    rule(
        r"(?<![\d/.-])(?P<day>\d{1,2})([-/.])(?P<month>\d{1,2})\2(?P<year>\d{4}|\d\d)(?![\d/.-])",
        _numbered_date,
    ),
    rule(
        rf"\b(?P<day>\d{{1,2}}) (?P<month>{_MONTH}){_END}(?:,? (?P<year>\d{{4}})\b)?",
        _named_date,
    ),
    rule(
        rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}})\b(?:, (?P<year>\d{{4}})\b)?(?! ?:)",
        _named_date,
    ),
    rule(
        rf"({_MONTH}),? (\d{{4}})\b",
        lambda m: f"{MONTHS[m[1]]} {n.year(m[2])}",
    ),
    rule(r"((?:सन्?|वर्ष|साल) )(\d{4})\b", lambda m: f"{m[1]}{n.year(m[2])}"),
    rule(
        r"\b(1[89]\d\d)(?= (?:में|की|के|का|तक|से)(?:\s|$))",
        lambda m: n.year(m[1]),
    ),
    # times
    rule(r"\b(\d\d?):(\d\d):(\d\d)\b", _seconds, needs=":"),
    rule(
        rf"{_DAY_PART}\b(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?![\d:]){_HALF}{_AFTER}",
        _time,
        needs=":",
    ),
    rule(
        rf"{_DAY_PART}\b(?P<hour>\d{{1,2}})(?P<minute>) ?(?P<half>[ap]\.?m\b\.?|[AP]\.?M\b\.?)"
        rf"{_AFTER}",
        _time,
    ),
    rule(rf"\b(\d{{1,2}}){_DASH}(\d{{1,2}}) बजे", _hours),
    rule(r"\b24/7", "चौबीस घंटे, सातों दिन"),
    # money
    rule(
        rf"(?P<sign>{_SIGN}) ?(?P<amount>{_NUMBER})(?:{_DASH}(?:(?P=sign))?(?P<last>{_NUMBER})|"
        rf"(?P<scale> (?:{_SCALE})))?(?P<after>)(?:/-)?",
        _money,
    ),
    rule(
        rf"(?P<sign>)(?P<amount>{_NUMBER})(?:{_DASH}(?P<last>{_NUMBER}))?(?P<scale> (?:{_SCALE}))?"
        r" ?(?P<after>रु\.?|Rs\.?|/-)(?![\w\u0900-\u097F])",
        _money,
    ),
    # "1.5 लाख" is डेढ़ लाख
    rule(
        rf"(?<![\d.,])(\d{{1,2}})\.5 (?={_SCALE}|घंटे|घंटा|किलो|साल|महीने)",
        lambda m: f"{n.and_a_half(int(m[1]))} ",
    ),
    # quantities
    rule(r"(?<![\w.])(?<!\d )-(?=\d)", "माइनस "),
    rule(
        rf"(?:(?P<first>{_NUMBER})%?{_DASH})?(?P<last>{_NUMBER}) ?(?P<unit>{_UNIT}){_END}",
        _unit,
    ),
    rule(rf" ?/ ?({'|'.join(PER)}){_END}", r" प्रति \1", needs="/"),
    rule(rf"\b({_NUMBER}) ?({_ORDINAL}){_END}", _ordinal),
    rule(r"\b(\d+)(?:st|nd|rd|th)\b", _borrowed),
    rule(
        r"(?<![\d/])(\d+) (\d+)/(\d+)(?![\d/])",
        lambda m: f"{n.cardinal(m[1])} और {n.cardinal(m[2])} बटा {n.cardinal(m[3])}",
    ),
    rule(
        r"(?<![\d/])(\d+)/(\d+)(?![\d/])",
        lambda m: _FRACTIONS.get(m[0]) or f"{n.cardinal(m[1])} बटा {n.cardinal(m[2])}",
        needs="/",
    ),
    rule(r"(?<=\d) ?[x×] ?(?=\d)", " बाई "),
    rule(rf"({_NUMBER}){_DASH}({_NUMBER})", _range),
    rule(rf"({_NUMBER})\+", lambda m: f"{n.cardinal(m[1])} से ज़्यादा"),
    # what is left
    rule(_NUMBER, _plain_number),
    rule(r"\s*[–—]\s*|\s-+\s", ", ", needs="[-–—]"),
    rule(r"\s*[()]\s*", ", ", needs="[()]"),
    rule(r"\s*&\s*", " और ", needs="&"),
    rule(r"(?<=\w)/(?=\w)", " या ", needs="/"),
    rule(r"@", " एट ", needs="@"),
    rule(r"%", " प्रतिशत ", needs="%"),
    rule(r"[^\w\s.,;:!?'।\u0900-\u097F\u200c\u200d-]", " ", needs=""),
)
