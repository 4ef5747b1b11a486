"""Rows of the database as the store gives them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from agent.records import tables as t
from agent.records.rows import CallRow, Mark, TurnRow

_MANY_IDS = 500  # of one statement: SQLite takes 32,766 variables, PostgreSQL 65,535
OF_A_CALL = [column for column in t.calls.c if column.name != "caller_key"]
OF_A_TURN = [t.turns.c[field.name] for field in fields(TurnRow) if field.name != "marks"]
"""In the order of the fields."""
_CITATIONS = [column.name for column in OF_A_TURN].index("citations")


def call_rows(connection: Connection, ids: Sequence[str]) -> list[CallRow]:
    """The calls of ``ids``, in that order."""
    found: dict[str, CallRow] = {}
    for at in range(0, len(ids), _MANY_IDS):
        some = select(*OF_A_CALL).where(t.calls.c.id.in_(ids[at : at + _MANY_IDS]))
        for row in connection.execute(some).mappings():
            found[row["id"]] = call_row(row)
    return [found[one] for one in ids if one in found]


def call_row(row: RowMapping) -> CallRow:
    """A call."""
    return CallRow(**{**row, "versions": json.loads(row["versions"])})


def turn_row(row: Sequence[Any], marked: tuple[Mark, ...] = ()) -> TurnRow:
    """A turn, from ``OF_A_TURN`` by place: a report reads thousands."""
    values = [*row, marked]
    values[_CITATIONS] = tuple(json.loads(values[_CITATIONS]))
    return TurnRow(*values)


def mark_of(row: RowMapping) -> Mark:
    """A mark."""
    return Mark(**{name: value for name, value in row.items() if name != "id"})
