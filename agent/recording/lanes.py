"""Where what comes in and what goes out lies in time. No I/O; places are samples.

The caller's audio comes when it was spoken, or later: a network that stalls hands over half a
second at once, a loop that was busy does too, and while nobody speaks some telephones send nothing.
The agent's is sent ahead of its time and waits at the far end, which plays it in order.
"""

from __future__ import annotations

import numpy as np

from agent.recording.tape import Tape, UInt8
from agent.recording.wave import AGENT, CALLER
from telephony.g711 import ulaw_decode

_LATE_MS = 40
"""Audio that is later than this was not sent without a pause: silence lies before it."""
_EARLY_MS = 10
"""Audio that is earlier than this was held up before: it all belongs so much earlier."""
_AHEAD_MS = 40
"""A sender whose clock is fast: what is quiet is left out from here on."""
_MOST_AHEAD_MS = 5000
_RUN_ON_MS = 30
"""The agent's next piece comes so much late at most and still follows on."""
_QUIET = np.abs(ulaw_decode(bytes(range(256))).astype(np.int32)) < 300


class CallerLane:
    """What the caller says, where they said it: as early as its first packet in time has it."""

    def __init__(self, tape: Tape, rate_hz: int) -> None:
        self._tape = tape
        self._ms = rate_hz // 1000
        self._start = self._end = self._gap = 0

    def heard(self, now: int, ulaw: UInt8) -> None:
        """``ulaw`` has come at ``now``; what it holds was said just before."""
        early = self._end + ulaw.size - now
        if early < -_LATE_MS * self._ms:
            start = max(now - ulaw.size, self._tape.settled)
            self._gap, self._start, self._end = start - self._end, start, start
        elif early > _EARLY_MS * self._ms and not self._catch_up(early, ulaw):
            return
        self._tape.put(CALLER, self._end, ulaw)
        self._end += ulaw.size

    def freeze(self, to: int) -> None:
        """Nothing is moved any more to before ``to``, or put there."""
        self._start = self._end = max(self._end, to)
        self._gap = 0

    def _catch_up(self, early: int, ulaw: UInt8) -> bool:
        """Move what came late to where it was said; whether there is room for ``ulaw``."""
        by = min(early, self._gap, self._start - self._tape.settled)
        if by > 0:
            self._tape.move(CALLER, self._start, self._end, by)
            self._gap, self._start, self._end = self._gap - by, self._start - by, self._end - by
            early -= by
        if early > _MOST_AHEAD_MS * self._ms:
            return False
        return early <= _AHEAD_MS * self._ms or not _QUIET[ulaw].all()


class AgentLane:
    """What the agent says, where the caller hears it."""

    def __init__(self, tape: Tape, rate_hz: int) -> None:
        self._tape = tape
        self._ms = rate_hz // 1000
        self._stale: int | None = None
        self.end = 0
        """Where what was sent ends."""

    def played(self, now: int, ulaw: UInt8) -> None:
        """``ulaw`` was sent by ``now``, to be played at once or behind what still is."""
        stale, self._stale = self._stale, None
        if stale is not None and now - stale < ulaw.size:
            return  # it had been sent before the far end was told to drop it
        if now - self.end > _RUN_ON_MS * self._ms:
            self.end = now
        self.end = max(self.end, self._tape.settled)
        self._tape.put(AGENT, self.end, ulaw)
        self.end += ulaw.size

    def cut(self, now: int, *, drops: bool) -> None:
        """The far end plays nothing after ``now``; ``drops``: nor the piece that was going out."""
        if self.end > now:
            self._tape.blank(AGENT, now, self.end)
            self._stale = now if drops else None
            self.end = now
