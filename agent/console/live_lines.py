"""What watchers of a call in progress see of each event: its lines, and what the call is doing.

Pure. Of an event nothing is shown but the fields named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.console import words

Event = Mapping[str, Any]

# What a call is doing once this has happened; what is not here leaves it as it was.
_STATES = {
    "call_started": "listening",
    "hearing": "hearing",
    "verdict": "thinking",
    "said": "thinking",
    "reply_started": "speaking",
    "reply_ended": "listening",
    "interrupted": "hearing",
    "taken_back": "hearing",
    "resumed": "speaking",
    "handing_over": "handing over",
    "handed_over": "handed over",
    "handover_failed": "listening",
    "call_ended": "ended",
}
_SPOKEN = {"hearing": ("caller", "heard"), "said": ("agent", "say")}
_NOTES = frozenset(
    {
        "interrupted", "taken_back", "key", "typed", "handing_over", "handed_over",
        "handover_failed", "handover_called_off", "returned", "hang_up", "call_ended",
    }
)  # fmt: skip
_DECIDED = ("decision", "reason", "score", "floor", "citations")


def state_after(event: Event, before: str) -> str:
    """What the call is doing after ``event``."""
    return _STATES.get(event.get("event", ""), before)


def lines_of(event: Event) -> list[dict[str, Any]]:
    """The lines that ``event`` adds to the call's transcript; often none."""
    kind = event.get("event", "")
    if kind == "verdict":
        decided = {name: event.get(name) for name in _DECIDED}
        return [
            _line(event, "caller", str(event.get("heard", ""))) | decided,
            _line(event, "agent", str(event.get("say", ""))) | decided,
        ]
    if kind in _SPOKEN:
        who, name = _SPOKEN[kind]
        return [_line(event, who, str(event.get(name, "")))]
    if kind in _NOTES:
        return [_line(event, "note", words.line(event))]
    return []


def _line(event: Event, who: str, text: str) -> dict[str, Any]:
    return {
        "seq": event.get("seq"),
        "t_ms": event.get("t_ms", 0.0),
        "kind": event.get("event", ""),
        "who": who,
        "text": text,
        "turn": event.get("turn"),
    }
