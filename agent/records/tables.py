"""The tables of the record store, for SQLite and PostgreSQL alike.

``events`` holds what the journals hold, line by line; everything else is made from it, or is what
a person said about it (``marks``), or that something was taken away (``removed``).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)


class Utc(TypeDecorator[datetime]):
    """Aware times in UTC. SQLite keeps them naive, as text that sorts."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData()
_ID = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER is SQLite's own row number

calls = Table(
    "calls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("call_id", Text, nullable=False),
    Column("wire", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("caller_key", Text, nullable=False),
    Column("called", Text, nullable=False),
    Column("started_at", Utc, nullable=False),
    Column("ended_at", Utc),
    Column("ended", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Column("refused", Integer, nullable=False),
    Column("transferred", Boolean, nullable=False),
    Column("hung_up_by", Text, nullable=False),
    Column("reply_p50_ms", Float),
    Column("reply_p95_ms", Float),
    Column("kb", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("recording", Text),
    Column("events", Integer, nullable=False),
    Column("head", Text, nullable=False),
    # With the id, so that a page far back is found in the index alone.
    Index("calls_by_time", "started_at", "id"),
    Index("calls_by_wire", "wire", "started_at", "id"),
    Index("calls_by_caller", "caller_key"),
    # Of the outcomes only the rare ones: where most calls are it, the time is the better index.
    Index("calls_transferred", "transferred", "started_at", "id"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", _ID, primary_key=True, autoincrement=True),
    Column("call", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Utc, nullable=False),
    Column("heard", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("context", Text),
    Column("decision", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("score", Float),
    Column("floor", Float),
    Column("say", Text, nullable=False),
    Column("citations", Text, nullable=False),
    Column("answered_by", Text, nullable=False),
    Column("reply_ms", Float),
    UniqueConstraint("call", "seq"),
    Index("turns_by_decision", "decision", "at"),
    Index("turns_by_time", "at"),
)

events = Table(
    "events",
    metadata,
    Column("call", Text, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
    Column("line", Text, nullable=False),
)

evidence = Table(
    "evidence",
    metadata,
    Column("call", Text, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("passage", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("score", Float),
    Column("cited", Boolean, nullable=False),
    Index("evidence_by_passage", "passage"),
    sqlite_with_rowid=False,
)

marks = Table(
    "marks",
    metadata,
    Column("id", _ID, primary_key=True, autoincrement=True),
    Column("call", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Utc, nullable=False),
    Index("marks_by_call", "call", "turn"),
)

removed = Table(
    "removed",
    metadata,
    Column("call", Text, primary_key=True),
    Column("at", Utc, nullable=False),
    Column("why", Text, nullable=False),
    Column("events", Integer, nullable=False),
    Column("head", Text, nullable=False),
)
