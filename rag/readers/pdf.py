"""PDF through PDFium: lines put together to paragraphs by their place and size on the page."""

from __future__ import annotations

import ctypes
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rag.readers.needs import need
from rag.readers.questions import pair_questions
from rag.readers.types import Content, Damaged, Page

_PASSWORD = 4
_HYPHENS = "\x02\ufffe\xad"
"""What PDFium gives for a hyphen that only parts a word at the end of a line."""

_PARAGRAPH_GAP = 1.3
"""A step down of more than this many times the page's usual line step starts a paragraph."""

_HEADING_SIZE = 1.15
"""A short line this much larger than the document's usual size is a heading."""

_LONGEST_HEADING = 100
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page; ``y`` is its baseline in points, upward, and ``size`` its font's."""

    text: str
    y: float | None
    size: float | None


def read(data: bytes) -> Content:
    """The paragraphs of a PDF with their page numbers, from 1."""
    pdfium = need("pypdfium2")
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
    if not any(line.text.strip() for lines in pages for line in lines):
        raise Damaged(
            "the PDF holds no text (scanned pages?); run text recognition (OCR) on it first"
        )
    page = _lay_out(_without_running_lines(pages))
    content = page.content()
    return Content(content.text, pair_questions(content.text, content.blocks), (), tuple(notes))


def _page(pdfium: Any, document: Any, number: int, notes: list[str]) -> list[Line]:
    """The lines of one page; what was opened for it is closed before the next."""
    try:
        page = document[number]
    except pdfium.PdfiumError:
        notes.append(f"page {number + 1} is damaged and was left out")
        return []
    textpage = page.get_textpage()
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
        bare = piece.strip()
        if bare:
            offset = at + piece.index(bare[0])
            char = raw.FPDFText_GetCharIndexFromTextIndex(textpage.raw, offset)
            placed = char >= 0 and raw.FPDFText_GetCharOrigin(textpage.raw, char, x, y)
            size = raw.FPDFText_GetFontSize(textpage.raw, char) if placed else None
            yield Line(bare, y.value if placed else None, size)
        at += len(piece)


def _without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """``pages`` without the first or last lines that stand on most of them ("Page 3 of 9")."""
    seen: Counter[tuple[int, str]] = Counter()
    full = [lines for lines in pages if len(lines) > 3]
    for lines in full:
        seen.update({(at, _mask(lines[at].text)) for at in (0, -1)})
    running = {key for key, count in seen.items() if count >= 3 and count * 2 > len(full)}
    result = []
    for lines in pages:
        if len(lines) > 3:
            first = int((0, _mask(lines[0].text)) in running)
            last = int((-1, _mask(lines[-1].text)) in running)
            lines = lines[first : len(lines) - last]
        result.append(lines)
    return result


def _mask(text: str) -> str:
    return _DIGITS.sub("#", text)


def _lay_out(pages: list[list[Line]]) -> Page:
    out = Page()
    lengths: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            lengths[round(line.size or 0, 1)] += len(line.text)
    usual = lengths.most_common(1)[0][0]
    for number, lines in enumerate(pages, 1):
        for paragraph in _paragraphs(lines):
            text = _join(paragraph)
            large = (paragraph[0].size or 0) > usual * _HEADING_SIZE
            if large and len(text) <= _LONGEST_HEADING:
                out.head(text)
            else:
                out.paragraph(text, number)
    return out


def _paragraphs(lines: list[Line]) -> Iterator[list[Line]]:
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
    # Upward, beyond what a raised character does: the next column.
    return resized or step > _PARAGRAPH_GAP * usual or step < -line.size


def _join(lines: list[Line]) -> str:
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
