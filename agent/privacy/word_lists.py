"""Names, from the lists in ``data``. Sources and licences stand at the head of each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("data")


@cache
def first_names() -> frozenset[str]:
    """Lower case, without those that are ordinary words as well."""
    names = _lines("first_names.txt")
    return frozenset(name.removesuffix("+") for name in names if not name.endswith("~"))


@cache
def common_names() -> frozenset[str]:
    """The first names that are names wherever they stand."""
    return frozenset(name[:-1] for name in _lines("first_names.txt") if name.endswith("+"))


@cache
def word_names() -> frozenset[str]:
    """First names that are ordinary words or places as well: "will", "april", "paris"."""
    return frozenset(name[:-1] for name in _lines("first_names.txt") if name.endswith("~"))


@cache
def surnames() -> frozenset[str]:
    """Lower case; many are words as well, so they count only after a first name."""
    return frozenset(_lines("surnames.txt"))


@cache
def no_names() -> frozenset[str]:
    """Words that are no name even after "I'm" or "my son"."""
    return frozenset(_lines("no_names.txt"))


def _lines(name: str) -> list[str]:
    lines = (_DATA / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
