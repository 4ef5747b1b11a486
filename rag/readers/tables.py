"""Rows of cells to blocks: the header understood, questions and answers told from other tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.readers.types import Kind, fold

_QUESTION = frozenset({"question", "questions", "q", "faq", "query", "ask"})
_ANSWER = frozenset({"answer", "answers", "a", "reply", "response"})
_TOPIC = frozenset({"category", "topic", "section", "heading", "subject", "group"})
# A cell that is a value, not a name for a column.
_VALUE = re.compile(
    r"[$€£₹]?\s*[\d.,:/%-]*\d[\d.,:/%-]*\s*[%$€£₹]?|.*[.!?]"
    r"|.*\d ?(?:[ap]\.?m\b|:\d\d).*|\d+ ?(?:to|-|–) ?\d+|closed",
    re.S | re.I,
)
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Row:
    """One row's sentence. ``cell`` is the column that ``text`` is, if it is only one (an answer).

    ``number`` is the row's own number in its table, from 1.
    """

    number: int
    text: str
    kind: Kind
    question: str | None = None
    topic: str | None = None
    cell: int | None = None


def read_rows(
    rows: Sequence[tuple[int, Sequence[str]]], named: bool | None = None
) -> tuple[str, list[Row]]:
    """The title that stands above a table, and one ``Row`` for each of its rows.

    ``rows`` are row numbers and cells. Rows without text are left out. A question without an
    answer gives a row with an empty ``text``. Columns are known by their names (question, answer,
    category; any case), else two columns whose first holds questions are questions and answers.
    ``named`` says whether the first row names the columns, where the format tells.
    """
    rows = [(number, [fold(cell) for cell in cells]) for number, cells in rows if any(cells)]
    rows = [row for row in rows if any(row[1])]
    title, rows = _take_title(rows)
    if not rows:
        return title, []
    is_named = _is_header(rows) if named is None else named
    names = rows[0][1] if is_named else []
    body = rows[1:] if names else rows
    asked, answered, topic = _columns(names, [cells for _, cells in body])
    if asked is None or answered is None:
        return title, [Row(number, _sentence(names, cells), "row") for number, cells in body]
    result = []
    for number, cells in body:
        question, answer = _cell(cells, asked), _cell(cells, answered)
        under = _cell(cells, topic) if topic is not None else ""
        if question:
            result.append(Row(number, answer, "question", question, under or None, answered))
        else:
            result.append(Row(number, _sentence(names, cells), "row", None, under or None))
    return title, result


def _take_title(
    rows: Sequence[tuple[int, Sequence[str]]],
) -> tuple[str, Sequence[tuple[int, Sequence[str]]]]:
    """Rows of one cell above the first row of several are the table's title."""
    first_wide = next((at for at, (_, cells) in enumerate(rows) if _width(cells) > 1), 0)
    title = " ".join(next(filter(None, cells)) for _, cells in rows[:first_wide])
    return title, rows[first_wide:]


def _width(cells: Sequence[str]) -> int:
    return sum(bool(cell) for cell in cells)


def _is_header(rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether the first row names columns: short, different names, and no values among them."""
    first = [cell for cell in rows[0][1] if cell]
    lower = {cell.lower() for cell in first}
    if lower & _QUESTION and lower & _ANSWER:
        return True
    return (
        len(rows) > 1
        and len(first) > 1
        and len(lower) == len(first)
        and not any(len(cell) > _LONGEST_NAME or _VALUE.fullmatch(cell) for cell in first)
    )


def _columns(
    names: Sequence[str], body: Sequence[Sequence[str]]
) -> tuple[int | None, int | None, int | None]:
    """The places of the question, the answer and the topic."""
    asked, answered = _find(names, _QUESTION), _find(names, _ANSWER)
    if asked is None or answered is None:
        asked, answered = None, None
        widest = max((len(cells) for cells in body), default=0)
        questions = sum(bool(cells) and cells[0].endswith("?") for cells in body)
        if max(widest, len(names)) == 2 and questions * 2 > len(body):
            asked, answered = 0, 1
    return asked, answered, _find(names, _TOPIC)


def _find(names: Sequence[str], wanted: frozenset[str]) -> int | None:
    bare = (name.lower().rstrip(":").strip() for name in names)
    return next((at for at, name in enumerate(bare) if name in wanted), None)


def _cell(cells: Sequence[str], at: int) -> str:
    return cells[at] if at < len(cells) else ""


def _sentence(names: Sequence[str], cells: Iterable[str]) -> str:
    """``Header: value; Header: value``."""
    parts = []
    for at, cell in enumerate(cells):
        name = _cell(names, at).rstrip(":").strip()
        if cell:
            parts.append(f"{name}: {cell}" if name else cell)
    return "; ".join(parts)
