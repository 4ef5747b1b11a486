"""What one business's callers were misheard as: ``KB/mishearings.jsonl``.

One JSON object a line with ``heard`` and ``meant``, both as words; further keys are kept beside
them by ``frontdesk kb mishearings`` and not read here. A person puts a row there; nothing that was
only proposed is ever read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frontdesk import KnowledgeBaseError
from rag.rewrite import words

MISHEARINGS_FILE = "mishearings.jsonl"
PROPOSED_FILE = "mishearings.proposed.jsonl"
LONGEST = 4
"""Words of a heard phrase at the most."""


@dataclass(frozen=True, slots=True)
class Mishearing:
    """``heard`` is what the recogniser writes when a caller says ``meant``; lower-case words."""

    heard: str
    meant: str


def read(path: Path) -> tuple[Mishearing, ...]:
    """The rows of a file; none if there is no such file.

    Raises:
        KnowledgeBaseError: if it cannot be read, or a row is not a mishearing; the line names the
            row and says how to mend it.
    """
    if not path.exists():
        return ()
    found: dict[str, Mishearing] = {}
    try:
        lines = path.read_text("utf-8").split("\n")  # U+2028 may stand in a text
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeBaseError(
            f"cannot read {path} ({error}); make it a readable UTF-8 file, or remove it"
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = mishearing(json.loads(line))
            if row.heard in found and found[row.heard] != row:
                raise ValueError(f"{row.heard!r} is there already with another meaning")
        except ValueError as error:
            raise KnowledgeBaseError(
                f"{path} row {number}: {error}; mend the row or take it out"
            ) from error
        found[row.heard] = row
    return tuple(found.values())


def mishearing(row: Any) -> Mishearing:
    """One row as read from JSON.

    Raises:
        ValueError: if it is not one; the text says why.
    """
    if not isinstance(row, dict) or not all(
        isinstance(row.get(k), str) for k in ("heard", "meant")
    ):
        raise ValueError('needs "heard" and "meant", both texts')
    heard, meant = words(row["heard"]), words(row["meant"])
    if not heard or not meant:
        raise ValueError('"heard" and "meant" need a word each')
    if len(heard) > LONGEST:
        raise ValueError(f'"heard" has {len(heard)} words, at most {LONGEST} are looked for')
    if any(char.isdigit() for char in row["heard"] + row["meant"]):
        raise ValueError("a number is never repaired")
    if heard == meant:
        raise ValueError('"heard" and "meant" are the same words')
    return Mishearing(" ".join(heard), " ".join(meant))


def by_words(dictionary: Iterable[Mishearing]) -> dict[tuple[str, ...], str]:
    """The meaning by the words heard."""
    return {tuple(row.heard.split()): row.meant for row in dictionary}
