"""What is personal in a text, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A closed list: records and figures compare these values."""

    CARD = "card number"
    PHONE = "phone number"
    EMAIL = "e-mail address"
    BIRTH = "date of birth"
    ACCOUNT = "account number"
    """Any other number that tells one person from all: of a member, a policy, an invoice, a PIN."""
    NAME = "name"

    @property
    def placeholder(self) -> str:
        """What stands in its place: "[card number]"."""
        return f"[{self.value}]"


@dataclass(frozen=True, slots=True)
class Found:
    """``text[start:end]`` is personal."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with placeholders, and what they stand for, in the places of the text before."""

    text: str
    found: tuple[Found, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds found, each once, sorted."""
        return tuple(sorted({one.kind.value for one in self.found}))


def overlaps(start: int, end: int, taken: Iterable[Found]) -> bool:
    """Whether any letter from ``start`` to ``end`` is taken."""
    return any(one.start < end and start < one.end for one in taken)
