"""Where the time of one turn goes, measured from the caller's last speech."""

from __future__ import annotations

from agent.records import CallRecord


class CallTrace:
    """The record of one call, with the running turn's number and stage times.

    Stage times are milliseconds after the caller stopped speaking, as the VAD saw it.
    """

    def __init__(self, record: CallRecord) -> None:
        self.record = record
        self.turn = 0
        self._silent_since_ms: float | None = None
        self._stages: dict[str, float] = {}

    def now_ms(self) -> float:
        """Milliseconds since the call started."""
        return self.record.now_ms()

    def begin_turn(self) -> None:
        """The caller began to speak."""
        self.turn += 1
        self._silent_since_ms = None
        self._stages = {}

    def silent_since(self, at_ms: float) -> None:
        """The caller fell silent at ``at_ms``; stages of a pause before this one do not count."""
        self._silent_since_ms = at_ms
        self._stages = {}

    def stage(self, name: str) -> None:
        """Stage ``name`` of this turn is done now (only the first time counts)."""
        if self._silent_since_ms is not None:
            self._stages.setdefault(name, round(self.now_ms() - self._silent_since_ms, 1))

    def stages(self) -> dict[str, float]:
        """The stages so far, in the order they were reached."""
        return dict(self._stages)

    def event(self, kind: str, **fields: object) -> None:
        """Record an event of the running turn."""
        self.record.event(kind, turn=self.turn, **fields)

    def passing(self, kind: str, **fields: object) -> None:
        """Show what is gone a moment later, and record nothing."""
        self.record.passing(kind, turn=self.turn, **fields)
