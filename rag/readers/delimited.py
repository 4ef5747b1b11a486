"""CSV and TSV: the delimiter found from the rows, broken quotes named with their line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from rag.readers.decode import decode
from rag.readers.tables import Row, read_rows
from rag.readers.types import Block, Content, Damaged

# Of two that fit as well, the one that prose has less of.
_DELIMITERS = "\t;|,"
_SAMPLE = 50
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class _Record:
    """One record: its number from 1, its cells, and its span in the text."""

    number: int
    cells: list[str]
    start: int
    end: int


def read(data: bytes) -> Content:
    """The rows of a table in a text file. ``Block.row`` is the record's number, from 1."""
    text = decode(data)
    return _read(text, _delimiter(text))


def read_tabs(data: bytes) -> Content:
    """The same for a table whose name says that tabs part its cells."""
    return _read(decode(data), "\t")


def _read(text: str, delimiter: str) -> Content:
    records = _records(text, delimiter)
    notes: list[str] = []
    width = len(records[0].cells) if records else 0
    rows = [(one.number, _even(one, width, delimiter, notes)) for one in records]
    title, found = read_rows(rows)
    by_number = {record.number: record for record in records}
    blocks = [_block(text, row, by_number[row.number], title, delimiter, width) for row in found]
    return Content(text, tuple(blocks), (), tuple(notes))


def _records(text: str, delimiter: str) -> list[_Record]:
    """The records of ``text`` that are not blank."""
    lines = list(io.StringIO(text, newline=""))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    records: list[_Record] = []
    number, line_number = 0, 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise Damaged(
                f"the quotes of the record that starts on line {line_number + 1} are broken "
                f'({error}); put " around the whole cell and write "" for a quote inside it'
            ) from error
        if cells is None:
            return records
        number += 1
        if any(cell.strip() for cell in cells):
            span = starts[line_number], starts[reader.line_num]
            records.append(_Record(number, cells, *span))
        line_number = reader.line_num


def _delimiter(text: str) -> str:
    """The delimiter that cuts most of the first records into the same number of cells.

    The standard library's sniffer fails on short tables of prose, which these are.
    """
    best, best_share = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            records = [cells for cells, _ in zip(reader, range(_SAMPLE), strict=False) if cells]
        except csv.Error:
            continue
        counts = Counter(len(cells) for cells in records)
        del counts[1]
        share = max(counts.values(), default=0) / max(1, len(records))
        if share > best_share:
            best, best_share = delimiter, share
    return best


def _even(record: _Record, width: int, delimiter: str, notes: list[str]) -> list[str]:
    """Cells beyond the header's are a comma left without quotes: joined again, and noted."""
    cells = record.cells
    if 1 < width < len(cells):
        notes.append(f"row {record.number} has {len(cells)} cells, not {width}; joined the last")
        return [*cells[: width - 1], delimiter.join(cells[width - 1 :])]
    return cells


def _block(text: str, row: Row, record: _Record, title: str, delimiter: str, width: int) -> Block:
    source = text[record.start : record.end]
    first, last = 0, len(source)
    if row.cell is not None:
        spans = _cell_spans(source, delimiter)
        first = last = spans[-1][1]
        if row.cell < len(spans):
            first = spans[row.cell][0]
            last = spans[-1 if row.cell == width - 1 else row.cell][1]
    cut = source[first:last]
    start = record.start + first + len(cut) - len(cut.lstrip())
    end = start + len(cut.strip())
    return Block(row.text, row.topic or title, None, row.number, start, end, row.kind, row.question)


def _cell_spans(source: str, delimiter: str) -> list[tuple[int, int]]:
    """Where each cell of a record stands, the quotes around it left out."""
    bare = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    spans: list[tuple[int, int]] = []
    at = 0
    while True:
        found = _QUOTED.match(source, at)
        if found:
            spans.append(found.span(1))
        else:
            found = bare.match(source, at)
            assert found is not None
            spans.append(found.span())
        at = found.end()
        if source[at : at + 1] != delimiter:
            return spans
        at += 1
