"""XLSX: each sheet a table; numbers, dates and times written as the sheet shows them."""

from __future__ import annotations

import re
import warnings
import zipfile
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from rag.readers.merged import Merged, spread
from rag.readers.needs import need
from rag.readers.office import opened
from rag.readers.tables import read_rows
from rag.readers.types import Content, Page
from rag.readers.write_rows import write_rows

_MERGE = re.compile(rb'mergeCell\b[^>]*?\bref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_LONGEST_MERGE = 200
_MOST_ROWS = 1_048_576
"""As many as a sheet can have; a row that claims a higher number is not waited for."""
_PLAIN_TITLE = re.compile(r"(?:Sheet|Tabelle|Feuil|Hoja)\s*\d*", re.I)
_ZEROS = re.compile(r"0{2,}")
_SYMBOL = re.compile(r'\[\$([^\]\-]+)|"([$€£₹])"|([$€£₹])')


def read(data: bytes) -> Content:
    """The rows of every visible sheet. A formula counts with the value last stored for it."""
    openpyxl = need("openpyxl")
    with opened(data, "XLSX", "xl/workbook.xml") as file, warnings.catch_warnings():
        # Styles and extensions that openpyxl drops hold no text.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        page = Page()
        with zipfile.ZipFile(file) as archive:
            for sheet in book.worksheets:
                _sheet(page, sheet, _merged(archive, sheet))
        book.close()
    return page.content()


def _sheet(page: Page, sheet: Any, merged: list[Merged]) -> None:
    # A wrong range stored by another program would cut the sheet off.
    sheet.reset_dimensions()
    numbered = enumerate(islice(sheet.rows, _MOST_ROWS), 1)
    cells = ((number, [_shown(cell) for cell in row]) for number, row in numbered)
    rows = [(number, row) for number, row in cells if any(row)]
    title, found = read_rows(spread(rows, merged))
    if sheet.sheet_state != "visible":
        page.hidden += [row.text for row in found if row.text]
        return
    name = "" if _PLAIN_TITLE.fullmatch(sheet.title) else sheet.title
    if found:
        page.heading = ""
        page.head(title or name)
        write_rows(page, "", found)


def _merged(archive: zipfile.ZipFile, sheet: Any) -> list[Merged]:
    """The merged cells of a sheet, which openpyxl leaves out when it reads row by row."""
    found: set[tuple[bytes, ...]] = set()
    rest = b""
    with archive.open(sheet._worksheet_path.lstrip("/")) as file:
        while part := file.read(1 << 20):
            found.update(_MERGE.findall(rest + part))
            rest = part[-_LONGEST_MERGE:]
    return [
        Merged(int(top), _column(left), int(bottom), _column(right))
        for left, top, right, bottom in sorted(found)
    ]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1


def _shown(cell: Any) -> str:
    """A cell's value as a person sees it."""
    value, shape = cell.value, str(getattr(cell, "number_format", None) or "")
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (datetime, date, time)):
        return _moment(value)
    if isinstance(value, (int, float)):
        return _number(value, shape)
    return str(value)


def _number(value: float, shape: str) -> str:
    if "%" in shape:
        return f"{_digits(value * 100)}%"
    if _ZEROS.fullmatch(shape) and value == int(value):  # a post code: 02139 is not 2139
        return f"{int(value):0{len(shape)}}"
    symbol = _SYMBOL.search(shape)
    amount = f"{value:,.2f}" if symbol and value != int(value) else _digits(value)
    return f"{next(filter(None, symbol.groups()))}{amount}" if symbol else amount


def _digits(value: float) -> str:
    """No noise of binary fractions, no point without digits behind it."""
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return text if text != "-0" else "0"


def _moment(value: datetime | date | time) -> str:
    parts = []
    if isinstance(value, date):
        parts.append(f"{value:%B} {value.day}, {value.year}")
    if isinstance(value, time) or (isinstance(value, datetime) and value.time() != time()):
        half = "a.m." if value.hour < 12 else "p.m."
        minutes = f":{value.minute:02}" if value.minute else ""
        parts.append(f"{value.hour % 12 or 12}{minutes} {half}")
    return " ".join(parts)
