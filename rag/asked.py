"""What a question asks for, and whether a sentence can be the answer to it.

Plain rules, each able to fail a sentence but never to make one up: the day, the kind of value,
and opposites that embeddings do not tell apart (opens and closes, adult and child). One more says
which of two sentences is the general one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rag import days

# Kind of value asked for: how it is asked, and what a sentence that answers it must hold.
# Expected answer types, after Li and Roth, Learning Question Classifiers (COLING 2002).
_MONEY = (
    r"[$€£₹]|\b(?:dollars?|cents?|pounds?|euros?|rupees?|usd|gbp|eur|inr|cad|aud)\b|\bfree\b"
    r"|\bno (?:extra )?(?:charge|cost|fee)|\bpercent|%"
)
_SPAN = (
    r"\b(?:\d+|an?|one|two|three|four|five|six|half an?)[ -](?:\w+ )?"
    r"(?:minute|hour|day|week|month|year)s?\b|\bsame[- ]day\b|\bimmediately|\bright away\b"
)
_CLOCK = (
    r"\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bclosed\b"
    r"|\ball day\b|\b24[- ]hours?\b|\baround the clock\b|\bany ?time\b"
)
_MONTHS = (
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_PHONE = r"\b\d{3}[- ]\d{4}\b|\b911\b"
_PLACE = (
    r"\b(?:rooms?|floor|building|street|avenue|road|lot|garage|lobby|entrance|address|corner)\b"
    r"|\b(?:behind|beside|across|opposite|inside|outside|near|nearby|next to|in front of)\b"
    r"|\bon[- ]?site\b|\b(?:at|in|on) the\b"
)
# Where a question word opens the question, not a clause: "do I pay when I check in".
_OPENS = r"^(?:\w+ ){0,2}?"
_KINDS = (
    (
        "money",
        re.compile(
            r"\bhow (?:much|expensive) "
            r"(?:is|are|was|does|do|did|will|would|can|for|to|it|a|an|the|you)\b"
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
        re.compile(
            r"\bhow (?:long|soon|often|much (?:notice|time)"
            r"|many (?:minutes|hours|days|weeks|months))\b"
        ),
        re.compile(f"{_SPAN}|{_CLOCK}"),
    ),
    (
        "phone number",
        re.compile(
            r"\b(?:phone|telephone|fax|what|which) number\b(?!.*\broom\b)"
            r"|\bnumber (?:for|of the)\b"
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
    ("place", re.compile(rf"{_OPENS}where\b"), re.compile(_PLACE)),
    (
        "time",
        re.compile(rf"{_OPENS}when\b"),
        re.compile(
            f"{_CLOCK}|{_SPAN}|{_MONTHS}|{days.DAY_SLOT.pattern}"
            r"|\b(?:before|after|until|during|within|every|daily|always|check[- ]?in)\b"
        ),
    ),
    (
        "age",
        re.compile(r"\bhow old\b|\bwhat age\b|\bage limit\b"),
        re.compile(r"\baged?\b|\bages\b|\b(?:older|younger|over|under)\b|\b(?:year|month)s? old\b"),
    ),
    (
        "opening",
        re.compile(r"\b(?:are|is|will) (?:\w+ ){1,4}(?:open|closed)\b"),
        re.compile(rf"{_CLOCK}|\bopen|\bclos"),
    ),
)
_ANSWERS = {name: answers for name, _, answers in _KINDS}
_OF_ANY_DAY = frozenset({"money", "phone number", "room", "e-mail address", "place", "age"})
_RELATIVE_DAY = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|now|this (?:morning|afternoon|evening|week))\b"
)
# Marks of the special case: what it says holds for fewer than asked about.
_SPECIAL = re.compile(
    r"\b(?:rush|express|urgent(?:ly)?|emergency|expedited|minor|special|miss(?:ed)?|late|except"
    r"|unless|such as)\b"
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

    A sentence that names no day does not say what holds on one: it passes only where the answer
    is a price, a number or a place, which seldom change with the day. Which day "today" is cannot
    be known here.
    """
    question, sentence = question.lower(), sentence.lower()
    asked, stated = days.named_days(question), days.named_days(sentence)
    if stated & asked:
        return ""
    if asked and stated:
        return f"asked about {_list(asked)}, the sentence is about {_list(stated)}"
    of_holidays = days.holidays(question) and re.search(r"\bholidays?\b", sentence)
    if asked and not of_holidays and _kind(question) not in _OF_ANY_DAY:
        return f"asked about {_list(asked)}, the sentence names no day"
    relative = _RELATIVE_DAY.search(question)
    if relative and stated and not stated >= frozenset(days.WEEKDAYS):
        return f"asked about {relative.group()}, the sentence is about {_list(stated)}"
    return ""


def is_special_case(question: str, sentence: str) -> bool:
    """Whether ``sentence`` is about a day or a case that was not asked for.

    "How long does a school form take" wants the usual time, not that of the rush service; "what
    time do you open" the weekdays' hours, not Saturday's.
    """
    question, sentence = question.lower(), sentence.lower()
    stated = days.named_days(sentence)
    # Five days or more are the general rule.
    is_some_day = bool(stated) and len(stated & frozenset(days.WEEKDAYS)) < 5
    if is_some_day and not days.named_days(question):
        return True
    return bool(_SPECIAL.search(sentence)) and not _SPECIAL.search(question)


def wrong_kind(question: str, sentence: str) -> str:
    """Which kind of value is asked for that ``sentence`` does not hold, or ''."""
    kind = _kind(question.lower())
    if not kind or _ANSWERS[kind].search(sentence.lower()):
        return ""
    return f"asked for a {kind}, the sentence has none"


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


@lru_cache(maxsize=64)  # asked of every candidate in turn
def _kind(question: str) -> str:
    return next((name for name, asks, _ in _KINDS if asks.search(question)), "")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group() if match else ""


def _list(names: frozenset[str]) -> str:
    order = {day: n for n, day in enumerate(days.WEEKDAYS)}
    return ", ".join(sorted(names, key=lambda name: (order.get(name, 7), name)))
