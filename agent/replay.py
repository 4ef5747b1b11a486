"""Recorded calls again: the same transcripts through the same session and answer path.

What a language model said is judged again, by today's checks on today's passages; no server is
asked, unless one is given. What a second recogniser heard is asked again as it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.answering import Answered, Rewrites, Words, answered
from agent.generation import GenerationPolicy, Recorded, RecordedRewriter, draft_checks
from agent.generation.policy import DEFAULT
from agent.handover import Standing
from agent.handover_rules import Rules
from agent.played import Played
from agent.records import read_record
from agent.second_opinion import RecordedOpinion
from agent.session import Session, verdict_json
from frontdesk import ConfigError, Spoken
from rag import Index, Policy, Reason

# What a caller could notice. Scores and timings may differ between machines.
_COMPARED = ("decision", "reason", "query.text", "citations", "say")


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one turn that came out differently."""

    turn: int
    heard: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Replayed:
    """One record's outcome."""

    path: Path
    turns: int
    changes: tuple[Change, ...]


def record_paths(paths: list[Path]) -> list[Path]:
    """Records named one by one or by folder.

    Raises:
        ConfigError: if a path is missing or a folder holds no record.
    """
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not inside or not path.exists():
            raise ConfigError(f"no call record at {path}")
        found += inside
    return found


@dataclass(frozen=True, slots=True)
class Models:
    """The language models of a replay: those given, else what the record says that they said.

    ``rules`` are those of a hand-over to a person.
    """

    words: Words | None = None
    rewriter: Rewrites | None = None
    policy: GenerationPolicy = DEFAULT
    rules: Rules = field(default_factory=Rules)

    def words_for(self, event: dict[str, Any], index: Index) -> Words | None:
        """What words the answer to the turn whose ``verdict`` is ``event``."""
        if self.words is not None or event.get("answered_by") != "generated":
            return self.words
        said = Spoken.strip(event.get("draft") or event["say"]).text
        return Recorded(said, tuple(event["citations"]), draft_checks(index), self.policy)

    def rewriter_for(self, event: dict[str, Any] | None) -> Rewrites | None:
        """What makes the question stand alone; ``event`` is the ``rewriting`` of its turn."""
        text = event.get("text") if event else None
        return RecordedRewriter(text) if self.rewriter is None and text else self.rewriter


_RECORDED = Models()


async def replay(path: Path, index: Index, policy: Policy, models: Models = _RECORDED) -> Replayed:
    """Run one record's transcripts again and compare.

    Raises:
        ConfigError: if the file is not a call record or holds no turn.
    """
    replayed, _ = await _replayed(path, index, policy, models)
    if not replayed.turns:
        raise ConfigError(f"{path} holds no turn to replay")
    return replayed


async def _replayed(
    path: Path, index: Index, policy: Policy, models: Models
) -> tuple[Replayed, Session]:
    session = Session(index, policy)
    changes: list[Change] = []
    turns = 0
    rewriting: dict[str, Any] | None = None
    second: RecordedOpinion | None = None
    for event in read_record(path):
        if event["event"] == "desk":
            session = Session(index, policy, _standing(models.rules, event))
        elif event["event"] == "returned" and (before := _before(path, event)):
            _, session = await _replayed(before, index, policy, models)
            _follow(session, event)
        elif event["event"] == "rewriting":
            rewriting = event
        elif event["event"] == "second_opinion":
            second = RecordedOpinion(event["text"]) if event["text"] else None
        elif event["event"] == "verdict":
            turns += 1
            words, rewriter = models.words_for(event, index), models.rewriter_for(rewriting)
            if event.get("key") and event["reason"] == Reason.PERSON:
                decided = Answered(session.person())
            else:
                decided = await answered(
                    session, event["heard"], words=words, rewriter=rewriter, second=second
                )
            rewriting = second = None
            session.accept(decided.reply)
            changes += _compare(turns, event, verdict_json(decided.reply.verdict))
        else:
            _follow(session, event)
    return Replayed(path, turns, tuple(changes)), session


def _before(path: Path, returned: dict[str, Any]) -> Path | None:
    """The record of the call up to the hand-over that brought it back, if it is still there."""
    if not returned.get("goes_on"):
        return None
    at, _, call = path.name.partition("-")  # as agent.records.CallRecord names it
    named = (one.name.partition("-") for one in path.parent.glob(f"*-{call}"))
    earlier = [when for when, _, which in named if which == call and when < at]
    return path.with_name(f"{max(earlier)}-{call}") if earlier else None


def _standing(rules: Rules, event: dict[str, Any]) -> Standing:
    """What could be done about a person, from the ``desk`` event: the hour is the record's."""
    is_open = event["is_open"]
    return Standing(rules, can_transfer=event["can_transfer"], is_open=lambda: is_open)


def _follow(session: Session, event: dict[str, Any]) -> None:
    """What happened to the session between its replies."""
    match event["event"]:
        case "said":
            session.said(Spoken(event["say"]))
        case "interrupted":
            session.cut(cut_of(event))
        case "resumed":
            session.resumed()
        case "handover_failed" | "returned":
            session.handover_failed(event["problem"])


def cut_of(event: dict[str, Any]) -> Played:
    """What was heard of a reply, from its ``interrupted`` event; older records do not say."""
    return Played(
        event.get("heard_whole", ""),
        event.get("heard_words", ""),
        event.get("cut_sentence", ""),
        Spoken(event.get("rest", "")),
    )


def _compare(turn: int, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for name in _COMPARED:
        old, new = _get(before, name), _get(after, name)
        if old != new:
            yield Change(turn, before["heard"], name, old, new)


def _get(shape: dict[str, Any], dotted: str) -> Any:
    value: Any = shape
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
