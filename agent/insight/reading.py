"""Rows of the store for a report or a demand: all of a period, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from agent.insight.period import Period
from agent.records.keeper import Records
from agent.records.rows import CallQuery, CallRow, TurnRow
from agent.records.store import RecordStore
from agent.records_settings import RecordSettings
from frontdesk import ConfigError

_MANY = 1000
_PATIENCE_S = 60


@contextmanager
def kept(settings: RecordSettings) -> Iterator[RecordStore]:
    """The store of ``settings``, once it holds all that the journals do; for a command.

    Raises:
        ConfigError: the database cannot be had.
    """
    records = Records(settings, expires=False)
    records.start()
    try:
        if not records.settled(_PATIENCE_S):
            raise ConfigError(f"the database of calls is not to be had: {records.trouble}")
        yield records.store
    finally:
        records.close()


def calls_of(store: RecordStore, period: Period) -> Iterator[CallRow]:
    """Its calls, the newest first.

    Raises:
        StoreError: the database cannot be read.
    """
    query = CallQuery(since=period.since, until=period.until, limit=_MANY)
    while found := store.calls(query):
        yield from found
        query = replace(query, offset=query.offset + _MANY)


def turns_of(store: RecordStore, period: Period) -> Iterator[TurnRow]:
    """Its turns, the oldest first, with their marks.

    Raises:
        StoreError: the database cannot be read.
    """
    return store.turns(period.since, period.until)
