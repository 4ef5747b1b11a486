"""PDF through PDFium: lines put together to paragraphs by their place and size on the page.

Lines that stand at the top or bottom of most pages ("Page 3 of 9") are no part of the text; they
are kept apart and checked. Larger or bold lines are headings.
"""

from __future__ import annotations

import ctypes
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

from rag.readers.needs import need
from rag.readers.pdf_tables import Cell, Line, Table, split_tables
from rag.readers.questions import pair_questions
from rag.readers.tables import read_rows
from rag.readers.types import Content, Damaged, Page
from rag.readers.write_rows import write_rows

_PASSWORD = 4
_HYPHENS = "\x02\ufffe\xad"
"""What PDFium gives for a hyphen that only parts a word at the end of a line."""

_PARAGRAPH_GAP = 1.3
"""A step down of more than this many times the page's usual line step starts a paragraph."""

_HEADING_SIZE = 1.15
"""A short line this much larger than the document's usual size is a heading."""

_LONGEST_HEADING = 100
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\S+")


_CELL_GAP = 1.2
"""Words further apart than this many times their size stand in two cells."""

_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy", re.I)
# PDFium may be called by one thread at a time, whatever the documents.
_lock = Lock()


def read(data: bytes) -> Content:
    """The paragraphs of a PDF with their page numbers, from 1."""
    pdfium = need("pypdfium2")
    with _lock:
        pages, notes = _pages(pdfium, data)
    if not any(line.text.strip() for lines in pages for line in lines):
        raise Damaged(
            "the PDF holds no text (scanned pages?); run text recognition (OCR) on it first"
        )
    body, running = _without_running_lines(pages)
    content = _lay_out(body).content()
    blocks = pair_questions(content.text, content.blocks)
    return Content(content.text, blocks, running, tuple(notes))


def _pages(pdfium: Any, data: bytes) -> tuple[list[list[Line]], list[str]]:
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise Damaged("the PDF is encrypted; save it without a password") from error
        raise Damaged(f"the PDF is damaged ({_message(error)}); save it again") from error
    notes: list[str] = []
    try:
        pages = [_page(pdfium, document, number, notes) for number in range(len(document))]
    finally:
        document.close()
    return pages, notes


def _page(pdfium: Any, document: Any, number: int, notes: list[str]) -> list[Line]:
    """The lines of one page; what was opened for it is closed before the next."""
    try:
        page = document[number]
        textpage = page.get_textpage()
    except pdfium.PdfiumError:
        notes.append(f"page {number + 1} is damaged and was left out")
        return []
    try:
        lines = list(_lines(pdfium.raw, textpage))
        image = pdfium.raw.FPDF_PAGEOBJ_IMAGE
        if not lines and any(True for _ in page.get_objects(filter=[image], max_depth=2)):
            notes.append(f"page {number + 1} holds an image and no text; it was left out")
        return lines
    finally:
        textpage.close()
        page.close()


def _lines(raw: Any, textpage: Any) -> Iterator[Line]:
    text = textpage.get_text_range()
    x, y = ctypes.c_double(), ctypes.c_double()
    at = 0
    for piece in text.splitlines(keepends=True):
        words = [(at + found.start(), found.group()) for found in _WORD.finditer(piece)]
        at += len(piece)
        if not words:
            continue
        char = raw.FPDFText_GetCharIndexFromTextIndex(textpage.raw, words[0][0])
        bare = piece.strip()
        if char < 0 or not raw.FPDFText_GetCharOrigin(textpage.raw, char, x, y):
            yield Line(bare, None, None)
            continue
        size = raw.FPDFText_GetFontSize(textpage.raw, char)
        last = words[-1][0] + len(words[-1][1]) - 1
        bold = all(_is_bold(raw, textpage, place) for place in (words[0][0], last))
        yield Line(bare, y.value, size, bold, tuple(_cells(raw, textpage, words, size)))


def _cells(
    raw: Any, textpage: Any, words: Sequence[tuple[int, str]], size: float
) -> Iterator[Cell]:
    """The words of one line, each with its place in the page's text, put together to cells."""
    current: Cell | None = None
    for at, word in words:
        first, last = _extent(raw, textpage, at), _extent(raw, textpage, at + len(word) - 1)
        if current and first[0] - current.right < _CELL_GAP * size:
            current = Cell(f"{current.text} {word}", current.left, last[1])
            continue
        if current:
            yield current
        current = Cell(word, first[0], last[1])
    if current:
        yield current


def _extent(raw: Any, textpage: Any, place: int) -> tuple[float, float]:
    """The left and right of the character at ``place`` in the page's text."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    char = raw.FPDFText_GetCharIndexFromTextIndex(textpage.raw, place)
    raw.FPDFText_GetCharBox(textpage.raw, char, left, right, bottom, top)
    return left.value, right.value


def _is_bold(raw: Any, textpage: Any, place: int) -> bool:
    char = raw.FPDFText_GetCharIndexFromTextIndex(textpage.raw, place)
    if raw.FPDFText_GetFontWeight(textpage.raw, char) >= _BOLD_WEIGHT:
        return True
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    raw.FPDFText_GetFontInfo(textpage.raw, char, name, len(name), flags)
    return bool(_BOLD_NAME.search(name.value))


def _without_running_lines(
    pages: list[list[Line]],
) -> tuple[list[list[Line]], tuple[str, ...]]:
    """``pages`` without the first or last lines that stand on most of them, and those lines."""
    seen: Counter[tuple[int, str]] = Counter()
    full = [lines for lines in pages if len(lines) > 3]
    for lines in full:
        seen.update({(at, _mask(lines[at].text)) for at in (0, -1)})
    running = {key for key, count in seen.items() if count >= 3 and count * 2 > len(full)}
    result = []
    left_out: dict[str, str] = {}
    for lines in pages:
        if len(lines) > 3:
            first = int((0, _mask(lines[0].text)) in running)
            last = int((-1, _mask(lines[-1].text)) in running)
            for line in (*lines[:first], *lines[len(lines) - last :]):
                left_out.setdefault(_mask(line.text), line.text)
            lines = lines[first : len(lines) - last]
        result.append(lines)
    return result, tuple(left_out.values())


def _mask(text: str) -> str:
    return _DIGITS.sub("#", text)


def _lay_out(pages: list[list[Line]]) -> Page:
    out = Page()
    lengths: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            lengths[round(line.size or 0, 1)] += len(line.text)
    usual = lengths.most_common(1)[0][0]
    letters = sum(len(line.text) for lines in pages for line in lines)
    mostly_bold = 2 * sum(len(ln.text) for lines in pages for ln in lines if ln.bold) > letters
    for number, lines in enumerate(pages, 1):
        for part in split_tables(lines):
            if isinstance(part, Table):
                title, found = read_rows(part.rows, part.named)
                write_rows(out, title, found, number)
                continue
            for paragraph in _paragraphs(part):
                _write(out, paragraph, number, usual, mostly_bold)
    return out


def _write(
    out: Page, paragraph: Sequence[Line], number: int, usual: float, mostly_bold: bool
) -> None:
    text = _join(paragraph)
    large = (paragraph[0].size or 0) > usual * _HEADING_SIZE
    bold = all(line.bold for line in paragraph) and not mostly_bold and text[-1:] not in ".,;"
    if (large or bold) and len(text) <= _LONGEST_HEADING:
        out.head(text)
    else:
        out.paragraph(text, number)


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    steps = [
        a.y - b.y
        for a, b in pairwise(lines)
        if a.y is not None and b.y is not None and 0 < a.y - b.y < 4 * (a.size or 12)
    ]
    # The lower quartile: on a page of short paragraphs half of the steps are gaps between them.
    usual = statistics.quantiles(steps, n=4)[0] if len(steps) > 1 else 0
    current: list[Line] = []
    for line in lines:
        if current and _starts_paragraph(current[-1], line, usual):
            yield current
            current = []
        current.append(line)
    if current:
        yield current


def _starts_paragraph(above: Line, line: Line, usual: float) -> bool:
    if above.y is None or line.y is None or not above.size or not line.size:
        return False
    step = above.y - line.y
    usual = usual or 1.5 * line.size
    resized = max(above.size, line.size) > _HEADING_SIZE * min(above.size, line.size)
    resized |= above.bold != line.bold
    # Upward, beyond what a raised character does: the next column.
    return resized or step > _PARAGRAPH_GAP * usual or step < -line.size


def _join(lines: Sequence[Line]) -> str:
    """The lines as one text; a word parted by the line's end is put together."""
    text = ""
    for line in lines:
        if text and text[-1] in _HYPHENS:
            text = text[:-1] + line.text
        else:
            text += ("\n" if text else "") + line.text
    return text.strip(_HYPHENS)


def _message(error: Exception) -> str:
    found = re.search(r"PDFium: (.+?)\)", str(error))
    return found.group(1).rstrip(".").lower() if found else str(error)
