"""The test caller without I/O: give it times and messages, send what it returns.

Built like the ``websockets`` library: the whole protocol and all timing are here and in
``telephony.caller_script``, driven by the socket in ``telephony.caller`` and by a fake clock in
the tests. Times are seconds of any monotonic clock; inside, positions are samples (8,000 a
second) since ``begin``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from telephony.bad_line import BadLine, Transit
from telephony.caller_script import FRAME_SAMPLES, Pace, Script, in_ms
from telephony.caller_types import CallerTurn, CallResult, Spread
from telephony.far_end import Clear, FarEnd, HandOver, HangUp, Mark, Media, Message, Press, Reply
from telephony.g711 import SAMPLE_RATE_HZ
from telephony.playout import PlayoutBuffer


class CallerProtocol:
    """One call: ``begin``, then ``tick`` at every ``next_due`` and ``receive`` for each message.

    A frame leaves when its last sample has been spoken, as from a real telephone; frame k is due
    (k + 1) x 20 ms after ``begin`` however late the one before it was.
    """

    def __init__(
        self,
        turns: Iterable[CallerTurn],
        pace: Pace | None = None,
        *,
        far_end: FarEnd,
        parameters: Mapping[str, str] | None = None,
        line: BadLine | None = None,
    ) -> None:
        self.over = False
        self._far_end = far_end
        self._transit = None if line is None or line.perfect else Transit(line)
        self._pace = pace or Pace()
        self._script = Script(turns, self._pace)
        self._parameters = dict(parameters or {})
        self._ended_by: Literal["caller", "agent", "error"] = "caller"
        self._error: str | None = None

        self._t0: float | None = None
        self._frame = 0
        self._end = 0
        self._playout = PlayoutBuffer()
        self._listened_to = 0

        self._clears = 0
        self._unplayed = 0
        self._last_media_at: float | None = None
        self._gaps_ms: list[float] = []
        self._send_late_ms: list[float] = []
        self._pressed = ""
        self._handed_to: str | None = None

    def begin(self, now: float) -> list[Message]:
        """Start the clock; what comes before the audio."""
        self._t0 = now
        return self._far_end.begin(self._parameters)

    @property
    def next_due(self) -> float:
        """When to call ``tick`` next."""
        due = (self._frame + 1) * FRAME_SAMPLES
        mark = self._playout.next_mark
        due = due if mark is None else min(due, mark)
        arrival_ms = self._transit.next_ms if self._transit else None
        if arrival_ms is not None:
            due = min(due, math.ceil(arrival_ms * SAMPLE_RATE_HZ / 1000))
        return self._time(due)

    def tick(self, now: float) -> list[Message]:
        """Every message due by ``now``: audio frames, keys, marks played, the end."""
        position = self._position(now)
        messages: list[Message] = []
        while not self.over and (self._frame + 1) * FRAME_SAMPLES <= position:
            start = self._frame * FRAME_SAMPLES
            self._listen(start + FRAME_SAMPLES)
            self._send_late_ms.append((now - self._time(start + FRAME_SAMPLES)) * 1000)
            payload = self._script.payload(start)
            if payload is None:
                messages += self._arrived(math.inf)
                messages += self._hang_up(start)
                break
            messages += self._sent(payload, start + FRAME_SAMPLES)
            digit = self._script.digit(start)
            messages += self._far_end.press(digit) if digit else []
            self._frame += 1
        messages += self._arrived(in_ms(position))
        return messages if self.over else messages + self._played_marks(position)

    def receive(self, data: Message, now: float) -> list[Message]:
        """Take one message received at ``now``; the messages to send back at once.

        Raises:
            WireError: if the agent's message breaks the protocol.
        """
        back: list[Message] = []
        for asked in [] if self.over else self._far_end.read(data):
            position = self._position(now)
            match asked:
                case Media(payload):
                    self._count_gap(now)
                    self._playout.add(payload, position)
                case Mark(name):
                    self._playout.mark(name)
                    back += self._played_marks(position)
                case Clear():
                    back += self._clear(position)
                case Press(digit):
                    self._pressed += digit
                case HandOver(to):
                    self._handed_to = to
                case HangUp():
                    self._finish(position, "agent")
                case Reply(messages):
                    back += messages
        return back

    def closed(self, now: float, code: int | None = None) -> None:
        """The agent closed the socket; anything but a normal close is an error."""
        if self.over:
            return
        if code in (None, 1000, 1001, 1005):
            self._finish(self._position(now), "agent")
        else:
            self.fail(f"the agent closed the socket with code {code}", now)

    def fail(self, error: str, now: float | None = None) -> None:
        """End the call for a reason of one line."""
        if not self.over:
            self._error = error
            self._finish(self._listened_to if now is None else self._position(now), "error")

    def _sent(self, payload: bytes, position: int) -> list[Message]:
        """The frame's messages, unless a bad line holds it up or loses it; its number is used."""
        if self._transit is None:
            return self._far_end.media(self._frame, payload)
        carried = self._transit.carried(self._frame, payload)
        if carried is None:
            self._far_end.lost()
        else:
            messages = self._far_end.media(self._frame, carried)
            self._transit.send(self._frame, messages, in_ms(position))
        return []

    def _arrived(self, now_ms: float) -> list[Message]:
        return self._transit.arrived(now_ms) if self._transit else []

    def _played_marks(self, position: int) -> list[Message]:
        names = self._playout.due_marks(position)
        return self._far_end.played(names) if names else []

    def _count_gap(self, now: float) -> None:
        if self._last_media_at is not None:
            gap_ms = (now - self._last_media_at) * 1000
            if gap_ms < self._pace.settle_ms:
                self._gaps_ms.append(gap_ms)
        self._last_media_at = now

    def _position(self, now: float) -> int:
        if self._t0 is None:
            return 0
        return int((now - self._t0) * SAMPLE_RATE_HZ + 0.001)  # 0.001: float error at a due time

    def _time(self, position: int) -> float:
        return (self._t0 or 0.0) + position / SAMPLE_RATE_HZ

    def _clear(self, position: int) -> list[Message]:
        self._listen(position)
        self._clears += 1
        self._script.cleared(position)
        names = self._playout.clear(position)
        return self._far_end.cleared(names)

    def _listen(self, until: int) -> None:
        """Take in what was played up to ``until``, in steps so small that no pause is missed."""
        while self._listened_to < until:
            self._listened_to = min(until, self._listened_to + FRAME_SAMPLES)
            heard = self._playout.heard(self._listened_to)
            if heard:
                self._script.hear(*heard)

    def _hang_up(self, position: int) -> list[Message]:
        if self._script.done:
            self._finish(position, "caller")
        else:
            self.fail(f"the call was not over after {self._pace.max_s:g} s", self._time(position))
        return self._far_end.hang_up()

    def _finish(self, position: int, by: Literal["caller", "agent", "error"]) -> None:
        self._listen(position)
        self._unplayed = max(0, self._playout.end - position)
        self._end = max(position, self._end)
        self._ended_by = by
        self.over = True

    def result(self) -> CallResult:
        """The call so far; meant to be asked when it is over."""
        greeting = self._script.greeting
        recording = np.zeros((self._end, 2), np.int16)
        for turn in self._script.turns:
            if turn.at is not None:
                audio = turn.turn.audio[: max(0, self._end - turn.at)]
                recording[turn.at : turn.at + len(audio), 0] = audio
        if self._transit is not None:
            recording[:, 0] = self._transit.recording(self._end)
        recording[:, 1] = self._playout.played(self._end)
        return CallResult(
            turns=tuple(turn.result() for turn in self._script.turns),
            greeting_ms=in_ms(greeting.start) if greeting else None,
            recording=recording,
            ended_by=self._ended_by,
            error=self._error,
            frame_gaps_ms=Spread.of(self._gaps_ms),
            send_late_ms=Spread.of(self._send_late_ms),
            clears=self._clears,
            cleared_ms=in_ms(self._playout.cleared),
            late_ms=in_ms(self._script.late),
            unplayed_ms=in_ms(self._unplayed),
            pressed=self._pressed,
            handed_to=self._handed_to,
        )
