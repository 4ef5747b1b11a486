"""One caller's hand-overs, from the sentence that announces one to its end. No I/O, no clock."""

from __future__ import annotations

from enum import Enum

from agent.handover import HandOver, Rule, calls_off
from rag.types import Verdict


class _State(Enum):
    IDLE = "idle"
    TELLING = "telling"
    DIALLING = "dialling"
    GONE = "gone"


class HandOverMachine:
    """One caller's hand-overs: its sentence is told to the last word, then it is dialled.

    What the caller says meanwhile: what :func:`agent.handover.calls_off` says while its sentence is
    told; once it is dialled only hanging up does. An emergency is not displaced by anything else,
    and one that comes up while somebody else is dialled is next, should that fail.
    """

    def __init__(self) -> None:
        self._state = _State.IDLE
        self._wanted: HandOver | None = None
        self._next: HandOver | None = None

    @property
    def is_dialling(self) -> bool:
        """Whether the caller is on the way to somebody."""
        return self._state is _State.DIALLING

    @property
    def is_done(self) -> bool:
        """Whether the caller is with somebody else."""
        return self._state is _State.GONE

    @property
    def is_telling(self) -> bool:
        """Whether a hand-over waits for its sentence to be heard."""
        return self._state is _State.TELLING

    def replied(self, verdict: Verdict, hand_over: HandOver | None) -> bool:
        """A reply was given, and ``hand_over`` is to follow it; whether it called one off."""
        if self._state is _State.DIALLING:
            self._next = hand_over if _is_emergency(hand_over) else self._next
        elif self._state is _State.TELLING and calls_off(verdict, self._wanted):
            self._state, self._wanted = _State.IDLE, None
            return True
        elif self._state is not _State.GONE and hand_over is not None:
            if self._state is _State.IDLE or not _is_emergency(self._wanted):
                self._wanted = hand_over
            self._state = _State.TELLING
        return False

    def told(self) -> HandOver | None:
        """Everything that was said was heard: what to dial now, once."""
        if self._state is not _State.TELLING:
            return None
        self._state = _State.DIALLING
        return self._wanted

    def failed(self) -> None:
        """The caller is still here."""
        self._wanted, self._next = self._next, None
        self._state = _State.TELLING if self._wanted else _State.IDLE

    def done(self) -> None:
        """The caller is with somebody else; nothing more is dialled."""
        self._state = _State.GONE


def _is_emergency(hand_over: HandOver | None) -> bool:
    return hand_over is not None and hand_over.rule is Rule.EMERGENCY
