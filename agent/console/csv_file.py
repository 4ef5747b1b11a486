"""Rows as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The header and every row, each ended as RFC 4180 has it.

    What a caller said may begin like a formula; such a cell begins with an apostrophe, so that a
    spreadsheet shows it and does not run it (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    yield _line(names)
    for row in rows:
        yield _line([_cell(value) for value in row])


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
