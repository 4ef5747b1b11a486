"""The facts of one sentence: its values, each with the words of its own clause."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from rag import days
from rag.facts.opposites import AUDIENCE, sides
from rag.facts.services import services
from rag.facts.types import Fact, Qualifiers, Value
from rag.facts.values import values
from rag.pieces import stem, stopwords

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Where a clause may end between two values, the strongest first.
_CUTS = tuple(
    re.compile(rx)
    for rx in (
        r"[;|\n]|\.\s",
        r",? (?:but|while|whereas|otherwise) ",
        r", (?:and |or )?|: ",
        r" (?:and|or|plus|then) ",
        r" \(| [-–—] ",
    )
)
_DAY = rf"(?:{days.WEEKDAY}s?|weekends?|weekdays?|holidays?)"
# "on Saturday and Sunday": no clause ends in there.
_JOINED = re.compile(rf"{_DAY}(?:, (?:and )?| and | or )(?:on )?(?:public |bank )?{_DAY}")
_EXCEPT = re.compile(r"\b(?:except(?: for)?|excluding|other than|apart from|but not)\b[^,;.]*")
_WHEN_CLOSED = re.compile(r"\b(?:when|then|which)\b.*\bclosed\b")
# "by Saturday noon" is no day that anything holds on.
_DEADLINE = re.compile(r"\b(?:by|since|day (?:before|after)) (?:the )?" + _DAY)
_LONG_SPAN = re.compile(
    rf"\b({days.WEEKDAY}) (?:morning|noon|evening|night|afternoon)s?"
    r"(?= (?:to|until|till|through)\b)"
)
_EVERY_DAY = re.compile(r"\b(?:daily|every day|(?:7|seven) days a week|all week|24/7)\b")
_PLACE = re.compile(
    r"\b(?:at|in|on|inside|outside|behind|near|beside|from) (?:the|our) (?!(?:same|first|last"
    r"|end)\b)"
    r"[a-z]+(?: [a-z]+)?"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|when|once|provided|as long as|without|with|during|after|before|for)\b[^,;.]*"
)
_BOTH_ENDS = frozenset(("opening", "closing"))
_WHICH = re.compile(r"\W*(?:which|when|where|then)\b")
_SPAN_OF_TIME = re.compile(
    r"\bfrom (?:about )?(?:\d|noon|dawn|sunrise|midnight)[^,;]*\b(?:to|until|till)\b|\bbetween\b"
    r"|\b(?:sunrise|dawn|noon) (?:to|until)\b"
)
_WHOLE = (
    "closed",
    "24",
    "24/7",
    "around the clock",
    "round the clock",
    "all day",
    "never close",
    "never closes",
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """The words of one value: ``text`` and what they say.

    ``left_out`` are the days that it excepts, ``head`` the words before its value. One whose head
    names nothing leaves what it is about to the head of the clause before.
    """

    value: Value
    text: str
    days: frozenset[str]
    sides: frozenset[str]
    services: frozenset[str]
    left_out: frozenset[str] = frozenset()
    head: str = ""


def read(sentence: str, *, beside: str | None = None) -> tuple[Fact, ...]:
    """The facts of ``sentence``, one a value, at least one.

    ``beside`` is what its source sets next to it and it may leave unsaid: its own question, its
    heading, the head of a table's row.
    """
    return _read(sentence, beside or "")


@lru_cache(maxsize=16384)
def _read(sentence: str, beside: str) -> tuple[Fact, ...]:
    text = _LONG_SPAN.sub(r"\1", sentence.lower().replace("’", "'"))
    of_all = content(text)
    beside = beside.lower().replace("’", "'")
    context = content(beside)
    every = [*values(text)]
    if len(every) > 1:  # "open daily, 9 to 5": the days of another value, none of its own
        every = [one for one in every if one.value not in ("daily", "every day")]
    every = every or [Value("statement", "", "", 0, len(text))]
    clauses = _shared(
        [_clause(one, *own) for one, own in zip(every, _cut(text, every), strict=True)]
    )
    near = _Clause(every[0], beside, days.named_days(beside), sides(beside), services(beside))
    found = []
    for one in clauses:
        sided = one.sides or near.sides
        subject = content(one.text)
        qualifiers = Qualifiers(
            days=one.days or near.days,
            audience=sided & AUDIENCE,
            service=one.services | near.services,
            place=_first(_PLACE, one.text),
            condition=_first(_CONDITION, one.text),
        )
        found.append(
            Fact(
                one.value,
                subject or of_all,
                _attribute(one.value, sided, one.text),
                qualifiers,
                of_all | context,
                one.text,
            )
        )
    return tuple(found)


@lru_cache(maxsize=16384)
def content(text: str) -> frozenset[str]:
    """The stems of the content words of ``text`` (lower case)."""
    stop = stopwords()
    return frozenset(
        stem(word) for word in _WORD.findall(text) if word not in stop and len(word) > 1
    )


def _cut(text: str, every: list[Value]) -> list[tuple[str, str]]:
    """The clause of each value: ``text`` cut between every two; and its words before it."""
    joined = [one.span() for one in _JOINED.finditer(text)]
    ends, start = [], 0
    for one, other in pairwise(every):
        at = one.end
        for cut in _CUTS:
            places = [
                found.start()
                for found in cut.finditer(text, one.end, other.start)
                if not any(a < found.start() < b for a, b in joined)
            ]
            if places:
                at = places[-1] if cut is _CUTS[2] else places[0]
                break
        ends.append((start, at))
        start = at
    ends.append((start, len(text)))
    return [(text[a:b], text[a : one.start]) for one, (a, b) in zip(every, ends, strict=True)]


def _clause(value: Value, text: str, head: str) -> _Clause:
    text = _DEADLINE.sub(" ", text)
    stated = _EXCEPT.sub(" ", text)
    named = days.named_days(stated)
    left_out = frozenset[str]()
    if stated != text:
        left_out = days.named_days(" ".join(one.group() for one in _EXCEPT.finditer(text)))
    is_whole = not named or named >= frozenset(days.WEEKDAYS)
    if left_out and value.value == "closed" and is_whole and _WHEN_CLOSED.search(text):
        named = left_out  # "every day except Monday, when we are closed"
    elif left_out:
        named = (named or frozenset(days.WEEKDAYS)) - left_out
    if value.kind == "time" and not named and _EVERY_DAY.search(text):
        named = frozenset(days.WEEKDAYS)
    return _Clause(value, text, named, sides(stated), services(text), left_out, head)


def _shared(clauses: list[_Clause]) -> list[_Clause]:
    """Each clause with what it leaves to the one before, days also to the one behind."""
    found: list[_Clause] = []
    # "Open at 8, closed at 6, Monday to Friday", but not "last game at ten, Sundays at nine".
    behind = next((one.days for one in clauses if len(one.days) >= 5), frozenset())
    before = _Clause(clauses[0].value, "", behind, frozenset(), frozenset())
    for one in clauses:
        kept = replace(one, days=one.days or before.days)
        if before.left_out and _WHICH.match(one.text):
            kept = replace(kept, days=before.left_out)
        if len(clauses) > 1 and not content(one.head):
            kept = replace(
                kept,
                sides=one.sides or sides(before.head),
                services=one.services or services(before.head),
                head=before.head,
            )
        found.append(kept)
        before = kept
    return found


def _attribute(value: Value, named: frozenset[str], clause: str) -> frozenset[str]:
    """The sides of a fact; a span of times, or none at all, is of the start and of the end."""
    if value.kind == "time" and (
        "-" in value.value or value.value in _WHOLE or _SPAN_OF_TIME.search(clause)
    ):
        return named | _BOTH_ENDS
    return named


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group().strip() if found else ""
