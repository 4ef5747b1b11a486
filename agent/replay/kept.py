"""The record of a replayed call: kept in memory, on the clock of its loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.records import CallRecord


class KeptRecord(CallRecord):
    """Events of one call, none of which is written anywhere. ``clock`` reads seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._seconds = clock
        self._began_s = clock()
        self.path = Path("replay.jsonl")
        self.watchers = []
        self.events: list[dict[str, Any]] = []
        self._over = False

    def now_ms(self) -> float:
        """Milliseconds since the call started, on the simulated clock."""
        return (self._seconds() - self._began_s) * 1000

    def event(self, kind: str, **fields: Any) -> None:
        """Keep one event; after ``close`` it is dropped."""
        if not self._over:
            self.events.append({"t_ms": round(self.now_ms(), 1), "event": kind, **fields})

    @property
    def is_open(self) -> bool:
        """Whether the call is still in progress."""
        return not self._over

    def passing(self, kind: str, **fields: Any) -> None:
        """Nobody watches."""

    def close(self, reason: str) -> None:
        """Keep ``call_ended`` once."""
        if not self._over:
            self.event("call_ended", reason=reason)
            self._over = True
