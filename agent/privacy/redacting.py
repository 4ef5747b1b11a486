"""One text without what is personal in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from agent.privacy.births import find_births
from agent.privacy.digits import find_numbers
from agent.privacy.kinds import Found, Kind, Redacted, overlaps
from agent.privacy.names import find_names
from agent.privacy.nets import addresses_of
from agent.privacy.words import words_of

_LONGEST = 4000
"""Letters that are looked through: five minutes of speech in one turn. The rest of what is longer
is left out, since it would hold up the call."""
_PLACEHOLDER = re.compile(r"\[(?:" + "|".join(kind.value for kind in Kind) + r")\]")


def redact(text: str, keep: frozenset[str] = frozenset()) -> Redacted:
    """``text`` with placeholders for what is personal, but not for values of ``keep``.

    ``keep`` is :func:`agent.privacy.kept_values` of the documents. What is a placeholder already
    stays one, so redacting twice changes nothing.
    """
    return cached(text, keep)


@lru_cache(maxsize=256)
def cached(text: str, keep: frozenset[str]) -> Redacted:
    """As :func:`redact`: an event holds the same text several times."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} …"
    found = find(text, keep)
    return Redacted(replaced(text, found, lambda one: one.kind.placeholder), tuple(found))


def find(text: str, keep: frozenset[str] = frozenset()) -> list[Found]:
    """What is personal in ``text``, in its order; none of it overlaps."""
    taken = [Found(Kind.NAME, m.start(), m.end()) for m in _PLACEHOLDER.finditer(text)]
    placeholders = len(taken)
    for address in addresses_of(text):
        if address.value not in keep and not overlaps(address.start, address.end, taken):
            taken.append(Found(Kind.EMAIL, address.start, address.end))
    words = words_of(text)
    _add(taken, find_births(text, words))
    _add(taken, find_numbers(text, words, taken, keep))
    _add(taken, find_names(text, keep))
    return sorted(taken[placeholders:], key=lambda one: one.start)


def _add(taken: list[Found], found: Iterable[Found]) -> None:
    """Add what overlaps nothing; of two names from one place the longer."""
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not overlaps(one.start, one.end, taken):
            taken.append(one)


def replaced(text: str, found: Iterable[Found], by: Callable[[Found], str]) -> str:
    """``text`` with each of ``found`` replaced by what ``by`` makes of it."""
    parts: list[str] = []
    end = 0
    for one in found:
        parts += text[end : one.start], by(one)
        end = one.end
    return "".join(parts) + text[end:]
