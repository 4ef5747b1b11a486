"""Edit distance: how many letters or words differ."""

from __future__ import annotations

from collections.abc import Sequence


def edits(a: Sequence[str], b: Sequence[str], limit: int | None = None) -> int:
    """Insertions, deletions and substitutions from ``a`` to ``b`` (Levenshtein, 1966).

    Letters for strings, words for lists. Given up with ``limit + 1`` once it must be more.
    """
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        if limit is not None and min(row) > limit:
            return limit + 1
    return row[-1]
