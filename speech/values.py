"""A value that was said: of which kind, what it is, and what else the words may mean."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum


class Kind(Enum):
    """What sort of value, and what a :class:`Value` of it holds."""

    TIME = "time"
    """"HH:MM", of 24 hours."""
    DATE = "date"
    """ISO: "2026-03-23", "03-23" of any year, "2026-03" of no day."""
    MONEY = "money"
    """A Decimal; the unit is the currency's ISO code."""
    PERCENT = "percent"
    """A Decimal."""
    MEASURE = "measure"
    """A Decimal; the unit is its English name, of one: "minute", "milligram"."""
    PHONE = "phone"
    """Digits, with a + before a country where one was said."""
    NUMBER = "number"
    """A Decimal."""
    DIGITS = "digits"
    """Digits said one by one, zeros kept: "0142"."""
    ORDINAL = "ordinal"
    """A Decimal."""
    LETTERS = "letters"
    """Letters and digits that were spelled: "MRI", "B12"."""
    EMAIL = "email"
    """Lower case."""
    WEB = "web"
    """Lower case, without a scheme."""


Meaning = tuple[Kind, Decimal | str]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a text, ``text[start:end]``.

    ``written`` is how it is written, ``unit`` a currency or a unit of measure. ``others`` are other
    meanings of the same words, less likely ones.
    """

    kind: Kind
    value: Decimal | str
    start: int
    end: int
    written: str
    unit: str = ""
    others: tuple[Meaning, ...] = ()

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """All that the words may mean, the likeliest first."""
        return ((self.kind, self.value), *self.others)


def agree(one: Value, other: Value) -> bool:
    """Whether two values have a meaning in common.

    Units must be the same where both have one. Phone numbers agree with and without the country's
    1; a number agrees with its digits, an ordinal, and a phone number of as many digits; a date
    of no year agrees with that day of any year.
    """
    if one.unit and other.unit and one.unit != other.unit:
        return False
    if one.kind is other.kind is Kind.DATE:
        short, long = sorted((str(one.value), str(other.value)), key=len)
        return short == long or (len(long) == 10 and long[4:] == f"-{short}")
    mine = {m for meaning in one.meanings for m in _forms(*meaning)}
    return any(m in mine for meaning in other.meanings for m in _forms(*meaning))


def _forms(kind: Kind, value: Decimal | str) -> tuple[Meaning, ...]:
    if kind in (Kind.DIGITS, Kind.PHONE) and isinstance(value, str):
        digits = value.removeprefix("+")
        digits = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
        return ((Kind.DIGITS, digits),)
    if kind in (Kind.NUMBER, Kind.ORDINAL) and isinstance(value, Decimal):
        whole = value == value.to_integral_value() and value >= 0
        number: Meaning = (Kind.NUMBER, value.normalize())
        return (number, (Kind.DIGITS, format(value, ".0f"))) if whole else (number,)
    if isinstance(value, Decimal):
        return ((kind, value.normalize()),)
    return ((kind, value.lower()),)
