"""HTML: what a person sees of the page, headings, lists, tables, question and answer elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from rag.readers.decode import decode
from rag.readers.merged import Merged, spread
from rag.readers.needs import need
from rag.readers.questions import pair_questions
from rag.readers.tables import read_rows
from rag.readers.types import Content, Page, fold
from rag.readers.write_rows import write_rows

_DROPPED = frozenset(
    "head script style template noscript svg iframe object nav select button textarea".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table ul".split()
)
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 dt summary legend".split())
_ROWS_AND_CELLS = ["tr", "td", "th"]
_STRUCK = frozenset({"del", "s", "strike"})
_MOST_SPAN = 100
_MOST_SPANNED = 100_000
"""Places in one table that spans may claim; those beyond are taken for one cell each."""

_ASIDE = frozenset({"dl", "details"})
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?!\s*\.?\d)|opacity\s*:\s*0(?!\s*\.\d)"
)


def read(data: bytes) -> Content:
    """The paragraphs, lists and table rows of a page."""
    bs4 = need("bs4")
    declared = _CHARSET.search(data[:4096])
    soup = bs4.BeautifulSoup(
        decode(data, declared.group(1).decode() if declared else None), "html.parser"
    )
    reader = _Reader(bs4)
    reader.run(soup)
    content = reader.page.content()
    blocks = pair_questions(content.text, content.blocks)
    return Content(content.text, blocks, content.hidden, content.notes)


def _place(cell: Any, number: int, at: int) -> Merged:
    """What a cell takes of its table, by the spans that it claims."""
    spans = (str(cell.get(name) or "1") for name in ("rowspan", "colspan"))
    down, across = (min(max(int(s), 1), _MOST_SPAN) if s.isdecimal() else 1 for s in spans)
    return Merged(number, at, number + down - 1, at + across - 1)


def _rows(table: Any) -> list[tuple[Any, list[Any]]]:
    """The rows of a table and the cells of each, all taken out of what holds them.

    Without its end tag, which HTML lets one leave out, a cell or a row is inside the one before.
    """
    rows: list[tuple[Any, list[Any]]] = []
    for tag in table.find_all(_ROWS_AND_CELLS):
        tag.extract()
        if tag.name == "tr":
            rows.append((tag, []))
        elif rows:
            rows[-1][1].append(tag)
    return rows


class _Reader:
    """Walks the tree once, gathering inline text until a block begins or ends."""

    def __init__(self, bs4: Any) -> None:
        self.page = Page()
        self._bs4 = bs4
        self._inline: list[str] = []
        self._term = ""
        self._above: list[str] = []
        self._lists = 0

    def run(self, soup: Any) -> None:
        title = soup.title
        if title is not None:
            self.page.head(title.get_text())
        for is_open, node in self._walk(soup):
            if isinstance(node, self._bs4.NavigableString):
                self._inline.append(re.sub(r"\s+", " ", str(node)))
            elif node.name == "br":
                self._inline.append("\n")
            elif node.name == "table":
                self._flush(None)
                if is_open:
                    self._table(node)
            elif node.name in ("ul", "ol"):
                self._list(is_open)
            elif node.name in _BLOCKS:
                self._edge(node.name, is_open)
        self._flush(None)

    def _walk(self, root: Any) -> Iterator[tuple[bool, Any]]:
        """Tags at their opening and closing, and strings; by a stack, for any depth."""
        stack: list[tuple[bool, Any]] = [(True, root)]
        while stack:
            is_open, node = stack.pop()
            if isinstance(node, self._bs4.Comment):
                self._hide(str(node))
            elif isinstance(node, self._bs4.element.PreformattedString):
                continue
            elif not isinstance(node, self._bs4.Tag):
                yield True, node
            elif not is_open:
                yield False, node
            elif node.name not in _DROPPED and not self._is_unseen(node):
                yield True, node
                stack.append((False, node))
                if node.name != "table":
                    stack.extend((True, child) for child in reversed(node.contents))

    def _is_unseen(self, tag: Any) -> bool:
        """Whether a person does not see a tag, or sees it struck out."""
        style = str(tag.get("style") or "").lower()
        if tag.name in _STRUCK or tag.has_attr("hidden") or _UNSEEN.search(style):
            self._hide(tag.get_text(" "))
            return True
        return False

    def _hide(self, text: str) -> None:
        if fold(text):
            self.page.hidden.append(fold(text))

    def _list(self, is_open: bool) -> None:
        """Items are gathered into one paragraph, with the words that lead them in."""
        if is_open and not self._lists and not "".join(self._inline).rstrip().endswith(":"):
            self._flush(None)
        self._lists += 1 if is_open else -1
        if not is_open and not self._lists:
            self._flush(None)

    def _edge(self, name: str, is_open: bool) -> None:
        if self._lists:
            self._part()
        elif name == "p" and not is_open and "".join(self._inline).rstrip().endswith(":"):
            self._inline.append("\n")
        else:
            self._flush(None if is_open else name)
            if name in _ASIDE:
                self._enter(is_open)

    def _enter(self, is_open: bool) -> None:
        """What a list of terms or a folded part is headed by does not reach beyond it."""
        self._term = ""
        if is_open:
            self._above.append(self.page.heading)
        elif self._above:
            self.page.heading = self._above.pop()

    def _part(self) -> None:
        text = "".join(self._inline).rstrip()
        if text:
            self._inline = [text if text[-1] in ".:;,!?" else text + ";", "\n"]

    def _flush(self, closed: str | None) -> None:
        """What was gathered becomes a heading or a paragraph."""
        lines = (fold(line) for line in "".join(self._inline).split("\n"))
        text = "\n".join(line for line in lines if line).removesuffix(";")
        self._inline = []
        if not text:
            return
        if closed == "dt" and not text.endswith("?"):
            self._term = fold(text).rstrip(":")
            self.page.heading = self._above[-1] if self._above else ""
        elif closed in _HEADINGS:
            self._term = ""
            self.page.head(text)
        elif closed == "dd" and self._term:
            self.page.paragraph(f"{self._term}: {text}")
        else:
            self.page.paragraph(text)

    def _table(self, table: Any) -> None:
        """The rows of a table, and after them those of tables in its cells."""
        for part in table.find_all(lambda tag: tag.name not in _ROWS_AND_CELLS):
            if self._is_unseen(part):
                part.extract()
        tables = [table, *table.find_all("table")]
        for one in tables:
            one.extract()
        for one in tables:
            self._write(one)

    def _seen(self, table: Any) -> Iterator[list[Any]]:
        """The cells of each row that a person sees."""
        for row, cells in _rows(table):
            row.extend(cells)
            if not self._is_unseen(row):
                yield [cell for cell in cells if not self._is_unseen(cell)]

    def _write(self, table: Any) -> None:
        rows: list[tuple[int, list[str]]] = []
        merged: list[Merged] = []
        taken: set[tuple[int, int]] = set()
        for number, row in enumerate(self._seen(table), 1):
            cells: list[str] = []
            for cell in row:
                while (number, len(cells)) in taken:
                    cells.append("")
                place = _place(cell, number, len(cells))
                if len(taken) > _MOST_SPANNED:
                    place = Merged(number, len(cells), number, len(cells))
                if place.bottom > number or place.right > place.left:
                    merged.append(place)
                    taken.update(
                        product(range(number, place.bottom + 1), range(place.left, place.right + 1))
                    )
                cells += [fold(cell.get_text(" ")), *[""] * (place.right - place.left)]
            rows.append((number, cells))
        title, found = read_rows(spread(rows, merged))
        caption = table.find("caption")
        write_rows(self.page, title or (fold(caption.get_text(" ")) if caption else ""), found)
