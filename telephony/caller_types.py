"""What the test caller is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from frontdesk import ConfigError

KEY_MS = 200
"""A key a fifth of a second: a quick hand."""
KEYS = frozenset("0123456789*#")
AUDIBLE = 300
"""A sample is audible above this magnitude: -41 dB of full scale, over line noise, under speech."""


@dataclass(frozen=True, eq=False)
class CallerTurn:
    """One thing the caller says.

    ``audio`` is int16, 8 kHz, one-dimensional. With ``interrupt_after_ms`` the turn starts that
    long after the first audible sample of the reply before it, talking over it. A turn that
    expects no reply (a cough, "mm-hm") is not waited for once the line has been quiet. The keys
    in ``digits`` are pressed from its start on, one every ``KEY_MS``.
    """

    audio: NDArray[np.int16]
    label: str
    interrupt_after_ms: float | None = None
    expect_reply: bool = True
    digits: str = ""

    def __post_init__(self) -> None:
        """Refuse audio that could not be sent.

        Raises:
            ConfigError: if ``audio`` is not one-dimensional int16 or is empty.
        """
        if not self.audio.size:
            raise ConfigError(f"turn {self.label!r} is empty")
        if self.audio.dtype != np.int16 or self.audio.ndim != 1:
            raise ConfigError(f"audio of turn {self.label!r} is not one-dimensional int16")


def pressing(digits: str) -> CallerTurn:
    """A turn that says nothing and presses ``digits`` (of ``KEYS``)."""
    return CallerTurn(np.zeros(len(digits) * KEY_MS * 8, np.int16), digits, digits=digits)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn as the caller heard it. Seconds are since the start of the call's recording.

    ``latency_ms`` runs from the end of the caller's last audible sample to the first audible
    sample of the reply at the caller's ear, its time in the playout buffer included; it is
    negative if the reply began first. ``barge_in_ms``, for a turn that interrupts, runs from its
    first audible sample to the last audible sample of the old reply; None if that was over
    already. ``reply_ms`` ends where the next turn cut the reply. ``start_s`` and ``end_s`` bound
    the caller's audible samples; they are None for a turn that never came.
    """

    label: str
    answered: bool
    latency_ms: float | None
    reply_ms: float | None
    barge_in_ms: float | None
    start_s: float | None
    end_s: float | None
    reply_start_s: float | None
    expect_reply: bool = True


@dataclass(frozen=True, slots=True)
class Spread:
    """Observed percentiles (``method="lower"``) of some milliseconds."""

    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, values: list[float]) -> Spread | None:
        """The spread of ``values``, or None if there are none."""
        if not values:
            return None
        p50, p95 = np.percentile(values, [50, 95], method="lower")
        return cls(float(p50), float(p95), max(values))


@dataclass(frozen=True, eq=False)
class CallResult:
    """A whole call.

    ``recording`` is int16 of shape (n, 2) at 8 kHz, the caller left, what was played to the
    caller right. ``greeting_ms`` runs from the start message to the first audible sample.
    ``frame_gaps_ms`` are the gaps between media messages within an utterance, ``send_late_ms``
    how late the caller's own frames left: large values mean that the machine, not the agent, was
    slow. ``cleared_ms`` is audio that clear messages dropped unplayed, ``late_ms`` audible audio
    of a cut reply that came after its clear, ``unplayed_ms`` what was still to be played when the
    agent closed. ``pressed`` are the keys that the agent pressed, ``handed_to`` is where it asked
    to have the caller transferred, where the wire carries that.
    """

    turns: tuple[TurnResult, ...]
    greeting_ms: float | None
    recording: NDArray[np.int16]
    ended_by: Literal["caller", "agent", "error"]
    error: str | None = None
    frame_gaps_ms: Spread | None = None
    send_late_ms: Spread | None = None
    clears: int = 0
    cleared_ms: float = 0.0
    late_ms: float = 0.0
    unplayed_ms: float = 0.0
    pressed: str = ""
    handed_to: str | None = None

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Labels of the turns that expected a reply and got none."""
        return tuple(t.label for t in self.turns if t.expect_reply and not t.answered)
