"""What a sentence states, what a question asks for, and whether the one answers the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "time",
    "duration",
    "frequency",
    "date",
    "money",
    "percentage",
    "phone",
    "email",
    "address",
    "distance",
    "age",
    "measure",
    "count",
    "statement",
]
"""What a value is. ``statement`` is a sentence without any: its qualifiers still count."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value where it stands: ``text[start:end]``.

    ``value`` is written one way ("15:00", "30", "5550134"), a range as two with a hyphen. ``unit``
    is "minute", "$", "mile" and so on. ``bound`` is "at least", "at most" or nothing, ``per`` what
    it is counted by ("night").
    """

    kind: Kind
    value: str
    unit: str
    start: int
    end: int
    bound: str = ""
    per: str = ""


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """What a fact holds for; empty where nothing is said.

    ``days`` are weekdays and holidays by name, ``audience`` whom ("adult"), ``service`` what of
    the business ("parking"), ``place`` where and ``condition`` when, in the sentence's own words.
    """

    days: frozenset[str] = frozenset()
    audience: frozenset[str] = frozenset()
    service: frozenset[str] = frozenset()
    place: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One value with what it is said of.

    ``subject`` holds the stems of the content words of its clause, ``around`` those of the whole
    sentence and of what stands beside it; ``said`` is the clause. ``attribute`` are the sides that
    it is on of pairs of opposites ("opening", "check-out").
    """

    value: Value
    subject: frozenset[str]
    attribute: frozenset[str]
    qualifiers: Qualifiers
    around: frozenset[str] = field(repr=False)
    said: str = field(repr=False)

    @property
    def kind(self) -> Kind:
        """The kind of its value."""
        return self.value.kind


@dataclass(frozen=True, slots=True)
class Slots:
    """What a question asks for. ``kind`` is a name of ``rag.facts.kinds``, or empty.

    ``asked`` holds the stems of the content words of what is asked, ``subject`` those of all that
    was said. ``attribute`` are the sides of opposites asked for, each alone of its pair.
    """

    text: str
    kind: str
    asked: frozenset[str]
    subject: frozenset[str]
    attribute: frozenset[str]
    qualifiers: Qualifiers
    is_yes_no: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a fact answers what was asked, and if not, why not.

    ``fact`` is the one that does, or the one nearest to it. ``slot`` names what does not fit:
    "kind", "day", "attribute", "place", "service", "subject", or "rival" where another fits better.
    """

    ok: bool
    fact: Fact | None = None
    slot: str = ""
    reason: str = ""

    @property
    def detail(self) -> str:
        """One line for a verdict: what does not fit, or the fact that does."""
        if not self.ok:
            return f"{self.slot}: {self.reason}"
        if self.fact is None or self.fact.kind == "statement":
            return ""
        value, held = self.fact.value, self.fact.qualifiers
        of = [*sorted(self.fact.attribute), *sorted(held.days), *sorted(held.service)]
        return " ".join([f"{value.kind} {value.value}{value.unit}", *(["of", *of] if of else [])])
