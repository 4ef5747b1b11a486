"""The values of the documents, which are nobody's: opening hours, prices, the desk's own number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent.privacy.nets import addresses_of
from agent.privacy.word_lists import first_names, surnames
from agent.privacy.words import runs_of, words_of

_CAPITAL = re.compile(r"(?<![\w'’])[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST, _PHONE, _LONGEST = 4, 7, 19


def kept_values(texts: Iterable[str]) -> frozenset[str]:
    """What stands in ``texts`` and is not hidden, as :func:`agent.privacy.redact` takes it.

    Numbers as their digits, addresses in lower case, and names in lower case.
    """
    kept: set[str] = set()
    for text in texts:
        for run in runs_of(words_of(text)):
            # A phone number may stand beside a time: each row of its parts counts.
            said = [part.said for part in run][:40]
            rows = ("".join(said[a:b]) for a in range(len(said)) for b in range(a + 1, a + 9))
            for row in rows:
                if _SHORTEST <= len(row) <= _LONGEST:
                    kept.add(row)
                # What is looked up may have lost its last "oh": it is a filler word as well.
                if _PHONE <= len(row) <= _LONGEST:
                    kept.add(row.rstrip("0"))
        kept.update(address.value for address in addresses_of(text))
        kept.update(_names(text))
    return frozenset(kept)


def _names(text: str) -> Iterator[str]:
    """Capitals inside of sentences, and names anywhere."""
    for match in _CAPITAL.finditer(text):
        word = match.group().lower()
        begins = match.start() == 0 or text[: match.start()].endswith((". ", "\n"))
        if not begins or word in first_names() or word in surnames():
            yield word


def is_kept_number(digits: str, keep: frozenset[str]) -> bool:
    """Whether ``digits`` stand in the documents, with or without the country's 1."""
    if digits in keep:
        return True
    return (len(digits) == 11 and digits[0] == "1" and digits[1:] in keep) or (
        len(digits) == 10 and f"1{digits}" in keep
    )
