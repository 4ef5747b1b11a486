"""DOCX: headings, paragraphs, lists and tables in their order in the document."""

from __future__ import annotations

from typing import Any

from rag.readers.needs import need
from rag.readers.office import opened
from rag.readers.questions import pair_questions
from rag.readers.tables import read_rows
from rag.readers.types import Content, Page, fold
from rag.readers.write_rows import write_rows


def read(data: bytes) -> Content:
    """The body of a Word document. Headers, footers, notes and text boxes are not read."""
    docx = need("docx")
    with opened(data, "DOCX", "word/document.xml") as file:
        page = Page()
        items: list[str] = []
        for part in docx.Document(file).iter_inner_content():
            if hasattr(part, "rows"):
                _flush(page, items)
                rows = [[_cell(cell) for cell in row.cells] for row in part.rows]
                title, found = read_rows(list(enumerate(rows, 1)))
                write_rows(page, title, found)
            else:
                _paragraph(page, part, items)
        _flush(page, items)
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


def _cell(cell: Any) -> str:
    return fold(" ".join(paragraph.text for paragraph in cell.paragraphs))
