"""What the test caller says when, and whose reply it hears. No wire, no clock.

Positions are samples (8,000 a second) since the call began.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from telephony.caller_types import AUDIBLE, KEY_MS, CallerTurn, TurnResult
from telephony.g711 import SAMPLE_RATE_HZ, ULAW_SILENCE, ulaw_encode

FRAME_SAMPLES = 160
_SILENCE = bytes([ULAW_SILENCE]) * FRAME_SAMPLES
_KEY_SAMPLES = SAMPLE_RATE_HZ * KEY_MS // 1000
_CLEAR_GUARD = SAMPLE_RATE_HZ * 60 // 1000
"""After a clear that cut a reply, audio arriving this soon was on its way already."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How the caller behaves between turns; see ``telephony.caller.place_call``."""

    answer_timeout_s: float = 6.0
    wait_greeting: bool = True
    pause_ms: float = 400.0
    settle_ms: float = 600.0
    linger_ms: float = 0.0
    max_s: float = 600.0


@dataclass(slots=True)
class Reply:
    """One stretch of agent speech, from its first to its last audible sample so far."""

    start: int
    last: int
    too_late: bool = False
    cut: bool = False


@dataclass(slots=True)
class ScriptTurn:
    """A turn made ready to send, and what came of it."""

    turn: CallerTurn
    frames: list[bytes]
    lead: int
    tail: int
    at: int | None = None
    reply: Reply | None = None
    interrupted: Reply | None = None

    @classmethod
    def prepare(cls, turn: CallerTurn) -> ScriptTurn:
        """Encode once, before the call."""
        data = ulaw_encode(turn.audio)
        data += bytes([ULAW_SILENCE]) * (-len(data) % FRAME_SAMPLES)
        frames = [data[i : i + FRAME_SAMPLES] for i in range(0, len(data), FRAME_SAMPLES)]
        loud = np.flatnonzero(np.abs(turn.audio.astype(np.int32)) > AUDIBLE)
        lead, tail = (int(loud[0]), int(loud[-1]) + 1) if loud.size else (0, len(turn.audio))
        return cls(turn, frames, lead, tail)

    @property
    def first(self) -> int:
        """Position of the first audible sample."""
        return (self.at or 0) + self.lead

    @property
    def end(self) -> int:
        """Position right after the last audible sample."""
        return (self.at or 0) + self.tail

    def taken_back(self, reply: Reply) -> bool:
        """Whether ``reply`` was over before this turn was: its answer is still to come."""
        return reply.last < self.end

    def result(self) -> TurnResult:
        """The turn in milliseconds and seconds."""
        spoken = self.at is not None
        reply = self.reply
        answered = reply is not None and not reply.too_late
        old = self.interrupted
        return TurnResult(
            label=self.turn.label,
            answered=answered,
            latency_ms=in_ms(reply.start - self.end) if reply and answered else None,
            reply_ms=in_ms(reply.last - reply.start) if reply else None,
            barge_in_ms=in_ms(old.last - self.first) if old and old.last > self.first else None,
            start_s=self.first / SAMPLE_RATE_HZ if spoken else None,
            end_s=self.end / SAMPLE_RATE_HZ if spoken else None,
            reply_start_s=reply.start / SAMPLE_RATE_HZ if reply else None,
            expect_reply=self.turn.expect_reply,
        )


def in_ms(samples: int) -> float:
    """Milliseconds of so many samples."""
    return samples * 1000 / SAMPLE_RATE_HZ


def in_samples(ms: float) -> int:
    """Samples of so many milliseconds."""
    return round(ms * SAMPLE_RATE_HZ / 1000)


class Script:
    """Works through the turns: listen, pause, speak, listen, and at last hang up.

    Audible agent audio belongs to the turn under way, except what continues a reply that was
    still sounding when the turn began: that stays the old reply's until a clear cuts it or it has
    been quiet for ``settle_ms``.
    """

    def __init__(self, turns: Iterable[CallerTurn], pace: Pace) -> None:
        self.turns = [ScriptTurn.prepare(turn) for turn in turns]
        self.greeting: Reply | None = None
        self.done = False
        """Whether every turn was spoken and listened to."""
        self.late = 0
        """Audible samples of a cut reply that came after its clear."""
        self._pace = pace
        self._index = -1  # -1 is the greeting
        self._speaking = False
        self._latest: Reply | None = None
        self._old: Reply | None = None
        self._old_until = 0  # after a clear: audio up to here is still the old reply's
        self._settle = in_samples(pace.settle_ms)
        self._answer_timeout = in_samples(pace.answer_timeout_s * 1000)

    def payload(self, start: int) -> bytes | None:
        """µ-law for the frame at position ``start``; None when it is time to hang up."""
        if not self._speaking:
            begin = self._next_begin(start)
            if begin is None or start < begin:
                return _SILENCE if start < self._pace.max_s * SAMPLE_RATE_HZ else None
            if self._index + 1 == len(self.turns):
                self.done = True
                return None
            self._begin_turn(start)
        turn = self.turns[self._index]
        sent = (start - (turn.at or 0)) // FRAME_SAMPLES
        self._speaking = sent + 1 < len(turn.frames)
        return turn.frames[sent]

    def digit(self, start: int) -> str:
        """The key pressed at position ``start``, mostly none; ask for its payload first."""
        turn = self.turns[self._index] if self._index >= 0 else None
        if turn is None or turn.at is None or (start - turn.at) % _KEY_SAMPLES:
            return ""
        number = (start - turn.at) // _KEY_SAMPLES
        return turn.turn.digits[number : number + 1]

    def hear(self, first: int, last: int) -> None:
        """Put audible agent audio, ``first`` to ``last``, down to the old reply or this turn's."""
        if self._continues_old(first, last):
            self._old.last = last  # type: ignore[union-attr]
            return
        self._old = None
        turn = self.turns[self._index] if self._index >= 0 else None
        reply = turn.reply if turn else self.greeting
        if turn and reply and turn.taken_back(reply) and first - reply.last > self._settle:
            turn.reply = reply = None  # on a wire without a clear, nobody has said so
        if reply:
            reply.last = last
        else:
            reply = Reply(first, last)
            if turn:
                reply.too_late = first - turn.end > self._answer_timeout
                turn.reply = reply
            else:
                self.greeting = reply
        self._latest = reply

    def cleared(self, position: int) -> None:
        """The agent emptied the playout buffer: note which reply that cut."""
        if self._index < 0:
            return
        turn = self.turns[self._index]
        if not self._old and turn.reply and turn.reply.start < turn.end:
            # The agent answered before the caller had finished, and now takes that back.
            self._old, turn.reply = turn.reply, None
        if self._old and not self._old.cut:
            self._old.cut = True
            self._old_until = max(turn.end, position + _CLEAR_GUARD)

    def _continues_old(self, first: int, last: int) -> bool:
        old = self._old
        if not old:
            return False
        if first < self._old_until:
            self.late += last - first
            return True
        return not old.cut and first - old.last < self._settle

    def _begin_turn(self, start: int) -> None:
        self._index += 1
        self._speaking = True
        turn = self.turns[self._index]
        turn.at = start
        latest = self._latest
        self._old = latest if latest and turn.first - latest.last < self._settle else None
        self._old_until = 0
        if turn.turn.interrupt_after_ms is not None:
            turn.interrupted = self._old

    def _next_begin(self, now: int) -> int | None:
        """When the next turn (or the hang-up) begins, or None while that is open."""
        pause = in_samples(self._pace.pause_ms)
        turn = self.turns[self._index] if self._index >= 0 else None
        reply = turn.reply if turn else self.greeting
        if turn and reply and turn.taken_back(reply):
            reply = None
        if self._index + 1 < len(self.turns):
            after_ms = self.turns[self._index + 1].turn.interrupt_after_ms
            if reply and after_ms is not None:
                return reply.start + in_samples(after_ms)
        else:
            pause += in_samples(self._pace.linger_ms)
        if self._index < 0 and not self._pace.wait_greeting:
            return pause
        quiet = reply.last + self._settle if reply else self._give_up()
        return quiet + pause if now >= quiet else None

    def _give_up(self) -> int:
        """Until when to wait for a reply that has not begun."""
        ended = self.turns[self._index].end if self._index >= 0 else 0
        if self._old:
            ended = max(ended, self._old.last)
        expects_reply = self._index < 0 or self.turns[self._index].turn.expect_reply
        return ended + (self._answer_timeout if expects_reply else self._settle)
