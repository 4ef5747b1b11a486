"""Rows of the store as the console's lists have them, in JSON and in CSV."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent.console import words
from agent.records.store import CallRow, TurnRow

CALL_COLUMNS = (
    "id", "call_id", "wire", "caller", "called", "started_at", "ended_at", "ended", "seconds",
    "turns", "answered", "refused", "transferred", "hung_up_by", "reply_p50_ms", "reply_p95_ms",
    "kb", "right", "wrong", "doubtful",
)  # fmt: skip
REFUSAL_COLUMNS = (
    "call", "turn", "at", "heard", "question", "context", "reason", "score", "floor", "say",
)  # fmt: skip


def call_json(row: CallRow) -> dict[str, Any]:
    """One call in a list."""
    return {
        "id": row.id,
        "call_id": row.call_id,
        "wire": row.wire,
        "caller": row.caller,
        "called": row.called,
        "started_at": moment(row.started_at),
        "ended_at": moment(row.ended_at),
        "ended": row.ended,
        "live": row.ended_at is None,
        "seconds": row.seconds,
        "turns": row.turns,
        "answered": row.answered,
        "refused": row.refused,
        "transferred": bool(row.transferred),
        "hung_up_by": row.hung_up_by,
        "reply_p50_ms": row.reply_p50_ms,
        "reply_p95_ms": row.reply_p95_ms,
        "kb": row.kb,
        "recording": bool(row.recording),
    }


def call_cells(row: CallRow, marks: Mapping[str, int]) -> list[object]:
    """One call in CSV, in the order of ``CALL_COLUMNS``."""
    shown = call_json(row) | marks_json(marks)
    return [shown[name] for name in CALL_COLUMNS]


def marks_json(marks: Mapping[str, int]) -> dict[str, int]:
    """How many turns are marked how."""
    return {label: marks.get(label, 0) for label in ("right", "wrong", "doubtful")}


def refusal_json(row: TurnRow) -> dict[str, Any]:
    """One refusal in a list."""
    return {
        "call": row.call,
        "turn": row.turn,
        "at": moment(row.at),
        "heard": row.heard,
        "question": row.question,
        "context": row.context,
        "reason": row.reason,
        "reason_text": words.reason(row.reason),
        "score": row.score,
        "floor": row.floor,
        "say": row.say,
    }


def moment(at: datetime | None) -> str | None:
    """A time as JSON has it."""
    return None if at is None else at.isoformat(timespec="milliseconds")
