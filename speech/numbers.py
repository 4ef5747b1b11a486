"""Numbers as words: the ways an American reads digits aloud."""

from __future__ import annotations

from num2words import num2words

_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def cardinal(number: str) -> str:
    """``1,250`` -> one thousand two hundred fifty; ``98.6`` -> ninety-eight point six."""
    whole, _, fraction = number.replace(",", "").partition(".")
    words = str(num2words(int(whole or "0"))).replace(",", "").replace(" and ", " ")
    return f"{words} point {digits(fraction)}" if fraction else words


def ordinal(number: str) -> str:
    """``22`` -> twenty-second."""
    return str(num2words(int(number), to="ordinal")).replace(",", "").replace(" and ", " ")


def digits(number: str, *, zero: str = "zero") -> str:
    """``0142`` -> zero one four two, one word a digit; anything else in it is dropped."""
    return " ".join(zero if d == "0" else _DIGITS[int(d)] for d in number if d in "0123456789")


def phone(groups: list[str]) -> str:
    """Groups of a phone number, digit by digit, a comma (a pause) between groups."""
    return ", ".join(
        "eight hundred" if group == "800" else digits(group, zero="oh") for group in groups
    )


def year(number: str) -> str:
    """``1998`` -> nineteen ninety-eight; ``2005`` -> two thousand five; ``2026`` -> twenty
    twenty-six.
    """
    value = int(number)
    if 2000 <= value <= 2009 or value % 1000 == 0:
        return cardinal(number)
    return pairs(number)


def pairs(number: str) -> str:
    """Three or four digits as a room or a house reads them.

    ``204`` -> two oh four; ``312`` -> three twelve; ``1420`` -> fourteen twenty; ``1200`` ->
    twelve hundred. Shorter and longer numbers are read as cardinals and as digits.
    """
    if len(number) < 3:
        return cardinal(number)
    if len(number) > 4 or number.startswith("0"):
        return digits(number)
    head, tail = number[:-2], number[-2:]
    if number[-3:] == "000":
        return cardinal(number)
    if tail == "00":
        return f"{cardinal(head)} hundred"
    if tail[0] == "0":
        return f"{cardinal(head)} oh {cardinal(tail[1])}"
    return f"{cardinal(head)} {cardinal(tail)}"


def clock(hour: str, minute: str | None) -> str:
    """``8``, ``30`` -> eight thirty; ``9``, ``05`` -> nine oh five; ``9``, ``00`` -> nine."""
    words = cardinal(hour)
    if not minute or minute == "00":
        return words
    if minute[0] == "0":
        return f"{words} oh {cardinal(minute[1])}"
    return f"{words} {cardinal(minute)}"


def money(amount: str, unit: str, units: str, cent: str, cents: str) -> str:
    """``12.50`` -> twelve dollars and fifty cents, for the currency named."""
    whole, _, fraction = amount.replace(",", "").partition(".")
    minor = int((fraction + "0")[:2]) if fraction else 0
    parts = []
    if int(whole or "0") or not minor:
        parts.append(f"{cardinal(whole or '0')} {unit if int(whole or '0') == 1 else units}")
    if minor:
        parts.append(f"{cardinal(str(minor))} {cent if minor == 1 else cents}")
    return " and ".join(parts)
