"""The check digit of card numbers."""

from __future__ import annotations


def passes_luhn(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        double = int(digit) * (1 + place % 2)
        total += double - 9 * (double > 9)
    return total % 10 == 0
