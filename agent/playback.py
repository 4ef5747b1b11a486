"""What of the agent's speech the caller has heard by now. No I/O; times are the call's ms."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from agent.played import Played, played
from frontdesk import Spoken
from speech.audio import Int16, resample

# Longest delay with which the agent's voice comes back: loudspeaker, room, network both ways.
ECHO_REACH_MS = 700.0
# A wire that returns marks later than this is not believed: a reply is rarely so long.
_MOST_LATE_MS = 3000.0


@dataclass
class _Reply:
    """One reply: its words, the audio that was made of them, and when it is heard."""

    say: Spoken
    chunks: list[tuple[bytes, int]] = field(default_factory=list)
    ms: float = 0.0
    complete: bool = False
    started_ms: float | None = None
    ended_ms: float | None = None


class Playback:
    """Follows each reply from its words to the caller's ear.

    The order for one reply: ``begin`` with its words, ``queued`` for each piece of audio,
    ``completed``, ``started`` when the first of it leaves, then ``ended`` or ``cut``. On a wire
    that tells what was played, each ``mark`` goes out behind what was queued, and ``marked`` takes
    it when it comes back; without, audio counts as heard when it leaves, in real time.
    """

    def __init__(self) -> None:
        self._replies: deque[_Reply] = deque(maxlen=2)
        self._marks: dict[str, tuple[_Reply, float]] = {}
        self._made = 0
        self._late_ms = 0.0

    def begin(self, say: Spoken) -> None:
        """Audio from now on is of ``say``."""
        self._replies.append(_Reply(say))

    def queued(self, audio: bytes, rate_hz: int) -> None:
        """``audio``, int16 mono, is on its way to the caller behind what was queued before."""
        if self._replies:
            reply = self._replies[-1]
            reply.chunks.append((audio, rate_hz))
            reply.ms += len(audio) / 2 / rate_hz * 1000

    def completed(self) -> None:
        """All audio of the reply is queued."""
        if self._replies:
            self._replies[-1].complete = True

    def started(self, now_ms: float) -> None:
        """The reply's first audio leaves."""
        if self._replies and self._replies[-1].started_ms is None:
            self._replies[-1].started_ms = now_ms

    def ended(self, now_ms: float) -> None:
        """The reply's last audio has left."""
        if self._replies and self._replies[-1].ended_ms is None:
            self._replies[-1].ended_ms = now_ms

    def cut(self, now_ms: float) -> Played:
        """The reply is cut now; what of it was heard."""
        if not self._replies:
            return Played()
        reply = self._replies[-1]
        heard = self._heard(reply, now_ms)
        self.ended(now_ms)
        self._marks.clear()  # they come back for what was dropped too
        return heard

    def mark(self) -> str:
        """Name of a mark to be sent now, behind what is queued."""
        self._made += 1
        name = f"played-{self._made}"
        if self._replies:
            self._marks[name] = (self._replies[-1], self._replies[-1].ms)
        return name

    def marked(self, name: str, now_ms: float) -> None:
        """The wire says that everything before mark ``name`` was played. Unknown names pass."""
        reply, position_ms = self._marks.pop(name, (None, 0.0))
        if reply is not None and reply.started_ms is not None:
            late = now_ms - reply.started_ms - position_ms
            self._late_ms = min(max(0.0, late), _MOST_LATE_MS)

    @property
    def awaited(self) -> bool:
        """Whether a mark of the last reply is still out."""
        return bool(self._marks)

    def forget_marks(self) -> None:
        """Wait for no mark that is still out: it was lost."""
        self._marks.clear()

    def position_ms(self, now_ms: float) -> float:
        """How much of the last reply was heard by ``now_ms``."""
        return self._position(self._replies[-1], now_ms) if self._replies else 0.0

    def saying(self, now_ms: float) -> str:
        """The sentence that the caller hears now, or heard last."""
        if not self._replies:
            return ""
        reply = self._replies[-1]
        heard = self._heard(reply, now_ms)
        return heard.sentence or heard.whole

    @property
    def reply(self) -> str:
        """The words of the last reply."""
        return self._replies[-1].say.text if self._replies else ""

    def is_near(self, now_ms: float) -> bool:
        """Whether something was played so lately that its echo may come in now."""
        return any(
            reply.started_ms is not None
            and (reply.ended_ms is None or now_ms - reply.ended_ms < ECHO_REACH_MS)
            for reply in self._replies
        )

    def lately(self, now_ms: float, ms: float, rate_hz: int) -> Int16:
        """The last ``ms`` of what left for the caller, at ``rate_hz``; zeros where nothing did."""
        size = round(ms * rate_hz / 1000)
        found = np.zeros(size, np.int16)
        for reply in self._replies:
            if reply.started_ms is None:
                continue
            until_ms = now_ms if reply.ended_ms is None else min(now_ms, reply.ended_ms)
            left = round((until_ms - reply.started_ms) * rate_hz / 1000)
            at = size - round((now_ms - reply.started_ms) * rate_hz / 1000)
            for audio, hz in reply.chunks:
                samples = np.frombuffer(audio, np.int16)[: max(0, left) * hz // rate_hz]
                length = samples.size * rate_hz // hz
                if at + length > 0 and at < size and length:
                    samples = resample(samples, hz, rate_hz)
                    part = samples[max(0, -at) : size - at]
                    found[max(0, at) : max(0, at) + part.size] = part
                at += length
                left -= length
        return found

    def _heard(self, reply: _Reply, now_ms: float) -> Played:
        position = self._position(reply, now_ms)
        return played(reply.say, position, reply.ms, complete=reply.complete)

    def _position(self, reply: _Reply, now_ms: float) -> float:
        if reply.started_ms is None:
            return 0.0
        until_ms = now_ms if reply.ended_ms is None else min(now_ms, reply.ended_ms)
        heard = max(0.0, until_ms - reply.started_ms - self._late_ms)
        return min(reply.ms, heard) if reply.complete else heard
