"""Recorded calls again: the same transcripts through the same session and answer path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.records import read_record
from agent.session import Session, verdict_json
from frontdesk import ConfigError, Spoken
from rag import Index, Policy

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


def replay(path: Path, index: Index, policy: Policy) -> Replayed:
    """Run one record's transcripts again and compare.

    Raises:
        ConfigError: if the file is not a call record or holds no turn.
    """
    session = Session(index, policy)
    changes: list[Change] = []
    turns = 0
    for event in read_record(path):
        if event["event"] == "said":
            session.said(Spoken(event["say"]))
        elif event["event"] == "verdict":
            turns += 1
            reply = session.reply(event["heard"])
            session.accept(reply)
            changes += _compare(turns, event, verdict_json(reply.verdict))
    if not turns:
        raise ConfigError(f"{path} holds no turn to replay")
    return Replayed(path, turns, tuple(changes))


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
