"""What keys mean, as a state machine without I/O: ``press(key, now_ms) -> actions``.

One key followed by silence is a key of the menu; several are a number. Where both are possible, a
key of the menu therefore waits for the next (``alone_ms``); with ``numbers`` off it acts at once,
as does any with the end key behind it. A number ends with the end key, or after ``pause_ms``.
Nobody's number is 000: who presses the key for a person again and again wants one.

A digit that comes twice is taken twice, however close: the shortest tone and pause that a network
must pass are 40 ms each (ITU-T Q.24), and a socket that stalled delivers real digits at once, so
that no time tells a repeat from a double digit of an account number. To report each key once is
for the wire, which has the evidence (RFC 4733 repeats carry the timestamp of their first).

Pipecat's ``DTMFAggregator`` makes transcripts of digits, which a log and a language model would
see, and has no menu; it is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """``menu``: what a key asks, as if it had been said. An empty ``person``, ``repeat`` is off."""

    menu: Mapping[str, str] = field(default_factory=dict)
    person: str = "0"
    repeat: str = "*"
    end: str = "#"
    numbers: bool = True
    alone_ms: float = 1200.0
    pause_ms: float = 3000.0
    longest: int = 20

    def action(self, key: str) -> KeyAction:
        """What ``key`` alone does."""
        if key == self.person:
            return Person(key)
        if key == self.repeat:
            return Ask(key, "could you repeat that")
        question = self.menu.get(key)
        return Ask(key, question) if question else Unknown(key)


@dataclass(frozen=True, slots=True)
class Ask:
    """``question`` is asked."""

    key: str
    question: str


@dataclass(frozen=True, slots=True)
class Person:
    """The caller wants a person."""

    key: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key that means nothing here."""

    key: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A number; kept out of ``repr``, so that no log holds it."""

    number: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Again:
    """What was typed is void: it was taken back, or too long for any number."""


KeyAction = Ask | Person | Unknown | Typed | Again


class Keypad:
    """The keys of one call. Times are milliseconds on any one clock that the caller chooses."""

    def __init__(self, policy: KeyPolicy) -> None:
        self._policy = policy
        self._typed = ""
        self.deadline_ms: float | None = None
        """When to call :meth:`clock`, or None while nothing waits."""

    @property
    def is_typing(self) -> bool:
        """Whether keys were pressed of which it is open what they do."""
        return bool(self._typed)

    def means(self, key: str) -> bool:
        """Whether ``key``, pressed now, does something: then it stops the agent."""
        policy = self._policy
        if self._typed or (policy.numbers and key.isdigit()):
            return True
        return not isinstance(policy.action(key), Unknown)

    def press(self, key: str, now_ms: float) -> list[KeyAction]:
        """A key was pressed; what that does now."""
        policy = self._policy
        if self._typed and key == policy.end:
            return self._end()
        if self._typed and not key.isdigit():  # "*": start again
            self.drop()
            return [Again()]
        if not key.isdigit() or not policy.numbers:
            # The end key with nothing before it ends nothing.
            return [] if key == policy.end else [policy.action(key)]
        # One digit more than the longest is enough to know that it is too long.
        self._typed = (self._typed + key)[: policy.longest + 1]
        is_menu = self._wants_a_person() or (
            len(self._typed) == 1 and not isinstance(policy.action(key), Unknown)
        )
        self.deadline_ms = now_ms + (policy.alone_ms if is_menu else policy.pause_ms)
        return []

    def clock(self, now_ms: float) -> list[KeyAction]:
        """Time went by; what the silence after the last key ends."""
        if self.deadline_ms is None or now_ms < self.deadline_ms:
            return []
        return self._end()

    def drop(self) -> None:
        """Forget what was typed so far."""
        self._typed, self.deadline_ms = "", None

    def _end(self) -> list[KeyAction]:
        typed, wants_a_person = self._typed, self._wants_a_person()
        self.drop()
        if len(typed) == 1 or wants_a_person:
            return [self._policy.action(typed[0])]
        return [Again() if len(typed) > self._policy.longest else Typed(typed)]

    def _wants_a_person(self) -> bool:
        return set(self._typed) == {self._policy.person}
