"""Tables in the lines of a PDF page: cells told by the gaps between them.

A PDF knows no tables. Two lines or more of which each holds cells, one under the other, are taken
for one; a line with one cell beneath another of its row goes on with that cell. A table whose
cells are written column by column is not seen as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LONGEST_MEAN = 40
"""Cells of more characters on average are columns of prose."""

_LARGEST_STEP = 3
"""From one row down to the next, in sizes of the type."""

_MARK = re.compile(r"[^\w$€£₹]*|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]+)[.)]")


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of a line with no wide gap between them; ``left`` and ``right`` are in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page; ``y`` is its baseline in points, upward, and ``size`` its font's."""

    text: str
    y: float | None
    size: float | None
    bold: bool = False
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; ``named`` is whether the first one names the columns, if that can be told."""

    rows: tuple[tuple[int, list[str]], ...]
    named: bool | None


def split_tables(lines: Sequence[Line]) -> Iterator[list[Line] | Table]:
    """``lines`` in order: runs of lines as they are, and tables."""
    rest: list[Line] = []
    at = 0
    while at < len(lines):
        end = _run(lines, at)
        rows = _rows(lines[at:end]) if end > at else []
        if rows:
            if rest:
                yield rest
            rest = []
            yield Table(tuple(enumerate(rows, 1)), _is_named(lines[at:end], rows))
        else:
            end = max(end, at + 1)
            rest += lines[at:end]
        at = end
    if rest:
        yield rest


def _run(lines: Sequence[Line], at: int) -> int:
    """Where the lines with cells that begin at ``at`` end, those that go on with one included."""
    end = at
    while end < len(lines) and (end == at or _is_beneath(lines[end], lines[end - 1])):
        if len(lines[end].cells) < 2 and (end == at or not _goes_on(lines[end], lines[at:end])):
            break
        end += 1
    return end


def _is_beneath(line: Line, above: Line) -> bool:
    if line.y is None or above.y is None:
        return False
    return 0 < above.y - line.y < _LARGEST_STEP * (line.size or 12)


def _goes_on(line: Line, above: Sequence[Line]) -> bool:
    """Whether a line of one cell is more of a cell above, in any column but the first."""
    columns = _columns(above)
    beneath = [at for at, column in enumerate(columns) for cell in line.cells
               if _overlap(cell, column)]  # fmt: skip
    return bool(beneath) and 0 not in beneath


def _rows(lines: Sequence[Line]) -> list[list[str]]:
    """The rows of a table; none if the lines are no table."""
    columns = _columns(lines)
    wide = [line for line in lines if len(line.cells) > 1]
    if len(columns) < 2 or len(wide) < 2:
        return []
    rows: list[list[str]] = []
    for line in lines:
        row = [""] * len(columns) if len(line.cells) > 1 else rows[-1]
        for cell in line.cells:
            at = next((n for n, column in enumerate(columns) if _overlap(cell, column)), None)
            if at is None:  # PDFium gives some characters no width
                return []
            row[at] = f"{row[at]} {cell.text}".strip()
        if len(line.cells) > 1:
            rows.append(row)
    filled = [cell for row in rows for cell in row if cell]
    is_list = all(_MARK.fullmatch(row[0]) for row in rows)
    is_prose = sum(map(len, filled)) > _LONGEST_MEAN * len(filled)
    return [] if is_list or is_prose else rows


def _is_named(lines: Sequence[Line], rows: Sequence[Sequence[str]]) -> bool | None:
    """By bold type alone; two columns without are as likely names and what belongs to them."""
    if lines[0].bold and not lines[-1].bold:
        return True
    is_pairs = len(rows[0]) == 2 and not all(re.search(r"\d", row[1]) for row in rows[1:])
    return False if is_pairs else None


def _columns(lines: Sequence[Line]) -> list[Cell]:
    """The extents of the columns, from left to right."""
    columns: list[Cell] = []
    cells = (cell for line in lines if len(line.cells) > 1 for cell in line.cells)
    for cell in sorted(cells, key=lambda one: one.left):
        if columns and _overlap(cell, columns[-1]):
            last = columns[-1]
            columns[-1] = Cell("", last.left, max(last.right, cell.right))
        else:
            columns.append(Cell("", cell.left, cell.right))
    return columns


def _overlap(one: Cell, other: Cell) -> bool:
    return one.left < other.right and other.left < one.right
