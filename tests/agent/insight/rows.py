"""Rows of the store, by hand: only what a test says differs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agent.records.rows import CallRow, Mark, TurnRow

AT = datetime(2026, 3, 9, 15, tzinfo=UTC)
_CALL = CallRow(
    id="c1", call_id="CA1", wire="Test", caller="…42", called="…01", started_at=AT,
    ended_at=AT + timedelta(minutes=2), ended="caller hung up", seconds=120.0, turns=1, answered=1,
    refused=0, transferred=False, hung_up_by="caller", reply_p50_ms=None, reply_p95_ms=None,
    kb="", versions={}, recording=None, events=9, head="",
)  # fmt: skip
_TURN = TurnRow(
    call="c1", turn=1, seq=3, at=AT, heard="When do you open?", question="when do you open",
    context=None, decision="answered", reason="supported", score=0.8, floor=0.4, say="At eight.",
    citations=("kb-hours#1",), answered_by="extractive", reply_ms=200.0,
)  # fmt: skip


def call(**fields):
    return replace(_CALL, **fields)


def turn(**fields):
    return replace(_TURN, **fields)


def refused(question, **fields):
    given = {"heard": question, "question": question, "decision": "refused", "score": 0.1}
    return turn(**given | {"reason": "below_floor", "say": "I'm not sure.", **fields})


def mark(label, note="", number=1):
    return Mark("c1", number, label, note, "console", AT)
