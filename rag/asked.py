"""What a question asks for, and whether a sentence can be the answer to it.

Three plain rules, each able to fail a sentence but never to make one up: the day, the kind of
value, and opposites that embeddings do not tell apart (opens and closes, adult and child).
"""

from __future__ import annotations

import re

from rag import days

# Kind of value asked for: how it is asked, and what a sentence that answers it must hold.
# Expected answer types, after Li and Roth, Learning Question Classifiers (COLING 2002).
_MONEY = r"[$€£₹]|\bdollars?|\bcents?\b|\bfree\b|\bno (?:extra )?(?:charge|cost|fee)|\bpercent|%"
_SPAN = (
    r"\b(?:\d+|an?|one|two|three|four|five|six|half an?)[ -](?:\w+ )?"
    r"(?:minute|hour|day|week|month|year)s?\b|\bsame[- ]day\b|\bimmediately|\bright away\b"
)
_CLOCK = (
    r"\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bclosed\b"
    r"|\ball day\b|\b24 hours\b|\baround the clock\b|\bany (?:hour|time)\b"
)
_PHONE = r"\b\d{3}[- ]\d{4}\b|\b911\b"
_KINDS = (
    (
        "money",
        re.compile(
            r"\bhow (?:much|expensive) (?:is|are|does|do|did|will|would|for|it|a|an|the)\b"
            r"(?! .*\b(?:notice|time)\b)"
            r"|\bwhat(?:'s| is| are| does| do|s)?\b.*\b(?:cost|price|fee|charge)s?\b"
        ),
        re.compile(_MONEY),
    ),
    (
        "clock time",
        re.compile(
            r"\bwhat time\b|\b(?:what|your) hours\b|\bwhat are the hours\b|\bhow late\b"
            r"|\bwhen (?:do|does|are|is|will) (?:\w+ ){1,4}(?:open|close)s?\b"
        ),
        re.compile(_CLOCK),
    ),
    ("how early", re.compile(r"\bhow early\b"), re.compile(f"{_CLOCK}|{_SPAN}")),
    (
        "length of time",
        re.compile(r"\bhow (?:long|soon|often|many (?:minutes|hours|days|weeks|months))\b"),
        re.compile(f"{_SPAN}|{_CLOCK}"),
    ),
    (
        "phone number",
        re.compile(
            r"\b(?:phone|telephone|fax|what|which) number\b(?!.*\broom\b)|\bnumber (?:for|of) the\b"
            r"|\bwho (?:do|can|should|could) i call\b|\bnumber (?:to|do i|should i) call\b"
        ),
        re.compile(_PHONE),
    ),
    (
        "room",
        re.compile(r"\b(?:which|what) room\b|\broom number\b"),
        re.compile(r"\b(?:room|floor)\b"),
    ),
    ("e-mail address", re.compile(r"\be ?mail address\b"), re.compile(r"\S@\S")),
)

_OPPOSITES = (
    ("opening", r"\b(?:open|opens|opening|starts?)\b", r"\b(?:close|closes|closing|ends?)\b"),
    ("age", r"\badults?\b|\bgrown ?ups?\b", r"\b(?:child|children|kids?|bab(?:y|ies)|infants?)\b"),
    ("patient", r"\bnew patients?\b|\bfirst visit\b", r"\b(?:returning|existing) patients?\b"),
    ("check-in", r"\bcheck(?:ing)?[- ]?in\b", r"\bcheck(?:ing)?[- ]?out\b"),
    ("arrival", r"\barriv\w+\b", r"\b(?:depart|leav)\w+\b"),
    ("collection", r"\bpick(?:ing|ed)?[- ]?up\b", r"\bdrop(?:ping|ped)?[- ]?off\b"),
    ("limit", r"\bminimum\b|\bat least\b", r"\bmaximum\b|\bat most\b"),
)
_SIDES = tuple((name, re.compile(one), re.compile(other)) for name, one, other in _OPPOSITES)
# "open from 8 to 6" states both ends; "closed" answers either.
_BOTH_ENDS = re.compile(r"\bfrom\b.*\b(?:to|until|till)\b|\d\s*[-–]\s*\d|\bclosed\b")


def wrong_day(question: str, sentence: str) -> str:
    """Why ``sentence`` is about another day than the one asked for, or ''.

    A sentence that names no day passes, unless a holiday is asked for and it states hours: the
    usual hours do not hold then.
    """
    asked = days.named_days(question)
    if not asked:
        return ""
    stated = days.named_days(sentence)
    if stated & asked:
        return ""
    if stated:
        return f"asked about {_list(asked)}, the sentence is about {_list(stated)}"
    general = re.search(r"\bholidays?\b", sentence.lower())
    if days.holidays(question) and not general and re.search(_CLOCK, sentence.lower()):
        return f"asked about {_list(asked)}, the sentence states usual hours"
    return ""


def wrong_kind(question: str, sentence: str) -> str:
    """Which kind of value is asked for that ``sentence`` does not hold, or ''."""
    question, sentence = question.lower(), sentence.lower()
    for name, asks, answers in _KINDS:
        if asks.search(question):
            return "" if answers.search(sentence) else f"asked for a {name}, the sentence has none"
    return ""


def opposite(question: str, sentence: str) -> str:
    """Which opposite of what is asked ``sentence`` states, or ''."""
    question, sentence = question.lower(), sentence.lower()
    for name, one, other in _SIDES:
        for mine, its in ((one, other), (other, one)):
            if not mine.search(question) or its.search(question):
                continue
            if name == "opening" and _BOTH_ENDS.search(sentence):
                continue
            if its.search(sentence) and not mine.search(sentence):
                return f"{name}: asked {_found(mine, question)!r}, has {_found(its, sentence)!r}"
    return ""


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group() if match else ""


def _list(names: frozenset[str]) -> str:
    order = {day: n for n, day in enumerate(days.WEEKDAYS)}
    return ", ".join(sorted(names, key=lambda name: (order.get(name, 7), name)))
