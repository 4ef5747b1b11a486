"""Merged cells: what one cell says for several rows or columns is said in each of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells made one: rows by their numbers, columns from 0, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


def spread(
    rows: Sequence[tuple[int, Sequence[str]]], merged: Iterable[Merged]
) -> list[tuple[int, list[str]]]:
    """``rows`` (number and cells) with the text of merged cells, at their top left, in all of them.

    A cell alone in its row is a title and stays one cell. Where the row of the column names holds
    merged ones, the names of the row beneath are put behind them: "Price" over "adult" and "child"
    is "Price adult" and "Price child".
    """
    cells = {number: list(row) for number, row in rows}
    filled = {number: sum(map(bool, row)) for number, row in cells.items()}
    names = next((number for number in cells if filled[number] > 1), 0)
    numbers = sorted(cells)
    over_two = False
    for one in merged:
        if one.top not in cells or not _cell(cells[one.top], one.left):
            continue
        is_wide = one.right > one.left and filled[one.top] > 1
        over_two |= is_wide and one.top == one.bottom == names
        # Only rows that are there: a range may reach to the last row that a sheet can have.
        taken = numbers[bisect_left(numbers, one.top) : bisect_right(numbers, one.bottom)]
        _fill([cells[number] for number in taken], one, one.right if is_wide else one.left)
    if over_two:
        _join_names(cells, names)
    return list(cells.items())


def _fill(rows: Sequence[list[str]], one: Merged, right: int) -> None:
    text = rows[0][one.left]
    for row in rows:
        row += [""] * (right + 1 - len(row))
        row[one.left : right + 1] = [text] * (right + 1 - one.left)


def _join_names(cells: dict[int, list[str]], names: int) -> None:
    """The row of the names and the one beneath as one row."""
    beneath = next((number for number in cells if number > names), None)
    if beneath is None:
        return
    top, below = cells.pop(names), cells[beneath]
    width = max(len(top), len(below))
    pairs = ((_cell(top, at), _cell(below, at)) for at in range(width))
    cells[beneath] = [one if one == two else f"{one} {two}".strip() for one, two in pairs]


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
