"""Whether two answers to one question contradict each other: another value, or yes against no.

Rules that would rather miss than accuse, as those of :mod:`rag.check`: values are set against each
other only if they are of one kind and answer what was asked; one that is added, or left out, is
another answer and no contradiction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rag import facts
from rag.days import named_days
from rag.facts import Fact, Slots, Value
from rag.facts.kinds import value_kinds
from rag.facts.opposites import other, sides
from rag.grounding.changes import NEGATORS, flipped, negators, opposite
from rag.grounding.evidence import Evidence, Sentence, evidence_of, sentence_of
from rag.sentences import split_sentences

_MINUTES = {"minute": 1, "hour": 60, "day": 1440, "night": 1440, "week": 10080}
_YES_NO = re.compile(r"\W*(yes|no)\b[,.;:!\u2013\u2014-]\s*", re.I)
_CLOCK = re.compile(r"(\d+):?(\d\d)?$")
_ALWAYS = re.compile(r"24\b|twenty[- ]four|a?round|all day|never|at any")
_HALF_DAY = 12
_NEAR = 3  # sentences of the other answer that one is set against
_ALIKE = 0.7
"""Of the words of two sentences, so many are in both where one turns the other round."""
_TURNING = NEGATORS | {"only", "but", "allowed", "able", "available", "open", "closed"}
_AS_WRITTEN = frozenset({"frequency", "date", "address"})
"""Kinds of values that are not written one way: "every 20 minutes", "three times an hour"."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of a passage; ``beside`` is the question that its source sets there, or ''."""

    text: str
    beside: str = ""


def contradiction(question: str, old: Said, new: Said) -> str:
    """In what ``new`` says something else than ``old`` on ``question``, in words; '' if in nothing.

    "money: $30, now $35", "yes, now no".
    """
    if old.text == new.text:
        return ""
    slots = facts.slots(question)
    return _values(slots, old, new) or _days(slots, old, new) or _yes_no(old.text, new.text)


# Values


@dataclass(frozen=True, slots=True)
class _Stated:
    """A fact with its value as it is written."""

    fact: Fact
    written: str

    @property
    def about(self) -> tuple[object, ...]:
        """What it is said of: what is said of something else does not contradict it."""
        held = self.fact.qualifiers
        return held.days, held.audience, self.fact.attribute, self.fact.value.per


def _values(slots: Slots, old: Said, new: Said) -> str:
    befores, afters = _by_kind(slots, old), _by_kind(slots, new)
    kinds = befores.keys() & afters.keys()
    # A kind that is asked for leaves the others out, if it is there.
    for kind in sorted(kinds & value_kinds(slots.kind) or kinds):
        if not _conflict_of(befores[kind], afters[kind]):
            continue  # said of something else, perhaps, and there all the same
        for was, is_now in _pairs(befores[kind], afters[kind]):
            if _conflict_of(was, is_now):
                return f"{kind}: {_list(was)}, now {_list(is_now)}"
    return ""


def _by_kind(slots: Slots, said: Said) -> dict[str, list[_Stated]]:
    """The facts that may answer what is asked, by the kind of their values."""
    found: dict[str, list[_Stated]] = defaultdict(list)
    for one in _stated(said):
        is_valued = one.fact.kind != "statement"
        if is_valued and facts.fits(slots, [one.fact]).slot in ("", "kind"):
            found[one.fact.kind].append(one)
    return found


def _stated(said: Said) -> Iterable[_Stated]:
    for sentence in split_sentences(said.text):
        for fact in facts.read(sentence, beside=said.beside or None):
            yield _Stated(fact, sentence[fact.value.start : fact.value.end].strip(" ,"))


def _pairs(
    old: list[_Stated], new: list[_Stated]
) -> Iterable[tuple[Sequence[_Stated], Sequence[_Stated]]]:
    """Those that are said of the same: day, person, side, unit; else the only one of each."""
    befores, afters = _by_about(old), _by_about(new)
    same = befores.keys() & afters.keys()
    if same:
        return [(befores[key], afters[key]) for key in same]
    if len(old) == len(new) == 1 and _comparable(old[0].fact, new[0].fact):
        return [(old, new)]
    return []


def _by_about(found: list[_Stated]) -> dict[tuple[object, ...], list[_Stated]]:
    keyed: dict[tuple[object, ...], list[_Stated]] = defaultdict(list)
    for one in found:
        keyed[one.about].append(one)
    return keyed


def _comparable(one: Fact, other: Fact) -> bool:
    """Whether nothing says that they are of different days, people, sides or units."""
    a, b = one.qualifiers, other.qualifiers
    pairs = ((a.days, b.days), (a.audience, b.audience), (one.attribute, other.attribute))
    per = {one.value.per, other.value.per} - {""}
    return len(per) <= 1 and all(not x or not y or x & y for x, y in pairs)


def _conflict_of(old: Sequence[_Stated], new: Sequence[_Stated]) -> bool:
    """Whether each side has a value that the other has not."""
    before, after = ([of.fact.value for of in one] for one in (old, new))
    return not _all_in(before, after) and not _all_in(after, before)


def _all_in(some: Sequence[Value], others: Sequence[Value]) -> bool:
    return all(any(_same(one, other) for other in others) for one in some)


def _same(one: Value, other: Value) -> bool:
    """Whether they say the same, or may: what is put in two ways is not compared."""
    if one.kind == "time":
        return _same_times(one.value, other.value)
    if one.kind == "duration":
        return _minutes(one) == _minutes(other)
    if one.kind in _AS_WRITTEN:
        ways = [_DIGITS.sub("#", value.value) for value in (one, other)]
        return one.value == other.value or ways[0] != ways[1]
    if one.kind == "email":
        return one.value == other.value
    if one.kind != "percentage" and one.unit != other.unit:
        return False
    few, many = sorted((_numbers(one.value), _numbers(other.value)), key=len)
    return set(few) <= set(many)  # "$16 to $78" and "$78"


def _numbers(value: str) -> list[Decimal | str]:
    return [_number(end) for end in value.split("-")]


def _same_times(one: str, other: str) -> bool:
    """Whether they may be one time; of which half of the day is not always said, nor both ends."""
    if _ALWAYS.match(one) and _ALWAYS.match(other):
        return True
    few, many = sorted((one.split("-"), other.split("-")), key=len)
    return all(any(_same_time(end, another) for another in many) for end in few)


def _same_time(one: str, other: str) -> bool:
    a, b = _CLOCK.match(one), _CLOCK.match(other)
    if a is None or b is None:
        return one == other
    hours, is_loose = (int(a[1]), int(b[1])), not (_half_is_said(one) and _half_is_said(other))
    same_hour = hours[0] % _HALF_DAY == hours[1] % _HALF_DAY if is_loose else hours[0] == hours[1]
    return same_hour and int(a[2] or 0) == int(b[2] or 0)


def _half_is_said(clock: str) -> bool:
    """ "09:00" and "15:00" say it, "9" and "9:30" do not."""
    hour = clock.partition(":")[0]
    return hour.startswith("0") or int(hour) >= _HALF_DAY


def _minutes(value: Value) -> object:
    numbers = _numbers(value.value)
    per = _MINUTES.get(value.unit)
    if per is None or not all(isinstance(one, Decimal) for one in numbers):
        return value.value, value.unit
    return [one * per for one in numbers if isinstance(one, Decimal)]


def _number(text: str) -> Decimal | str:
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _list(found: Sequence[_Stated]) -> str:
    return " and ".join(dict.fromkeys(one.written for one in found))


# Days


def _days(slots: Slots, old: Said, new: Said) -> str:
    """Which day something is, where that is asked: "on Tuesday" against "on Friday"."""
    if slots.kind not in ("when", "date", "day", "time") or slots.qualifiers.days:
        return ""
    before, after = named_days(old.text), named_days(new.text)
    if before and after and not before & after:
        return f"day: {', '.join(sorted(before))}, now {', '.join(sorted(after))}"
    return ""


# Yes and no


def _yes_no(old: str, new: str) -> str:
    was, is_now = _YES_NO.match(old), _YES_NO.match(new)
    if was and is_now:
        word, another = was[1].lower(), is_now[1].lower()
        return f"{word}, now {another}" if word != another else ""
    before, after = old[was.end() if was else 0 :], new[is_now.end() if is_now else 0 :]
    sides_before, sides_after = sides(before.lower()), sides(after.lower())
    if any(other(side) in sides_after and side not in sides_after for side in sides_before):
        return ""  # of something else: "for adults", "for children"
    known = evidence_of((before,))
    for text in split_sentences(after):
        if found := _turned(sentence_of(text), known):
            return found
    return ""


def _turned(said: Sentence, known: Evidence) -> str:
    """What ``said`` turns round of the sentence before that has nearly the same words; or ''."""
    near = [one for one in known.nearest(said, _NEAR) if _is_alike(said, one)]
    if not near:
        return ""
    if against := opposite(said, known, near):
        return against.replace(", where the evidence has ", " is said, before ")
    if all(negators(one.words) % 2 == negators(said.words) % 2 for one in near):
        return ""
    denied, asserted = flipped(said, near)
    if denied or asserted:
        return f"denied now: {denied}" if denied else f"no longer denied: {asserted}"
    return ""


def _is_alike(one: Sentence, another: Sentence) -> bool:
    """Whether both have nearly the same words that name something."""
    a, b = ({word.stem for word in of.content} - _TURNING for of in (one, another))
    return len(a & b) >= _ALIKE * len(a | b)
