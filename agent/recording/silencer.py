"""Takes what is personal out of the caller's channel, once its words were found to be.

The words of a turn are recorded when it has been answered. If the redaction found something in
them, the caller is silent in the recording for as long as the turn was; so is a caller who spoke
and was never put into words, since nobody looked at them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from agent.recording.recording import Recording

Fields = dict[str, Any]
Redact = Callable[[str, Fields], Fields]

_BEFORE_MS = 500
"""Speech is noticed so much after it began, and some more."""
_AFTER_MS = 100
_WHOLE = ("verdict", "resumed")
"""These have all the words of the turns since the last of them, and the number of the last turn."""
_NO_TURN = ("ignored", "callee")
"""These have the words of a sound that was none, or of whoever answered a call that we placed."""
_OF_A_TURN = ("rewriting", "second_opinion", *_NO_TURN, *_WHOLE)


class Record(Protocol):
    """What is needed of a call's record."""

    redact: Redact | None

    def now_ms(self) -> float:
        """Milliseconds since the call began."""

    def event(self, kind: str, **fields: Any) -> Any:
        """Record an event."""


@dataclass(slots=True)
class _Turn:
    began_ms: float
    ended_ms: float | None = None


class Silencer:
    """Silences the caller's turns in ``recording`` by what ``record`` finds in their words.

    Make it when ``record.redact`` is set: it looks at what comes out of that. Tell it what the
    frames at the end of the pipeline say; they come there in their order, but may come after the
    events that they led to. The first turn that begins is the one that events call 1.
    """

    def __init__(self, recording: Recording, record: Record) -> None:
        self._recording = recording
        self._record = record
        self._turns: dict[int, _Turn] = {}
        self._number = 0
        self._worded = self._silent = 0
        self._sound_ms: float | None = None
        self._since_ms = 0.0
        self._found = False
        redact = record.redact
        if redact is not None:
            record.redact = lambda kind, fields: self._looked(kind, redact(kind, fields))

    def sounds(self) -> None:
        """The caller makes a sound, of which a turn may become."""
        if self._sound_ms is None:
            self._sound_ms = self._record.now_ms()

    def begins(self) -> None:
        """The caller's next turn begins, with the sound before."""
        self.sounds()
        assert self._sound_ms is not None
        self._number += 1
        self._turns[self._number] = _Turn(self._sound_ms)
        self._sound_ms = None

    def ends(self) -> None:
        """The caller's turn is over."""
        turn = self._turns.get(self._number)
        if turn is not None and turn.ended_ms is None:
            turn.ended_ms = self._record.now_ms()
            self._sound_ms = None
            self._settle()

    def finish(self) -> None:
        """The call is over: what was said since the last words that were recorded goes."""
        for number, turn in self._turns.items():
            if number <= self._silent or number > self._worded:
                self._silence(turn)
        self._turns = {}

    def _looked(self, kind: str, kept: Fields) -> Fields:
        """Of each event that holds words of the caller's."""
        if kind in _OF_A_TURN:
            self._found = self._found or bool(kept.get("redacted"))
        if kind in (*_NO_TURN, *_WHOLE):
            told = self._over if kind in _NO_TURN else self._answered
            asyncio.get_running_loop().call_soon(told, int(kept.get("turn", 0)), self._found)
            self._found = False
        return kept

    def _answered(self, number: int, found: bool) -> None:
        """The words of turn ``number``, and of those before that had none yet, are recorded."""
        self._since_ms = self._record.now_ms()
        self._worded = max(self._worded, number)
        if found:
            self._silent = self._worded
        self._settle()

    def _over(self, _: int, found: bool) -> None:
        """A sound that was no turn was put into words; it began after the last at the earliest."""
        if found:
            self._silence(_Turn(self._since_ms if self._sound_ms is None else self._sound_ms))
        self._sound_ms = None
        self._since_ms = self._record.now_ms()

    def _settle(self) -> None:
        """Be done with the turns that are over and whose words are recorded."""
        for number, turn in list(self._turns.items()):
            if number <= self._worded and turn.ended_ms is not None:
                del self._turns[number]
                if number <= self._silent:
                    self._silence(turn)

    def _silence(self, turn: _Turn) -> None:
        now = self._record.now_ms()
        until = now if turn.ended_ms is None else min(now, turn.ended_ms + _AFTER_MS)
        silence = self._recording.silence(turn.began_ms - _BEFORE_MS, until)
        if silence is not None:
            self._record.event("silenced", **silence.fields)
            silence.done()
