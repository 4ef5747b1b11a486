"""DOCX: headings, paragraphs, lists and tables in their order in the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag.readers.merged import Merged, spread
from rag.readers.needs import need
from rag.readers.office import opened
from rag.readers.questions import pair_questions
from rag.readers.tables import read_rows
from rag.readers.types import Content, Page, fold
from rag.readers.write_rows import write_rows

_RUNNING = (
    "header", "first_page_header", "even_page_header",
    "footer", "first_page_footer", "even_page_footer",
)  # fmt: skip


def read(data: bytes) -> Content:
    """The body of a Word document.

    Headers and footers stand on every page and belong to no paragraph: never quoted, but kept
    apart and checked. Notes, comments and text boxes are not read.
    """
    docx = need("docx")
    with opened(data, "DOCX", "word/document.xml") as file:
        page = Page()
        items: list[str] = []
        document = docx.Document(file)
        for part in document.iter_inner_content():
            if hasattr(part, "rows"):
                _flush(page, items)
                title, found = read_rows(_rows(part))
                write_rows(page, title, found)
            else:
                _paragraph(page, part, items)
        _flush(page, items)
        page.hidden += dict.fromkeys(_running(document))
    content = page.content()
    blocks = pair_questions(content.text, content.blocks)
    return Content(content.text, blocks, content.hidden, content.notes)


def _paragraph(page: Page, paragraph: Any, items: list[str]) -> None:
    text = _visible(page, paragraph)
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    if not text.strip():
        return
    if style.startswith("List"):
        items.append(text)
        return
    _flush(page, items)
    if style.startswith("Heading") or style in ("Title", "Subtitle"):
        page.head(text)
    elif text.rstrip().endswith(":"):
        # What leads a list in stays with it.
        items.append(text)
    else:
        page.paragraph(text)


def _flush(page: Page, items: list[str]) -> None:
    """The list items gathered so far as one paragraph."""
    page.paragraph(join_items(items))
    items.clear()


def join_items(items: list[str]) -> str:
    """List items on lines of their own, parted by semicolons where nothing else parts them."""
    text = ""
    for item in map(fold, items):
        joint = "" if not text else "\n" if text[-1] in ".:;,!?" else ";\n"
        text += joint + item
    return text


def _visible(page: Page, paragraph: Any) -> str:
    """The paragraph's text without its hidden runs, which are kept apart."""
    parts = []
    for part in paragraph.iter_inner_content():
        runs = part.runs if hasattr(part, "runs") else [part]
        for run in runs:
            if run.font.hidden and fold(run.text):
                page.hidden.append(fold(run.text))
            else:
                parts.append(run.text)
    return "".join(parts)


def _rows(table: Any) -> list[tuple[int, list[str]]]:
    """The rows of a table; a merged cell is the same one at every place that it takes."""
    grid = [(number, row.cells) for number, row in enumerate(table.rows, 1)]
    places: dict[int, list[tuple[int, int]]] = {}
    for number, cells in grid:
        for at, cell in enumerate(cells):
            places.setdefault(id(cell._tc), []).append((number, at))
    firsts = {taken[0] for taken in places.values()}
    rows = [
        (number, [_cell(cell) if (number, at) in firsts else "" for at, cell in enumerate(cells)])
        for number, cells in grid
    ]
    return spread(rows, [Merged(*taken[0], *taken[-1]) for taken in places.values() if taken[1:]])


def _running(document: Any) -> Iterator[str]:
    """What the headers and footers say, once each."""
    for section in document.sections:
        for name in _RUNNING:
            part = getattr(section, name)
            if not part.is_linked_to_previous:
                yield from filter(None, (fold(paragraph.text) for paragraph in part.paragraphs))


def _cell(cell: Any) -> str:
    return fold(" ".join(paragraph.text for paragraph in cell.paragraphs))
