"""Slots of a question: day, date, kind of person, and the thing asked about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag import days
from rag.follow_up.openings import EMPTY_WORDS, PERSON
from rag.follow_up.subject import TWO_WORDS, subject_of
from rag.follow_up.terms import is_function_word

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_ONE = frozenset({"1", "one", "ones"})
_NTH = r"\d{1,2}(?:st|nd|rd|th)"
_SMALL = rf"(?:{_NTH}|first|second|third|fifth|eighth|ninth|twelfth)"
# "the 24th", "december 24th", "the 24th of december", "december 24".
_DATE = re.compile(
    rf"\b(?:(?:the )?{_SMALL} of {_MONTH}|(?:the )?{_NTH}|"
    rf"{_MONTH} (?:the )?(?:{_SMALL}|\d{{1,2}}))\b"
)
_NTH_ALONE = re.compile(rf"(?:the )?({_NTH})")
_ANY_DAY = re.compile(rf"{_DATE.pattern}|{days.DAY_SLOT.pattern}")


@dataclass(frozen=True, slots=True)
class Slots:
    """What a question names; "" for what it does not."""

    subject: str = ""
    day: str = ""
    service: str = ""
    person: str = ""


def read(question: str) -> Slots:
    """The slots of a clean, lower-case question."""
    day, person = _ANY_DAY.search(question), PERSON.search(question)
    bare = _fold(PERSON.sub(" , ", _ANY_DAY.sub(" , ", question)))
    subject = subject_of(bare)
    service = subject if len(subject.split()) > 1 else ""
    return Slots(
        subject=subject or (person.group() if person else ""),
        day=day.group() if day else "",
        service=service,
        person=person.group() if person else "",
    )


def put(before: str, new: str) -> tuple[str, str]:
    """``before`` with the day or person that ``new`` names, and what is left of ``new``.

    A day of a month takes the place of a day of that month ("december 25th", "the 24th"); a
    weekday, a holiday or a date that of any other. A slot that ``before`` lacks is left in
    ``new``.
    """
    day, old = _ANY_DAY.search(new), _ANY_DAY.search(before)
    if day and old:
        nth = _NTH_ALONE.fullmatch(day.group())
        put_in = day.group()
        if nth and _DATE.fullmatch(old.group()) and re.search(_MONTH, old.group()):
            put_in = re.sub(rf"{_NTH}|\b\d{{1,2}}\b", nth.group(1), old.group())
        before = put_in.join((before[: old.start()], before[old.end() :]))
        new = _fold(_ANY_DAY.sub(" ", new, count=1))
    person = PERSON.search(new)
    if person and PERSON.search(before):
        before = PERSON.sub(person.group(), before, count=1)
        new = _fold(PERSON.sub(" ", new))
    return before, new


def with_day(text: str) -> str:
    """The day that ``text`` names with the word before it: "on friday"; "" if it names none."""
    day = _ANY_DAY.search(text)
    if not day:
        return ""
    before = text[: day.start()].split()
    joined = before[-1] if before and before[-1] in ("on", "at", "during", "for", "by") else ""
    return f"{joined} {day.group()}".strip()


def names_any(text: str) -> bool:
    """Whether ``text`` names a day, a kind of person or a thing."""
    return bool(thing_of(text) or PERSON.search(text) or _ANY_DAY.search(text))


def thing_of(words: str) -> str:
    """``words`` without days, people, and what stands around: "on the blood test then"."""
    kept = _fold(PERSON.sub(" ", _ANY_DAY.sub(" ", words))).split()
    while kept and (is_function_word(kept[0]) or kept[0] in EMPTY_WORDS):
        del kept[0]
    while kept and is_function_word(kept[-1]) and kept[-1] not in _ONE:
        if tuple(kept[-2:]) in TWO_WORDS:
            break
        del kept[-1]
    return " ".join(kept)


def _fold(text: str) -> str:
    return " ".join(text.split())
