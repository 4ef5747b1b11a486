"""Whether a fact that would be spoken answers what was asked, by rules that can be named.

Each rule can only fail a fact; one that no rule fails fits. They are made to miss a wrong fact
rather than to refuse a right one: what is not said conflicts with nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.days import WEEKDAYS
from rag.facts.contrasts import Contrasts
from rag.facts.kinds import answers
from rag.facts.named import other_one
from rag.facts.opposites import SOFT, TOLD, other
from rag.facts.types import Fact, Fit, Slots

# Paid and paid back for one and the same thing.
_ENDS = frozenset(("opening", "closing"))
_RELATED = (frozenset(("deposit", "refund", "cancellation")), frozenset(("key", "parking")),
            frozenset(("pets", "smoking")),
            frozenset(("spa", "towels", "gym", "pool", "laundry", "sauna")))  # fmt: skip
# "Adults only" says what holds for children.
_ONLY = re.compile(r"\bonly\b")
_A_PLAN = 3  # days and more: the whole of a plan, of which no other day is part
_OTHERWISE = re.compile(
    r"\botherwise\b|\b(?:all )?(?:the )?other (?:days|nights|times)\b|\bthe rest of\b"
)
_HOLIDAY = re.compile(r"\bholidays?\b")
_VALUED = frozenset(("money", "time", "duration", "phone", "when", "frequency", "age", "distance"))


def fits(slots: Slots, facts: Sequence[Fact], contrasts: Contrasts | None = None) -> Fit:
    """Whether one of ``facts``, those that carry what would be spoken, answers ``slots``.

    ``facts`` are all of a sentence if it is spoken whole. Without any the answer is no.
    """
    if not facts:
        return Fit(False, slot="kind", reason="no fact")
    kinds = frozenset(one.kind for one in facts)
    words = " ".join(one.said for one in facts)
    if slots.kind and not answers(slots.kind, kinds, words):
        return Fit(False, facts[0], "kind", f"asked for {slots.kind}, has none")
    first: Fit | None = None
    for fact in facts:
        found = _conflict(slots, fact, words)
        if found is None and contrasts and (clash := contrasts.clash(slots, fact)):
            found = "subject", clash
        if found is None:
            return Fit(True, fact)
        first = first or Fit(False, fact, *found)
    assert first is not None
    return first


def same_slots(one: Slots, other: Slots) -> bool:
    """Whether two questions ask for the same kind, day and side: what answers one answers both."""
    return (one.kind, one.attribute, one.qualifiers.days) == (
        other.kind,
        other.attribute,
        other.qualifiers.days,
    )


def _conflict(slots: Slots, fact: Fact, words: str) -> tuple[str, str] | None:
    """The slot that ``fact`` does not fit and why, or None."""
    asked, stated = slots.qualifiers, fact.qualifiers
    if (
        asked.days
        and stated.days
        and not asked.days & stated.days
        and not _covers(slots, stated.days, words)
    ):
        return "day", f"asked about {_list(asked.days)}, said of {_list(stated.days)}"
    loose = SOFT if fact.kind == "time" else SOFT | _ENDS
    for side in sorted(slots.attribute - (loose | TOLD if slots.is_yes_no else loose)):
        opposite = other(side)
        if opposite in fact.attribute and side not in fact.attribute and not _ONLY.search(words):
            return "attribute", f"asked about {side}, said of {opposite}"
    if another := other_one(slots.text, words):
        return "place", another
    one, two = asked.service, stated.service
    if slots.kind in _VALUED and one and two and not one & two and not _related(one, two):
        return "service", f"asked about {_list(one)}, said of {_list(two)}"
    return None


def _covers(slots: Slots, stated: frozenset[str], words: str) -> bool:
    """Whether a sentence that names other days still tells of the day asked.

    "Weekdays only" does; "public holidays" of a holiday, "otherwise" of the rest; and of whether
    there is anything on a Tuesday, "Wednesday to Sunday".
    """
    if _OTHERWISE.search(words):
        return True
    if slots.is_yes_no and (_ONLY.search(words) or len(stated) >= _A_PLAN):
        return True
    asked = slots.qualifiers.days
    is_holiday = not asked <= frozenset(WEEKDAYS) or _HOLIDAY.search(slots.text)
    return bool(is_holiday and _HOLIDAY.search(words))


def _related(one: frozenset[str], two: frozenset[str]) -> bool:
    return any(group & one and group & two for group in _RELATED)


def _list(names: frozenset[str]) -> str:
    order = {day: n for n, day in enumerate(WEEKDAYS)}
    return ", ".join(sorted(names, key=lambda name: (order.get(name, 7), name)))
