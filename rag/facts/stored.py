"""Facts as plain values, to be kept in an index, and made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.facts.types import Fact, Qualifiers, Value


def plain(facts: Sequence[Fact]) -> list[Any]:
    """The facts of one sentence as arrays of plain values; what they share stands once."""
    around = sorted(frozenset[str]().union(*(fact.around for fact in facts)))
    return [around, *map(_row, facts)]


def made(around: Sequence[str], *rows: Sequence[Any]) -> tuple[Fact, ...]:
    """The facts that :func:`plain` wrote."""
    shared = frozenset(around)
    return tuple(
        Fact(
            Value(*value),
            frozenset(subject),
            frozenset(attribute),
            Qualifiers(frozenset(days), frozenset(audience), frozenset(service), place, condition),
            shared,
            said,
        )
        for value, subject, attribute, days, audience, service, place, condition, said in rows
    )


def _row(fact: Fact) -> list[Any]:
    value, held = fact.value, fact.qualifiers
    return [
        [value.kind, value.value, value.unit, value.start, value.end, value.bound, value.per],
        *map(sorted, (fact.subject, fact.attribute, held.days, held.audience, held.service)),
        held.place,
        held.condition,
        fact.said,
    ]
