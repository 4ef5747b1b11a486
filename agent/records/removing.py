"""Calls taken out of the database, so that nothing of them can be read in its files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, insert, select, text

from agent.records import tables as t

_MADE = (t.events, t.evidence, t.turns)
"""From the journal, and made again from it."""
_MANY = 500


def take_out(connection: Connection, name: str, why: str) -> None:
    """Take a call out, and leave that it was."""
    found = select(t.calls.c.events, t.calls.c.head).where(t.calls.c.id == name)
    row = connection.execute(found).first()
    for table in (*_MADE, t.marks):
        connection.execute(delete(table).where(table.c.call == name))
    connection.execute(delete(t.calls).where(t.calls.c.id == name))
    if not is_removed(connection, name):
        events, head = (0, "") if row is None else tuple(row)
        values = {"call": name, "at": datetime.now(UTC), "why": why}
        connection.execute(insert(t.removed).values(**values, events=events, head=head))


def is_removed(connection: Connection, name: str) -> bool:
    """Whether a call was taken out: it is not stored again."""
    found = select(t.removed.c.call).where(t.removed.c.call == name)
    return connection.scalar(found) is not None


def take_out_made(connection: Connection, names: Sequence[str] | None) -> None:
    """What can be made again of ``names``, or of all calls; marks and removals stay."""
    if names is None:
        for table in (*_MADE, t.calls):
            connection.execute(delete(table))
        return
    for at in range(0, len(names), _MANY):
        some = names[at : at + _MANY]
        for table in _MADE:
            connection.execute(delete(table).where(table.c.call.in_(some)))
        connection.execute(delete(t.calls).where(t.calls.c.id.in_(some)))


def wipe(engine: Engine) -> None:
    """Write the words of what was taken out over, where the database would keep them for a while.

    SQLite's full-text index keeps them until it is merged (https://sqlite.org/fts5.html, the
    'optimize' command), its write-ahead log until the next checkpoint. PostgreSQL's VACUUM does
    it by itself.
    """
    if engine.dialect.name != "sqlite":
        return
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO turns_text(turns_text) VALUES ('optimize')"))
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
