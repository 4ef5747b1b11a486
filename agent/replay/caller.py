"""Who speaks in a replayed call: a case's turns, or the caller's track of a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np

from agent.replay.case import Turn
from agent.replay.line import FRAME_S, Spoken
from speech.audio import Int16

_REPLY_S = 5.0
"""So long a caller waits for a reply, then goes on."""
_LINGER_S = 2.0
"""And so long after the last."""
_TAIL_S = 4.0
"""What a recording stopped before is waited for."""


class _Doing(Enum):
    WAITS = "waits"
    SPEAKS = "speaks"


class ScriptedCaller:
    """Says the turns of a case, each when the agent has said what it had to, or over it.

    ``tracks`` are their audio, ``on_turn`` is told the number of each turn as it begins.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        tracks: Sequence[Int16],
        rate_hz: int,
        on_turn: Callable[[int], None],
    ) -> None:
        self._turns, self._tracks = turns, tracks
        self._size = round(rate_hz * FRAME_S)
        self._on_turn = on_turn
        self._turn = 0
        self._doing = _Doing.WAITS
        self._at = 0
        self._since_s: float | None = None
        self._silence = bytes(2 * self._size)

    def next(self, now_s: float, spoken: Spoken) -> bytes | None:
        """See :class:`agent.replay.line.Caller`."""
        if self._since_s is None:
            self._since_s = now_s
        if self._doing is _Doing.WAITS:
            if self._turn == len(self._turns):
                return None if self._may_speak(_LINGER_S, now_s, spoken) else self._silence
            if not self._is_due(now_s, spoken):
                return self._silence
            self._on_turn(self._turn)
            self._doing, self._at = _Doing.SPEAKS, 0
        return self._speak(now_s)

    def _is_due(self, now_s: float, spoken: Spoken) -> bool:
        turn = self._turns[self._turn]
        if turn.over_s is not None and self._replied(spoken):
            assert spoken.since_s is not None
            return now_s - spoken.since_s >= turn.over_s
        return self._may_speak(turn.after_s, now_s, spoken)

    def _replied(self, spoken: Spoken) -> bool:
        """Whether the agent has spoken since the caller's last words."""
        assert self._since_s is not None
        return spoken.until_s is not None and spoken.until_s > self._since_s

    def _may_speak(self, after_s: float, now_s: float, spoken: Spoken) -> bool:
        assert self._since_s is not None
        quiet_s = spoken.quiet_s(now_s)
        if quiet_s is not None and self._replied(spoken):
            return quiet_s >= after_s
        return now_s - self._since_s >= _REPLY_S + after_s

    def _speak(self, now_s: float) -> bytes:
        track = self._tracks[self._turn]
        piece = track[self._at : self._at + self._size]
        self._at += self._size
        if self._at >= track.size:
            self._turn += 1
            self._doing, self._since_s = _Doing.WAITS, now_s
        return piece.tobytes().ljust(2 * self._size, b"\0")


class RecordedCaller:
    """Says what stands on the caller's track, when it was said, and then waits a little."""

    def __init__(self, track: Int16, rate_hz: int) -> None:
        self._size = round(rate_hz * FRAME_S)
        silence = np.zeros(round(_TAIL_S * rate_hz), np.int16)
        self._track = np.concatenate([track, silence])
        self._at = 0

    def next(self, now_s: float, spoken: Spoken) -> bytes | None:
        """See :class:`agent.replay.line.Caller`."""
        if self._at >= self._track.size:
            return None
        piece = self._track[self._at : self._at + self._size]
        self._at += self._size
        return piece.tobytes().ljust(2 * self._size, b"\0")
