"""Rows of the store for a report or a demand: all of a period, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.insight.period import Period
from agent.records.rows import CallQuery, CallRow, TurnRow
from agent.records.store import RecordStore

_MANY = 1000


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
