"""One call's events as its page shows them: each turn's chain from what was heard to what was said.

Pure: events in, dictionaries out. Records of other versions may lack a field; nothing here
raises for one that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.console import words
from agent.console.passages import Passages

Event = Mapping[str, Any]
_EMPTY_QUERY: dict[str, Any] = {
    "raw": "", "text": "", "context": None, "language": "", "changes": [],
}  # fmt: skip


@dataclass(slots=True)
class _Reply:
    """What one turn's answer, or one prompt, became on the line."""

    event: Event
    around: dict[str, Event] = field(default_factory=dict)
    resumed: list[str] = field(default_factory=list)

    @property
    def span_ms(self) -> list[float] | None:
        """From the voice's first sound to its last; to where it was cut, if it was."""
        started, ended = self.around.get("reply_started"), self.around.get("reply_ended")
        if started is None:
            return None
        begin = _ms(started)
        end = ended or self.around.get("interrupted") or self.around.get("taken_back")
        return [begin, begin + float((end or {}).get("played_ms") or 0)]


def chain(events: Sequence[Event], passages: Passages) -> list[dict[str, Any]]:
    """The turns of a call, in order."""
    return [_turn(one, passages) for one in _replies(events) if one.event["event"] == "verdict"]


def prompts(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The agent's own words: greeting, "are you still there?"."""
    return [
        {
            "at_ms": _ms(one.event),
            "say": str(one.event.get("say", "")),
            "reply_span_ms": one.span_ms,
        }
        for one in _replies(events)
        if one.event["event"] == "said"
    ]


def lines(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Every event, in a line."""
    return [
        {
            "seq": event.get("seq", number),
            "t_ms": _ms(event),
            "event": str(event.get("event", "")),
            "turn": event.get("turn"),
            "text": words.line(event),
        }
        for number, event in enumerate(events)
    ]


# What came before a verdict, of its turn; and what becomes of the reply that is spoken now.
_BEFORE = frozenset({"rewriting", "second_opinion", "generation"})
_AFTER = frozenset({"reply_started", "reply_ended", "interrupted", "taken_back"})


def _replies(events: Iterable[Event]) -> list[_Reply]:
    replies: list[_Reply] = []
    before: dict[str, Event] = {}
    for event in events:
        kind = event.get("event")
        if kind in ("verdict", "said"):
            replies.append(_Reply(event, before))
            before = {}
        elif kind in _BEFORE:
            before[str(kind)] = event
        elif kind in _AFTER and replies:
            replies[-1].around.setdefault(str(kind), event)
        elif kind == "resumed" and replies:
            replies[-1].resumed.append(str(event.get("heard", "")))
            replies[-1].around.pop("interrupted", None)
    return replies


def _turn(reply: _Reply, passages: Passages) -> dict[str, Any]:
    verdict, around = reply.event, reply.around
    query = _EMPTY_QUERY | dict(verdict.get("query") or {})
    started = around.get("reply_started", {})
    stages: Mapping[str, float] = started.get("stages_ms") or {}
    audible = stages.get("audible")
    spoke_until = None if audible is None else round(_ms(started) - audible, 1)
    return {
        "turn": verdict.get("turn"),
        "seq": verdict.get("seq"),
        "at_ms": _ms(verdict),
        "spoke_ms": [None, spoke_until],
        "reply_span_ms": reply.span_ms,
        "heard": str(verdict.get("heard", "")),
        "heard_again": _only(around.get("second_opinion"), "text", "outcome", "ms"),
        "query": query,
        "changes_text": [words.change(name) for name in query["changes"]],
        "rewriting": _plain(around.get("rewriting")),
        "generation": _plain(around.get("generation")),
        "decision": verdict.get("decision", ""),
        "answered_by": verdict.get("answered_by"),
        "reason": verdict.get("reason", ""),
        "reason_text": words.reason(str(verdict.get("reason", ""))),
        "detail": verdict.get("detail", ""),
        "score": verdict.get("score"),
        "floor": verdict.get("floor"),
        "hits": _hits(verdict, passages),
        "checks": verdict.get("checks", []),
        "draft": verdict.get("draft"),
        "say": str(verdict.get("say", "")),
        "citations": verdict.get("citations", []),
        "passages": passages.cited(verdict),
        "stages": stage_spans(stages),
        "reply_ms": audible,
        "timings_ms": verdict.get("timings_ms", {}),
        "interrupted": _only(around.get("interrupted"), "played_ms", "rest"),
        "taken_back_ms": around.get("taken_back", {}).get("played_ms"),
        "resumed": reply.resumed,
    }


def stage_spans(stages_ms: Mapping[str, float]) -> list[dict[str, Any]]:
    """The stages of a turn one after another, each from where the one before it ended."""
    labels = dict(words.STAGES)
    spans, at = [], 0.0
    for name, ms in sorted(stages_ms.items(), key=lambda item: item[1]):
        if name in labels:
            spans.append({"name": name, "label": labels[name], "from_ms": at, "to_ms": ms})
            at = ms
    return spans


def _hits(verdict: Event, passages: Passages) -> list[dict[str, Any]]:
    cited = set(verdict.get("citations", []))
    shown = []
    for hit in verdict.get("hits", []):
        name = str(hit.get("id", ""))
        found = passages.named(name)
        shown.append(
            {
                "id": name,
                "score": hit.get("score"),
                "cited": name in cited,
                "heading": found[0].heading if found else None,
                "document": found[1] if found else None,
            }
        )
    return sorted(shown, key=lambda hit: -(hit["score"] or 0.0))


def _only(event: Event | None, *names: str) -> dict[str, Any] | None:
    return None if event is None else {name: event.get(name) for name in names}


_OF_THE_CHAIN = frozenset({"event", "seq", "t_ms", "turn", "audio", "prev", "hash"})


def _plain(event: Event | None) -> dict[str, Any] | None:
    """An event without what only the record's chain needs."""
    if event is None:
        return None
    return {name: value for name, value in event.items() if name not in _OF_THE_CHAIN}


def _ms(event: Event) -> float:
    value = event.get("t_ms")
    return float(value) if isinstance(value, (int, float)) else 0.0
