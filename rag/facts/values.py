"""The values that a sentence states: where they stand, of what kind, in what unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.facts.types import Kind, Value

_WORDS = {
    word: str(n)
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"a": "1", "an": "1", "half": "0.5", "half a": "0.5", "half an": "0.5", "a half": "0.5"}
_WORDS |= {
    word: str(n)
    for n, word in zip(
        range(30, 110, 10),
        "thirty forty fifty sixty seventy eighty ninety hundred".split(),
        strict=True,
    )
}
_NAMED = "|".join(sorted((w for w in _WORDS if len(w) > 2 and " " not in w), key=len, reverse=True))
_DIGITS = r"\d[\d,]*(?:\.\d+)?"
_N = rf"(?:{_DIGITS}|(?:half(?: an?)?|a half|{_NAMED})(?:[- ](?:{_NAMED})\b)?)"
_NA = rf"(?:{_N}|an?)"
_UNIT_OF_TIME = r"(?:second|sec|minute|min|hour|hr|day|night|week|fortnight|month|year|yr)s?"
_BUSINESS = r"(?:(?:business|working|calendar|full|consecutive|whole|more|extra|further|school) )?"
_CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)? ?[ap]\.? ?m\b\.?|\d{1,2}:\d\d|(?:12 )?(?:noon|midnight)\b)"
_HALF = r"(?:half past|quarter (?:past|to)) (?:\d{1,2}|" + _NAMED + ")"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_TO = r" ?(?:-|–|—|to|until|till|through|and) ?"
_COIN = (
    r"(?:dollars?|bucks|cents?|pence|pounds?(?! of)|euros?|rupees?|francs?|kron(?:er|or|a)"
    r"|pesos?|yen|yuan|dirhams?|shekels?|zlotys?|usd|gbp|eur|inr|cad|aud|chf)\b"
)
_LONG = (
    r"(?:miles?|mi|kilomet(?:er|re)s?|km|met(?:er|re)s?|m|feet|foot|ft|yards?|blocks?"
    r"|inch(?:es)?|cm|cent(?:i)?met(?:er|re)s?|mm)\b"
)
_SIZE = (
    r"(?:kg|kilos?|kilograms?|grams?|g|lbs?|oz|ounces?|lit(?:er|re)s?|gallons?|degrees?|°[cf]?"
    r"|mph|kmh|km/h|tons?|tonnes?|letters|words|pages|characters|mbps|gb|kw|square (?:feet"
    r"|met(?:er|re)s?)|sq ?ft|hectares?|acres?)\b"
)
_STREET = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|boulevard|blvd|way|court|square|place|plaza"
    r"|highway|hwy|row|terrace|crescent|parkway|quay|wharf|hill|close)\b\.?"
)
_PATTERN = re.compile(
    rf"(?P<email>[\w.+-]+@[\w-]+\.\w[\w.]*\w)"
    rf"|(?P<phone>(?<![\w.])(?:\+?\d{{1,3}}[-. ])?(?:\(?\d{{3}}\)?[-. ])?\d{{3}}[-. ]\d{{4}}\b"
    rf"|(?<!\w)\+\d[\d ]{{7,}}\d|\b0\d{{2,4}} \d{{3,4}} ?\d{{3,4}}\b|\b911\b|\b0\d{{9,10}}\b)"
    rf"|(?P<money>(?:[$€£₹] ?{_DIGITS}(?:{_TO}[$€£₹]? ?\d[\d,.]*\d|{_TO}[$€£₹]? ?\d)?"
    rf"|{_NA}(?:{_TO}{_N})? {_COIN}|\d+p\b|(?:chf|usd|eur|gbp|inr|rs\.?) ?{_DIGITS}"
    rf"|\b(?:free(?! from\b| to\b|ly\b|zer)|complimentary|no (?:extra |additional )?"
    rf"(?:charge|cost|fee)|at no cost|without charge|gratis)\b))"
    rf"|(?P<percentage>{_N}(?:{_TO}{_N})? ?(?:%|per ?cent\b))"
    rf"|(?P<date>\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)?"
    rf" {_MONTH}|\b(?:19|20)\d\d-\d\d-\d\d|\b\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b"
    rf"|\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)\b(?! floor| of \w+ (?:floor|street)| street| avenue"
    rf"| birthday| week| class| visit| month| person| child))"
    rf"|(?P<time>{_HALF}|(?:\d{{1,2}}(?:[:.]\d\d)?{_TO})?{_CLOCK}(?:{_TO}(?:{_CLOCK}"
    rf"|\d{{1,2}}(?![\d%:])))?"
    rf"|\b(?:{_N}) ?o'?clock\b"
    rf"|\b(?:24|twenty[- ]four)(?:/7| ?hours(?: a day| every day|[,;]? ?(?:7|seven) days)?(?=\W*$))"
    rf"|\b(?:24|twenty[- ]four)[- ]hours? (?:a day|every day|service|reception|front|desk)"
    rf"|\b24/7\b|(?:a)?round the clock|never closes?\b|\ball day\b(?! (?:pass|ticket|breakfast))"
    rf"|\bat any (?:time|hour)\b)"
    rf"|(?P<age>\b(?:ages? |aged |under |over |older than |younger than |turn(?:s|ed)? )"
    rf"(?:of )?(?:the age of )?{_N}(?:{_TO}{_N})?\b(?! ?(?:%|[:-]\d|{_UNIT_OF_TIME} (?!old|of age)"
    rf"|people|guests|persons|{_COIN}|{_LONG}|{_SIZE}))"
    rf"|\b{_N}(?:{_TO}{_N})?[- ](?:year|yr|month)s?[- ](?:old|of age)s?\b"
    rf"|\b{_N} (?:and|or|years and|years or) (?:over|older|under|younger|up|above)\b)"
    rf"|(?P<frequency>\b(?:once|twice|{_N} times)(?: (?:an?|per|every|each) {_UNIT_OF_TIME})?\b"
    rf"|\bevery (?:other )?(?:{_N} )?{_UNIT_OF_TIME}\b(?! of)|\b(?:daily|weekly|monthly|yearly"
    rf"|hourly|nightly|annually)\b)"
    rf"|(?P<duration>\b{_NA}(?:{_TO}{_N})?(?: and a half| or (?:so|more|{_N}))?[- ]{_BUSINESS}"
    rf"{_UNIT_OF_TIME}\b(?:'|’)?(?! old)|\bhalf an? {_UNIT_OF_TIME}\b"
    rf"|\b(?:same|next)[- ]day\b|\bovernight\b)"
    rf"|(?P<distance>\b{_NA}(?:{_TO}{_N})?(?: and a half)?[- ]?{_LONG})"
    rf"|(?P<measure>\b{_NA}(?:{_TO}{_N})?[- ]?{_SIZE})"
    rf"|(?P<address>\b\d{{1,5}}[a-z]? (?:[a-z'.]+ ){{1,3}}?{_STREET})"
    rf"|(?P<count>\b{_N}(?:{_TO}{_N}\b)?(?![\w/]))"
)
# A bare number after one of these, with no noun behind it, is a time: "open from 8 to 5".
_BEFORE_TIME = re.compile(
    r"\b(?:at|by|until|till|from|before|after|between|opens?|closes?|starts?|begins?|ends?|past"
    r"|around|about|days?|and|noon|to|mornings?|evenings?|afternoons?|:|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)days?,?:?|weekdays?,?:?|weekends?,?:?|daily,?:?|(?:mon|tue|wed|thu|fri|sat"
    r"|sun)"
    r"\.?:?)(?: \w+ly)? ?,? ?$"
)
_AFTER_TIME = re.compile(
    r"\s*(?:$|[,;.)]|(?:on|to|until|till|and|every|during|in the|in winter|in summer|each|or|from"
    r"|for|if|but|when|at|sharp|daily|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend"
    r"|except|as|with|that|a\.?m|p\.?m|today|tonight|only|latest)\b|[-–—])"
)
_TIME_RANGE = re.compile(r"\d{1,2}(?::\d\d)?(?: ?(?:-|–|—|to|until|till) ?)\d{1,2}(?::\d\d)?$")
_HOUR = re.compile(r"(?:[1-9]|1\d|2[0-3])(?:$|\D)|(?:" + _NAMED + r")\b")
_CLOSED = re.compile(
    r"\b(?:closed|shut|not open|n't open|no (?:service|visits|classes|lessons|collections?))\b"
)
_BOUND = (
    (
        "at least",
        re.compile(
            r"\b(?:at least|minimum(?: (?:of|is|stay|age))?|no (?:less|fewer|later|earlier) than"
            r"|from|starting (?:at|from)|or (?:more|over|older|above)|and (?:up|over|above|older)"
            r"|over|more than|older than|starts? at)\W*$"
        ),
    ),
    (
        "at most",
        re.compile(
            r"\b(?:at most|maximum(?: (?:of|is))?|up to|no more than|not more than|under|within"
            r"|less than|fewer than|below|until|by|limit(?: of| is)?)\W*$"
        ),
    ),
)
_BEHIND = (
    (
        "at least",
        re.compile(r"\W*(?:or (?:more|over|older|above)|and (?:up|over|above|older)|minimum)\b"),
    ),
    (
        "at most",
        re.compile(r"\W*(?:or (?:less|fewer|under|younger|below)|and under|maximum|max)\b"),
    ),
)
_PER = re.compile(
    r"\s*(?:/|per |an? |each |every |for each )\s?(?:extra |additional )?([a-z]{3,})\b"
)
_NUMBER = re.compile(rf"{_DIGITS}|\b(?:half(?: an?)?|{_NAMED}|an?)\b")
_UNIT = re.compile(rf"[$€£₹%°]|{_COIN}|{_UNIT_OF_TIME}\b|{_LONG}|{_SIZE}")
_SAME_UNIT = {
    "dollar": "$", "buck": "$", "usd": "$", "pound": "£", "gbp": "£", "euro": "€", "eur": "€",
    "rupee": "₹", "inr": "₹", "sec": "second", "min": "minute", "hr": "hour", "yr": "year",
    "km": "kilometre", "kilometer": "kilometre", "m": "metre", "meter": "metre", "ft": "foot",
    "feet": "foot", "mi": "mile", "kilo": "kg", "kilogram": "kg", "lb": "pound",
}  # fmt: skip
_AND_A_HALF = re.compile(r"\b(\w+) and a half")
_AGE = re.compile(r"\D*")
_COUNTED = re.compile(r"(?:\d|times|once|twice|seven days|hours)\)? $")
_ARTICLE = re.compile(r"an?\b")


def values(text: str) -> Iterator[Value]:
    """The values of ``text`` (lower case), in their order; "closed" is a time."""
    found = [*_PATTERN.finditer(text)]
    spans = [one.span() for one in found]
    for match in found:
        kind = str(match.lastgroup)
        if kind == "count":
            kind = _of_bare(match, text)
        if not kind or (kind == "duration" and _is_idle(match, text)):
            continue
        yield _value(kind, match, text)  # type: ignore[arg-type]
    for match in _CLOSED.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in spans):
            yield Value("time", "closed", "", match.start(), match.end())


def _of_bare(match: re.Match[str], text: str) -> str:
    """What a number without a unit is: a time where one may stand, else a count."""
    number = match.group()
    if number in ("one", "half", "a half"):
        return ""
    if not _HOUR.match(number) or not _AFTER_TIME.match(text, match.end()):
        return "count"
    # What comes before is looked at from near by: a page without a stop must not hold it up.
    before = text[max(0, match.start() - 40) : match.start()]
    return "time" if _TIME_RANGE.match(number) or _BEFORE_TIME.search(before) else "count"


def _is_idle(match: re.Match[str], text: str) -> bool:
    """ "$30 a night", "once a week": a unit that another value is counted by, none of its own."""
    if not _ARTICLE.match(match.group()):
        return False
    before = text[max(0, match.start() - 20) : match.start()]
    return bool(_COUNTED.search(before))


def _value(kind: Kind, match: re.Match[str], text: str) -> Value:
    said = match.group()
    before, start, end = text[max(0, match.start() - 24) : match.start()], *match.span()
    bound = _bound(kind, before, said) or next(
        (name for name, rx in _BEHIND if rx.match(text, end)), ""
    )
    per = _PER.match(text, end) if kind in ("money", "percentage", "count", "measure") else None
    unit = _UNIT.search(said) if kind not in ("time", "date", "phone", "address", "email") else None
    name = unit.group().rstrip("s") if unit else ""
    return Value(
        kind,
        _written(kind, said),
        _SAME_UNIT.get(name, name),
        start,
        end,
        bound,
        per.group(1) if per else "",
    )


def _bound(kind: Kind, before: str, said: str) -> str:
    """Whether the words ``before`` a value make a bound of it; an age holds its own: "under 12"."""
    if kind == "time":
        return ""
    if kind == "age" and (own := _AGE.match(said)):
        before += own.group()
    return next((name for name, rx in _BOUND if rx.search(before)), "")


def _written(kind: Kind, said: str) -> str:
    if kind == "time":
        return _clock(said)
    if kind == "phone":
        return re.sub(r"\D", "", said)
    if kind in ("email", "address", "date", "frequency"):
        return said.strip(" .")
    if half := _AND_A_HALF.search(said):
        return f"{_WORDS.get(half.group(1), half.group(1))}.5"
    numbers = [_WORDS.get(one, one.replace(",", "")) for one in _NUMBER.findall(said)]
    if not numbers:
        return "0" if kind == "money" else said
    return "-".join(numbers)


_ONE_TIME = re.compile(r"(\d{1,2})(?:[:.](\d\d))? ?([ap])?\.? ?(?:m\b)?|noon|midnight")


def _clock(said: str) -> str:
    """ "3 p.m." as 15:00; "9 to 1" as 9-1, for which half of the day is meant is not said."""
    ends = []
    for one in _ONE_TIME.finditer(said):
        if one.group() in ("noon", "midnight"):
            ends.append("12:00" if one.group() == "noon" else "00:00")
            continue
        hour, minute, half = int(one.group(1)), one.group(2) or "00", one.group(3)
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
            ends.append(f"{hour:02}:{minute}")
        else:
            ends.append(f"{hour}:{minute}" if one.group(2) else str(hour))
    return "-".join(dict.fromkeys(ends)) or said.strip()
