"""The statements by which calls and turns are found."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import ColumnElement, Select, false, literal_column, select, text

from agent.records.rows import CallQuery, TurnQuery
from agent.records.tables import calls, marks, turns

_WORD = re.compile(r"\w+")
_MAX_WORDS = 12

_OUTCOMES: dict[str, ColumnElement[bool]] = {
    "answered": calls.c.answered > 0,
    "refused": calls.c.refused > 0,
    "transferred": calls.c.transferred.is_(True),
    "hung_up": calls.c.hung_up_by == "caller",
    "marked": calls.c.id.in_(select(marks.c.call)),
}


def call_conditions(query: CallQuery, dialect: str) -> list[ColumnElement[bool]]:
    """What a call must be."""
    found: list[ColumnElement[bool]] = []
    if query.since is not None:
        found.append(calls.c.started_at >= query.since)
    if query.until is not None:
        found.append(calls.c.started_at < query.until)
    if query.wire:
        found.append(calls.c.wire == query.wire)
    if query.outcome:
        found.append(_OUTCOMES.get(query.outcome, false()))
    if query.text:
        said = select(turns.c.call).where(_has_words(query.text, dialect))
        found.append(calls.c.id.in_(said))
    return found


def turn_conditions(query: TurnQuery, dialect: str) -> list[ColumnElement[bool]]:
    """What a turn must be."""
    found: list[ColumnElement[bool]] = []
    if query.decision:
        found.append(turns.c.decision == query.decision)
    if query.since is not None:
        found.append(turns.c.at >= query.since)
    if query.until is not None:
        found.append(turns.c.at < query.until)
    if query.reason:
        found.append(turns.c.reason == query.reason)
    if query.text:
        found.append(_has_words(query.text, dialect))
    return found


def _has_words(words: str, dialect: str) -> ColumnElement[bool]:
    """A turn in which every word of ``words`` begins one that was heard, looked up or said."""
    wanted = [word.strip("_") for word in _WORD.findall(words.casefold())]
    wanted = [word for word in wanted if word][:_MAX_WORDS]
    if not wanted:
        return false()
    if dialect == "sqlite":
        match = " ".join(f'"{word}"*' for word in wanted)  # each a string of FTS5: no operator
        found: Select[Any] = select(literal_column("rowid")).select_from(text("turns_text"))
        return turns.c.id.in_(found.where(text("turns_text MATCH :match").bindparams(match=match)))
    match = " & ".join(f"'{word}':*" for word in wanted)
    return text(
        "to_tsvector('simple', turns.heard || ' ' || turns.question || ' ' || turns.say) "
        "@@ to_tsquery('simple', :match)"
    ).bindparams(match=match)  # type: ignore[return-value]
