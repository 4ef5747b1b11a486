"""A call record as a case: its turns, what came of each, and what was said and done between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.played import Played
from agent.privacy import stand_ins
from agent.records import read_record
from agent.replay.case import Case, Pins, Turn
from agent.replay.details import without_details
from frontdesk import ConfigError, Spoken

_BETWEEN = {
    "said": ("say",),
    "interrupted": ("heard_whole", "heard_words", "cut_sentence", "rest"),
    "resumed": (),
    "handover_failed": ("problem",),
    "returned": ("problem",),
}
"""Events that move a session between two turns, and what of them does."""
_VERDICT = ("query", "citations", "decision", "reason", "say")


def case_of_record(path: Path) -> Case:
    """The conversation of a record, with the call before it where that one goes on.

    Raises:
        ConfigError: the file is no call record, is of a version that is not known, or has no turn.
    """
    events = read_record(path)
    try:
        turns = tuple(turns_of(events))
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is of a version that cannot be replayed ({error})") from None
    if not turns:
        raise ConfigError(f"{path} holds no turn to replay")
    pins = pins_of(events)
    earlier = _earlier(path, events)
    if earlier is not None:
        turns = tuple(replace(turn, earlier=True) for turn in earlier.turns) + turns
        pins = replace(pins, desk=earlier.pins.desk)
    return readable(Case(turns, pins, seconds=duration_s(events)))


def readable(case: Case) -> Case:
    """``case`` with stand-ins where personal details were left out of its record: they can be asked
    and said. What was made of such a question is not known any more, so it is not compared.
    """
    return replace(case, turns=tuple(_readable(turn) for turn in case.turns))


def _readable(turn: Turn) -> Turn:
    if not _LEFT_OUT.search(repr((turn.heard, turn.before, turn.expect, turn.generated))):
        return turn
    whole = without_details(turn, _filled)
    if _LEFT_OUT.search(turn.heard):
        expect = {k: v for k, v in whole.expect.items() if k not in ("query", "rules")}
        return replace(whole, expect=expect)
    return whole


def turns_of(events: Iterable[Mapping[str, Any]]) -> Iterable[Turn]:
    """The turns of a record's ``events``, each with what happened since the one before."""
    open_turn: dict[str, Any] | None = None
    before: list[dict[str, Any]] = []
    beside: dict[str, Any] = {}
    for event in events:
        kind = event["event"]
        if kind in _BETWEEN:
            kept = {name: event[name] for name in _BETWEEN[kind] if name in event}
            before.append({"event": kind, **kept})
        elif kind == "rewriting":
            beside["rewritten"] = event.get("text") or ""
        elif kind == "second_opinion":
            beside["second"] = event.get("text") or ""
        elif kind == "handing_over" and open_turn is not None:
            open_turn["expect"]["hand_over"] = event["rule"]
        elif kind == "reply_ended" and open_turn is not None:
            open_turn["heard_out"] = True
        elif kind == "verdict":
            if open_turn is not None:
                yield _closed(open_turn)
            open_turn = _turn(event, before, beside)
            before, beside = [], {}
    if open_turn is not None:
        open_turn["heard_out"] = False  # the call may have ended before a hand-over
        yield _closed(open_turn)


def _turn(
    event: Mapping[str, Any], before: list[dict[str, Any]], beside: dict[str, Any]
) -> dict[str, Any]:
    generated: dict[str, Any] = {}
    if event.get("answered_by") == "generated":
        draft = Spoken.strip(event.get("draft") or event["say"]).text
        generated = {"say": draft, "citations": list(event["citations"])}
    return {
        "heard": event["heard"],
        "key": event.get("key", ""),
        "before": tuple(before),
        "generated": generated,
        "expect": expected_of(event),
        **beside,
    }


def _closed(turn: dict[str, Any]) -> Turn:
    """A hand-over that did not come is only known not to have where there was time for it."""
    if turn.pop("heard_out", False):
        turn["expect"].setdefault("hand_over", "")
    return Turn(**turn)


def expected_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """What a ``verdict`` event says that is compared, and what it is explained by."""
    cited = set(event["citations"])
    query = event["query"]
    rules = {"rules": list(query["changes"])} if "changes" in query else {}  # older ones lack it
    return {
        "decision": event["decision"],
        "reason": event["reason"],
        "query": query["text"],
        "citations": list(event["citations"]),
        "say": event["say"],
        "score": event.get("score"),
        "floor": event.get("floor"),
        "passages": {
            hit["id"]: hit["sha256"][:16] for hit in event.get("hits", []) if hit["id"] in cited
        },
        **rules,
    }


def pins_of(events: Sequence[Mapping[str, Any]]) -> Pins:
    """What the answers of a record rest on. Records of before lack some of it."""
    found: dict[str, Mapping[str, Any]] = {}
    for event in events:
        found.setdefault(event["event"], event)
    ready, started = found.get("ready", {}), found.get("call_started", {})
    desk = found.get("desk")
    return Pins(
        kb=ready.get("kb", ""),
        embedder=ready.get("embedder", ""),
        floors=dict(ready.get("floors", {})),
        recogniser=ready.get("recogniser", ""),
        worded_by=ready.get("worded_by") or "",
        at=_time(started.get("at")),
        desk=None if desk is None else {k: desk[k] for k in ("can_transfer", "is_open")},
    )


def _time(text: Any) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return Pins().at
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def duration_s(events: Sequence[Mapping[str, Any]]) -> float:
    """How long the call took; a clock that was set back does not shorten it."""
    return float(max((event["t_ms"] for event in events), default=0.0)) / 1000


_LEFT_OUT = re.compile(r"\[[a-z][a-z -]*\]")
"""A placeholder of :mod:`agent.privacy`: "[phone number]"."""


def _filled(text: str) -> str:
    return _LEFT_OUT.sub(lambda found: stand_ins(found.group()), text)


def cut_of(event: Mapping[str, Any]) -> Played:
    """What was heard of a reply, from its ``interrupted`` event; older records do not say."""
    return Played(
        event.get("heard_whole", ""),
        event.get("heard_words", ""),
        event.get("cut_sentence", ""),
        Spoken(event.get("rest", "")),
    )


def _earlier(path: Path, events: Sequence[Mapping[str, Any]]) -> Case | None:
    """The call up to the hand-over that brought it back, if its record is still there."""
    if not any(one["event"] == "returned" and one.get("goes_on") for one in events):
        return None
    at, _, call = path.name.partition("-")  # as agent.records.CallRecord names it
    named = (one.name.partition("-") for one in path.parent.glob(f"*-{call}"))
    before = [when for when, _, which in named if which == call and when < at]
    return case_of_record(path.with_name(f"{max(before)}-{call}")) if before else None
