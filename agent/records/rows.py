"""What the store gives and takes: calls, turns, marks, and what may be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call as lists show it; times are UTC. ``ended`` is the reason, '' while it goes on."""

    id: str
    call_id: str
    wire: str
    caller: str
    called: str
    started_at: datetime
    ended_at: datetime | None
    ended: str
    seconds: float
    turns: int
    answered: int
    refused: int
    transferred: bool
    hung_up_by: str
    reply_p50_ms: float | None
    reply_p95_ms: float | None
    kb: str
    versions: Mapping[str, Any]
    recording: str | None
    events: int
    head: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person said of an answer: ``label`` is right, wrong or doubtful."""

    call: str
    turn: int
    label: str
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One utterance and its reply. ``question`` is what was looked up; ``reply_ms`` runs from the
    caller's silence to the agent's voice.
    """

    call: str
    turn: int
    seq: int
    at: datetime
    heard: str
    question: str
    context: str | None
    decision: str
    reason: str
    score: float | None
    floor: float | None
    say: str
    citations: tuple[str, ...]
    answered_by: str
    reply_ms: float | None
    marks: tuple[Mark, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which calls, the newest first. ``since`` counts, ``until`` does not.

    ``text`` are words, each the beginning of one that was heard or said in one turn. ``outcome``:
    answered or refused (at least once), transferred, hung_up (by the caller), marked, '' for all.
    """

    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    outcome: str = ""
    wire: str = ""
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """Which turns, the newest first; as :class:`CallQuery`."""

    since: datetime | None = None
    until: datetime | None = None
    decision: str = ""
    reason: str = ""
    text: str = ""
    offset: int = 0
    limit: int = 50
