"""What a call's events come to: its row, its turns, and the passages that they rest on. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

Event = Mapping[str, Any]
Values = dict[str, Any]

_CALLER = frozenset({"caller hung up"})
_AGENT = frozenset({"agent hung up", "goodbye", "time limit"})
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_OF_THE_CHAIN = frozenset({"seq", "t_ms", "event", "turn", "audio", "prev", "hash"})


def call_values(name: str, events: Sequence[Event]) -> Values:
    """The row of the call ``name``, of the events so far; there is at least one."""
    began = _first(events, "call_started")
    ready = _first(events, "ready")
    ended = _first(events, "call_ended")
    verdicts = [event for event in events if event.get("event") == "verdict"]
    decisions = [str(event.get("decision", "")) for event in verdicts]
    replies = sorted(ms for ms in _replies(events).values() if ms is not None)
    start = started_at(events)
    last_ms = _ms(events[-1])
    reason = str(ended.get("reason", ""))
    hung_up_by = "caller" if reason in _CALLER else "agent" if reason in _AGENT else ""
    return {
        "id": name,
        "call_id": str(began.get("call_id", "")),
        "wire": str(ready.get("wire", "")),
        "caller": str(began.get("caller", "")),
        "caller_key": str(began.get("caller_key", "")),
        "called": str(began.get("called", "")),
        "started_at": start,
        "ended_at": start + timedelta(milliseconds=_ms(ended)) if ended else None,
        "ended": reason,
        "seconds": round(last_ms / 1000, 3),
        "turns": len(verdicts),
        "answered": decisions.count("answered"),
        "refused": decisions.count("refused"),
        "transferred": bool(_first(events, "handed_over")) or reason == "transferred",
        "hung_up_by": hung_up_by,
        "reply_p50_ms": _percentile(replies, 50),
        "reply_p95_ms": _percentile(replies, 95),
        "kb": str((verdicts[-1] if verdicts else ready).get("kb", "")),
        "versions": json.dumps({k: v for k, v in ready.items() if k not in _OF_THE_CHAIN}),
        "recording": f"{name}.wav" if any(event.get("audio") for event in events) else None,
        "events": len(events),
        "head": str(events[-1].get("hash", "")),
    }


def turn_values(name: str, events: Sequence[Event]) -> list[Values]:
    """The rows of its turns."""
    start, replies = started_at(events), _replies(events)
    return [
        {
            "call": name,
            "turn": int(event.get("turn") or 0),
            "seq": int(event["seq"]),
            "at": start + timedelta(milliseconds=_ms(event)),
            "heard": str(event.get("heard", "")),
            "question": str((event.get("query") or {}).get("text", "")),
            "context": _text((event.get("query") or {}).get("context")),
            "decision": str(event.get("decision", "")),
            "reason": str(event.get("reason", "")),
            "score": _number(event.get("score")),
            "floor": _number(event.get("floor")),
            "say": str(event.get("say", "")),
            "citations": json.dumps(event.get("citations", [])),
            "answered_by": str(event.get("answered_by") or ""),
            "reply_ms": replies.get(int(event["seq"])),
        }
        for event in events
        if event.get("event") == "verdict"
    ]


def evidence_values(name: str, event: Event) -> list[Values]:
    """The passages that were found for a ``verdict`` event."""
    cited = set(event.get("citations", []))
    return [
        {
            "call": name,
            "seq": int(event["seq"]),
            "place": place,
            "passage": str(hit.get("id", "")),
            "sha256": str(hit.get("sha256", "")),
            "score": _number(hit.get("score")),
            "cited": hit.get("id") in cited,
        }
        for place, hit in enumerate(event.get("hits", []))
    ]


def started_at(events: Sequence[Event]) -> datetime:
    """When the call began."""
    try:
        at = datetime.fromisoformat(str(_first(events, "call_started").get("at", "")))
    except ValueError:
        return _LONG_AGO
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _replies(events: Sequence[Event]) -> dict[int, float | None]:
    """Milliseconds from silence to voice, by the number of the verdict's event."""
    found: dict[int, float | None] = {}
    current: int | None = None
    for event in events:
        kind = event.get("event")
        if kind == "verdict":
            current = int(event["seq"])
        elif kind == "said":
            current = None
        elif kind == "reply_started" and current is not None:
            found.setdefault(current, _number((event.get("stages_ms") or {}).get("audible")))
    return found


def _percentile(values: Sequence[float], percent: int) -> float | None:
    if not values:
        return None
    return round(float(np.percentile(values, percent, method="lower")), 1)


def _first(events: Sequence[Event], kind: str) -> Event:
    return next((event for event in events if event.get("event") == kind), {})


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _ms(event: Event) -> float:
    value = event.get("t_ms")
    return float(value) if isinstance(value, (int, float)) else 0.0
