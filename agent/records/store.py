"""The record store: what the journals hold, in a database that can be searched.

SQLite in WAL mode by default, PostgreSQL by its URL. All of it is synchronous and may be used from
any thread; nothing here is ever waited for by a call.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    and_,
    create_engine,
    event,
    func,
    insert,
    select,
)
from sqlalchemy.exc import DataError, SQLAlchemyError

from agent.records import tables as t
from agent.records.made_rows import OF_A_CALL, OF_A_TURN, call_row, call_rows, mark_of, turn_row
from agent.records.migrating import NewerDatabaseError, migrate
from agent.records.proving import proved
from agent.records.putting import lines_of, put_call, put_events, put_turns
from agent.records.removing import is_removed, take_out, take_out_made, wipe
from agent.records.rows import CallQuery, CallRow, Mark, TurnQuery, TurnRow
from agent.records.searching import call_conditions, turn_conditions
from frontdesk import FrontdeskError

__all__ = [
    "CallQuery",
    "CallRow",
    "GapError",
    "Mark",
    "RecordStore",
    "StoreError",
    "TurnQuery",
    "TurnRow",
]

_BUSY_MS = 5000
_DAMAGED = re.compile("not a database|malformed")  # as SQLite says it
_MAPPED_BYTES = 268_435_456  # read in place: a search looks at thousands of rows
_MANY = 500  # rows at a time
_MAX_OPEN = 64  # calls that go on; of more the events are read again
_OF_TURNS = frozenset({"verdict", "reply_started"})
_MANY_IDS = 500  # of one statement: SQLite takes 32,766 variables, PostgreSQL 65,535


class StoreError(FrontdeskError):
    """The database cannot be opened, read or written; trying again may help."""

    stage = "records"
    retryable = True


class GapError(ValueError):
    """Events were given whose predecessors are not stored: all of the call must be given again."""


class RecordStore:
    """Calls, turns, events, evidence and marks. Made by :meth:`open`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._dialect = engine.dialect.name
        self._open: OrderedDict[str, list[Mapping[str, Any]]] = OrderedDict()
        self._putting = threading.Lock()

    @classmethod
    def open(cls, url: str) -> RecordStore:
        """Open ``url``, made ready for this version.

        Raises:
            StoreError: it cannot be.
        """
        engine = create_engine(url, hide_parameters=True, pool_pre_ping=True)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _as_wal)
        store = cls(engine)
        try:
            if engine.dialect.name == "sqlite" and engine.url.database:
                _make_private(engine.url.database)
            migrate(engine)
        except (SQLAlchemyError, NewerDatabaseError, OSError) as error:
            engine.dispose()
            raise StoreError(_why(error)) from error
        return store

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def put(self, name: str, events: Sequence[Mapping[str, Any]]) -> None:
        """Store what is new of ``events`` (each with its ``seq``) of the call ``name``.

        Raises:
            StoreError: the database cannot be written; nothing of it was.
            GapError: events before these are not stored.
        """
        with self._putting:
            before: Sequence[Mapping[str, Any]] | None = self._open.pop(name, None)
            with self._writing() as connection:
                found = select(func.max(t.events.c.seq)).where(t.events.c.call == name)
                last = connection.scalar(found)
                if last is None:
                    if is_removed(connection, name):
                        return
                    before = []
                elif before is None or before[-1]["seq"] != last:
                    before = lines_of(connection, name)
                begin = 0 if last is None else last + 1
                new = [one for one in events if one["seq"] >= begin]
                if [one["seq"] for one in new] != list(range(begin, begin + len(new))):
                    raise GapError(f"an event of {name} is missing, or out of order")
                whole = [*before, *new]
                if new:
                    put_events(connection, name, new)
                    put_call(connection, name, whole)
                    if any(one.get("event") in _OF_TURNS for one in new):
                        put_turns(connection, name, whole)
            self._keep_open(name, whole)

    def _keep_open(self, name: str, whole: list[Mapping[str, Any]]) -> None:
        """Remember the events of a call that goes on, so that they need not be read again."""
        if whole and whole[-1].get("event") != "call_ended":
            self._open[name] = whole
            if len(self._open) > _MAX_OPEN:
                self._open.popitem(last=False)

    def calls(self, query: CallQuery) -> list[CallRow]:
        """One page of calls, the newest first."""
        with self._reading() as connection:
            found = self._ids(query).offset(query.offset).limit(query.limit)
            return call_rows(connection, list(connection.scalars(found)))

    def page(self, query: CallQuery) -> tuple[list[CallRow], int]:
        """One page of calls, and how many there are on all; words are searched for once."""
        if not query.text:
            return self.calls(query), self.count(query)
        with self._reading() as connection:
            ids = list(connection.scalars(self._ids(query)))
            shown = ids[query.offset : query.offset + query.limit]
            return call_rows(connection, shown), len(ids)

    def _ids(self, query: CallQuery) -> Select[Any]:
        return (
            select(t.calls.c.id)
            .where(*call_conditions(query, self._dialect))
            .order_by(t.calls.c.started_at.desc(), t.calls.c.id.desc())
        )

    def count(self, query: CallQuery) -> int:
        """How many calls there are on all pages."""
        found = select(func.count()).select_from(t.calls)
        with self._reading() as connection:
            conditions = call_conditions(query, self._dialect)
            return int(connection.scalar(found.where(*conditions)) or 0)

    def call(self, name: str) -> CallRow | None:
        """One call; None if there is none."""
        found = select(*OF_A_CALL).where(t.calls.c.id == name)
        with self._reading() as connection:
            row = connection.execute(found).mappings().first()
        return None if row is None else call_row(row)

    def ended(self) -> set[str]:
        """The ids of calls whose end is stored."""
        found = select(t.calls.c.id).where(t.calls.c.ended_at.is_not(None))
        with self._reading() as connection:
            return set(connection.scalars(found))

    @property
    def is_ours(self) -> bool:
        """Whether only this folder's calls are in it."""
        return self._dialect == "sqlite"

    def heads(self) -> dict[str, str]:
        """The last hash of each call whose end is stored, by its id."""
        found = select(t.calls.c.id, t.calls.c.head).where(t.calls.c.ended_at.is_not(None))
        with self._reading() as connection:
            return dict(iter(connection.execute(found)))

    def proved(self, name: str, lines: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
        """Where it differs from ``lines``, all that the journal of a call holds, if anywhere."""
        with self._reading() as connection:
            return proved(connection, name, lines)

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a call, in order."""
        with self._reading() as connection:
            return lines_of(connection, name)

    def turns(self, since: datetime | None, until: datetime | None) -> Iterator[TurnRow]:
        """Every turn of that time, the oldest first, with its marks."""
        conditions = turn_conditions(TurnQuery(since=since, until=until), self._dialect)
        found = select(*OF_A_TURN).where(*conditions).order_by(t.turns.c.at, t.turns.c.id)
        marked = self.marks(None, None)
        by_turn: dict[tuple[str, int], list[Mark]] = defaultdict(list)
        for mark in marked:
            by_turn[mark.call, mark.turn].append(mark)
        with self._reading() as connection:
            for row in connection.execution_options(yield_per=_MANY).execute(found):
                yield turn_row(row, tuple(by_turn.get((row[0], row[1]), ())))

    def turn_page(self, query: TurnQuery) -> list[TurnRow]:
        """One page of turns, the newest first, without marks."""
        found = (
            select(*OF_A_TURN)
            .where(*turn_conditions(query, self._dialect))
            .order_by(t.turns.c.at.desc(), t.turns.c.id.desc())
            .offset(query.offset)
            .limit(query.limit)
        )
        with self._reading() as connection:
            return [turn_row(row) for row in connection.execute(found)]

    def count_turns(self, query: TurnQuery) -> int:
        """How many turns there are on all pages."""
        found = select(func.count()).select_from(t.turns)
        with self._reading() as connection:
            conditions = turn_conditions(query, self._dialect)
            return int(connection.scalar(found.where(*conditions)) or 0)

    def wires(self) -> list[str]:
        """The wires that calls came on."""
        found = select(t.calls.c.wire).distinct().order_by(t.calls.c.wire)
        with self._reading() as connection:
            return [wire for wire in connection.scalars(found) if wire]

    def mark(self, name: str, turn: int, label: str, note: str, by: str) -> None:
        """Keep what a person says of an answer; of several marks the last one counts.

        Raises:
            StoreError: the database cannot be written.
        """
        values = {"call": name, "turn": turn, "label": label, "note": note, "by": by}
        with self._writing() as connection:
            connection.execute(insert(t.marks).values(**values, at=datetime.now(UTC)))

    def marks(self, since: datetime | None, until: datetime | None) -> list[Mark]:
        """All marks made in that time, the oldest first."""
        conditions = []
        if since is not None:
            conditions.append(t.marks.c.at >= since)
        if until is not None:
            conditions.append(t.marks.c.at < until)
        found = select(t.marks).where(and_(True, *conditions)).order_by(t.marks.c.id)
        with self._reading() as connection:
            return [mark_of(row) for row in connection.execute(found).mappings()]

    def marks_in(self, name: str) -> list[Mark]:
        """The marks of one call, the oldest first."""
        found = select(t.marks).where(t.marks.c.call == name).order_by(t.marks.c.id)
        with self._reading() as connection:
            return [mark_of(row) for row in connection.execute(found).mappings()]

    def marks_of(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """For each call that has any: how many of its turns are marked how."""
        last: dict[tuple[str, int], str] = {}
        with self._reading() as connection:
            for at in range(0, len(names), _MANY_IDS):
                some = t.marks.c.call.in_(names[at : at + _MANY_IDS])
                found = select(t.marks.c.call, t.marks.c.turn, t.marks.c.label)
                for call, turn, label in connection.execute(found.where(some).order_by("id")):
                    last[call, turn] = label
        counts: dict[str, dict[str, int]] = {}
        for (call, _), label in last.items():
            of_call = counts.setdefault(call, {})
            of_call[label] = of_call.get(label, 0) + 1
        return counts

    def remove(self, name: str, why: str) -> None:
        """Take a call out, and leave that it was.

        Raises:
            StoreError: the database cannot be written; the call is whole.
        """
        with self._putting, self._writing() as connection:
            self._open.pop(name, None)
            take_out(connection, name, why)

    def wipe(self) -> None:
        """After removals: nothing of them can be read in the database's files.

        Raises:
            StoreError: the database cannot be written.
        """
        try:
            wipe(self._engine)
        except SQLAlchemyError as error:
            raise StoreError(_why(error)) from error

    def calls_of(self, caller_key: str) -> list[str]:
        """The calls of one caller, by :class:`agent.records.caller_key.CallerKeys`."""
        found = select(t.calls.c.id).where(t.calls.c.caller_key == caller_key)
        with self._reading() as connection:
            return list(connection.scalars(found.order_by(t.calls.c.started_at)))

    def goes_on(self, name: str) -> bool:
        """Whether the call is stored, and has not ended."""
        row = self.call(name)
        return row is not None and not row.ended

    def clear(self, names: Sequence[str] | None = None) -> None:
        """Take out what can be made again from the journals, of ``names`` or of all calls.

        Raises:
            StoreError: the database cannot be written; nothing was taken out.
        """
        with self._putting, self._writing() as connection:
            self._open.clear()
            take_out_made(connection, names)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(_why(error)) from error

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DataError as error:  # these values never go in
            raise ValueError(_why(error)) from error
        except SQLAlchemyError as error:
            raise StoreError(_why(error)) from error


def _why(error: Exception) -> str:
    """One line without a statement: its parameters are what callers said."""
    if isinstance(error, OSError):
        return f"unable to open database file {error.filename} ({error.strerror})"
    if not isinstance(error, SQLAlchemyError):
        return str(error)
    cause = getattr(error, "orig", None) or error
    first = str(cause).strip().splitlines()[:1] or [""]
    mend = "; move it away: it is made again from the journals" if _DAMAGED.search(first[0]) else ""
    return f"the record database failed ({type(cause).__name__}: {first[0][:200]}){mend}"


def _make_private(path: str) -> None:
    """Let only this user read it; SQLite gives the files beside it the same mode."""
    # One that is there is not opened: closing it would drop this process's locks on it
    # (https://sqlite.org/howtocorrupt.html, 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    os.chmod(path, 0o600)


def _as_wal(connection: Any, _: Any) -> None:
    """Readers and the one writer do not wait for each other (https://sqlite.org/wal.html)."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}")
    cursor.execute("PRAGMA secure_delete=ON")  # what was removed is not left in free pages
    cursor.close()
