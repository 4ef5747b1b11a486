"""Table rows appended to a text in the making."""

from __future__ import annotations

from collections.abc import Iterable

from rag.readers.tables import Row
from rag.readers.types import Block, Page


def write_rows(page: Page, title: str, rows: Iterable[Row], number: int | None = None) -> None:
    """Append ``rows``, one a line; of a question row the question stands before its answer.

    ``number`` is the page's that they stand on.
    """
    for at, row in enumerate(rows):
        gap = "\n" if at else "\n\n"
        if row.question is not None:
            page.write(row.question, gap)
            gap = "\n"
        start, end = page.write(row.text, gap)
        heading = row.topic or title or page.heading
        page.blocks.append(
            Block(row.text, heading, number, row.number, start, end, row.kind, row.question)
        )
