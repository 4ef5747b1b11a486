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
_WRAPPERS = " | ".join(f".//w:{name}" for name in ("sdt", "ins", "moveTo", "smartTag", "customXml"))


def read(data: bytes) -> Content:
    """The body of a Word document.

    Headers and footers stand on every page and belong to no paragraph: never quoted, but kept
    apart and checked; the same for hidden and struck-out text. The fields of a form are read as
    filled in, tracked changes as accepted. Notes, comments, text boxes and a table of contents are
    not read.
    """
    docx = need("docx")
    with opened(data, "DOCX", "word/document.xml") as file:
        page = Page()
        items: list[str] = []
        document = docx.Document(file)
        _unwrap(document.element.body)
        for part in document.iter_inner_content():
            if hasattr(part, "rows"):
                _flush(page, items)
                title, found = read_rows(_rows(page, part))
                write_rows(page, title, found)
            else:
                _paragraph(page, part, items)
        _flush(page, items)
        page.hidden += dict.fromkeys(_running(document))
    content = page.content()
    blocks = pair_questions(content.text, content.blocks)
    return Content(content.text, blocks, content.hidden, content.notes)


def _unwrap(body: Any) -> None:
    """Put what fields and tracked insertions hold in their place: python-docx passes over both."""
    from docx.oxml.ns import qn

    for wrapper in reversed(body.xpath(_WRAPPERS)):
        parent, at = wrapper.getparent(), wrapper.getparent().index(wrapper)
        parent.remove(wrapper)
        # A field that nobody filled in holds "Click here to enter text".
        if wrapper.find(f"{qn('w:sdtPr')}/{qn('w:showingPlcHdr')}") is None:
            content = wrapper.find(qn("w:sdtContent"))
            parent[at:at] = list(wrapper if content is None else content)


def _paragraph(page: Page, paragraph: Any, items: list[str]) -> None:
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    text = "" if style.lower().startswith("toc ") else _visible(page, paragraph)
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
    """The paragraph's text without its hidden and struck-out runs, which are kept apart."""
    parts = []
    for part in paragraph.iter_inner_content():
        runs = part.runs if hasattr(part, "runs") else [part]
        for run in runs:
            font = run.font
            if not (font.hidden or font.strike or font.double_strike):
                parts.append(run.text)
            elif fold(run.text):
                page.hidden.append(fold(run.text))
    return "".join(parts)


def _rows(page: Page, table: Any) -> list[tuple[int, list[str]]]:
    """The rows of a table; a merged cell is the same one at every place that it takes."""
    grid = [(number, row.cells) for number, row in enumerate(table.rows, 1)]
    places: dict[int, list[tuple[int, int]]] = {}
    for number, cells in grid:
        for at, cell in enumerate(cells):
            places.setdefault(id(cell._tc), []).append((number, at))
    firsts = {taken[0] for taken in places.values()}
    rows = [
        (
            number,
            [_cell(page, cell) if (number, at) in firsts else "" for at, cell in enumerate(cells)],
        )
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


def _cell(page: Page, cell: Any) -> str:
    """The text of a cell, that of a table inside it too."""
    from docx.text.paragraph import Paragraph

    found = cell._tc.xpath("./w:p | ./w:tbl//w:p")
    return fold(" ".join(_visible(page, Paragraph(one, cell)) for one in found))
