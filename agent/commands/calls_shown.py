"""A call's events as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.report import second_line

_PLUMBING = frozenset({"t_ms", "event", "seq", "prev", "hash", "audio", "format"})


def shown(events: Sequence[Mapping[str, Any]]) -> str:
    """One line an event, more for a turn and its evidence."""
    return "\n".join(line for event in events for line in _lines(event))


def _lines(event: Mapping[str, Any]) -> Iterator[str]:
    at = f"{event['t_ms'] / 1000:8.2f} s"
    match event["event"]:
        case "said":
            yield f"{at}  agent   {event['say']}"
        case "verdict":
            yield from _verdict(at, event)
        case "resumed":
            yield f"{at}  caller  {event['heard'] or '(a sound)'}"
            yield f"{'':10}  agent   {event['say']}"
            yield f"{'':20}goes on: nobody meant to cut it"
        case "taken_back":
            yield f"{at}  caller  goes on; {event['played_ms']} ms of a reply are taken back"
        case "second_opinion":
            yield f"{'':20}{second_line(event)}"
        case kind:
            yield f"{at}  {kind}  { {k: v for k, v in event.items() if k not in _PLUMBING} }"


def _verdict(at: str, event: Mapping[str, Any]) -> Iterator[str]:
    score = "" if event["score"] is None else f" {event['score']:.3f}"
    floor = "" if event.get("floor") is None else f" (floor {event['floor']:.3f})"
    cited = " ".join(f"[{name}]" for name in event["citations"])
    yield f"{at}  caller  {event['heard']}"
    yield f"{'':10}  agent   {event['say']}"
    yield f"{'':20}{event['decision']} ({event['reason']}){score}{floor} {cited}".rstrip()
    query = event["query"]
    if query.get("changes"):
        yield f"{'':20}looked up {query['text']!r} ({', '.join(query['changes'])})"
    if event["decision"] == "refused" and event.get("detail"):
        yield f"{'':20}{event['detail']}"
