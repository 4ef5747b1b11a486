"""What a call's events come to, written into the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, insert, select, update

from agent.records import tables as t
from agent.records.chain import canonical
from agent.records.folding import call_values, evidence_values, turn_values


def put_events(connection: Connection, name: str, new: Sequence[Mapping[str, Any]]) -> None:
    """Store events that are not there yet, and what was found for each question."""
    connection.execute(insert(t.events), [event_values(name, one) for one in new])
    found = [row for one in new for row in _evidence(name, one)]
    if found:
        connection.execute(insert(t.evidence), found)


def event_values(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    """The line is that of the journal, to the byte."""
    line = canonical(one)
    if "hash" in one:
        line = line[:-1] + f',"hash":"{one["hash"]}"}}'.encode()
    return {
        "call": name, "seq": one["seq"], "event": str(one.get("event", "")), "line": line.decode(),
    }  # fmt: skip


def _evidence(name: str, one: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = evidence_values(name, one) if one.get("event") == "verdict" else []
    return [storable(values) for values in found]


def lines_of(connection: Connection, name: str) -> list[dict[str, Any]]:
    """The events of a call that are stored, in order."""
    found = select(t.events.c.line).where(t.events.c.call == name).order_by(t.events.c.seq)
    return [json.loads(line) for line in connection.scalars(found)]


def put_call(connection: Connection, name: str, whole: Sequence[Mapping[str, Any]]) -> None:
    """Store the row of a call, of the ``whole`` of its events so far."""
    values = storable(call_values(name, whole))
    known = connection.scalar(select(t.calls.c.id).where(t.calls.c.id == name))
    if known is None:
        connection.execute(insert(t.calls).values(**values))
    else:
        connection.execute(update(t.calls).where(t.calls.c.id == name).values(**values))


def put_turns(connection: Connection, name: str, whole: Sequence[Mapping[str, Any]]) -> None:
    """Store the rows of its turns that are new, and the times of their replies."""
    found = select(t.turns.c.seq, t.turns.c.reply_ms).where(t.turns.c.call == name)
    known: dict[int, float | None] = dict(connection.execute(found).all())
    wanted = [storable(values) for values in turn_values(name, whole)]
    new = [values for values in wanted if values["seq"] not in known]
    if new:
        connection.execute(insert(t.turns), new)
    for values in wanted:  # of a turn only the time of its reply comes later
        if values["seq"] in known and values["reply_ms"] != known[values["seq"]]:
            same = and_(t.turns.c.call == name, t.turns.c.seq == values["seq"])
            connection.execute(update(t.turns).where(same).values(reply_ms=values["reply_ms"]))


def storable(values: dict[str, Any]) -> dict[str, Any]:
    """Text that every database takes: no NUL, no half of a surrogate pair."""
    return {
        name: value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
        if isinstance(value, str)
        else value
        for name, value in values.items()
    }
