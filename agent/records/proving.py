"""Whether the database holds of a call what its journal does, and only that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, select

from agent.records import tables as t
from agent.records.folding import call_values, evidence_values, turn_values
from agent.records.putting import event_values, storable

Found = tuple[int, str]
"""The first event that differs, and how."""


def proved(connection: Connection, name: str, lines: Sequence[Mapping[str, Any]]) -> Found | None:
    """The first difference between the database and ``lines``, all events of the call ``name``.

    None where there is none. A call that goes on may be behind, and one that is not stored at all
    is none: the database is made again from the journals.
    """
    row = connection.execute(select(t.calls).where(t.calls.c.id == name)).mappings().first()
    if row is None:
        return None
    wanted = [event_values(name, one) for one in lines]
    here = _rows(connection, t.events, name, "seq")
    if not row["ended"]:
        wanted = wanted[: len(here)]
    for number, (want, have) in enumerate(zip(wanted, here, strict=False)):
        if not _same(want, have):
            return number, "the database holds another event"
    if len(wanted) != len(here):
        return min(len(wanted), len(here)), f"the database holds {len(here)} events of {len(lines)}"
    return _made(connection, name, lines[: len(here)], row)


def _made(
    connection: Connection, name: str, lines: Sequence[Mapping[str, Any]], row: RowMapping
) -> Found | None:
    """What is shown of a call is made from its events."""
    last = len(lines) - 1
    if not lines or not _same(storable(call_values(name, lines)), row):
        return max(
            last, 0
        ), "the database says something else of the call; calls rebuild makes it again"
    turns = [storable(values) for values in turn_values(name, lines)]
    evidence = [
        storable(values)
        for one in lines
        if one.get("event") == "verdict"
        for values in evidence_values(name, one)
    ]
    for table, wanted, order in ((t.turns, turns, "seq"), (t.evidence, evidence, "place")):
        have = _rows(connection, table, name, "seq", order)
        for want, got in zip(wanted, have, strict=False):
            if not _same(want, got):
                return want["seq"], f"the database holds other {table.name}"
        if len(wanted) != len(have):
            return last, f"the database holds {len(have)} {table.name}, not {len(wanted)}"
    return None


def _rows(connection: Connection, table: Table, name: str, *order: str) -> Sequence[RowMapping]:
    found = select(table).where(table.c.call == name).order_by(*(table.c[one] for one in order))
    return connection.execute(found).mappings().all()


def _same(wanted: Mapping[str, Any], found: RowMapping) -> bool:
    return all(found[column] == value for column, value in wanted.items())
