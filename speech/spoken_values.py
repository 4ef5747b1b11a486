"""What a caller said, as values: times, dates, money, phone numbers, amounts, addresses of the net.

``values_of("half past seven")`` holds the time 07:30, ``written("it costs forty dollars")`` is "it
costs $40". Text in digits is understood as well, since recognisers write both.

Some words mean several things: "seven thirty" is 07:30 or 19:30 or 730, "two fifty" is 2:50 or
$2.50 or 250. The likeliest is the value, the rest are its ``others``, and :func:`agree` takes two
values for the same if they have a meaning in common.
"""

from __future__ import annotations

from collections.abc import Container

from speech.languages import language_of
from speech.values import Kind, Value, agree
from speech.values_en import values_of as _english
from speech.values_hi import values_of as _hindi

__all__ = ["Kind", "Value", "agree", "states", "values_of", "written"]


def values_of(text: str, language: str | None = None) -> tuple[Value, ...]:
    """The values that ``text`` states, in its order; none of them overlap.

    ``language`` is "en" or "hi", and by the script of ``text`` where it is not given.
    """
    if (language or language_of(text, ("en", "hi"))) == "hi":
        return _hindi(text)
    return _english(text)


def states(text: str, value: Value, language: str | None = None) -> bool:
    """Whether ``text`` states ``value``, in whatever words or digits."""
    return any(agree(one, value) for one in values_of(text, language))


def written(
    text: str, language: str | None = None, kinds: Container[Kind] = frozenset(Kind)
) -> str:
    """``text`` with its values as they are written: "at 7:30 a.m.", "$12.50", "555-0142".

    Lone numbers below ten stay words ("one of them"), and so does all that states no value of
    ``kinds``.
    """
    parts: list[str] = []
    end = 0
    for value in values_of(text, language):
        if value.kind not in kinds:
            continue
        parts += text[end : value.start], value.written
        # The last stop of "a.m." is the sentence's as well.
        end = value.end + (value.written.endswith(".") and text.startswith(".", value.end))
    return "".join(parts) + text[end:]
