"""Who may be called, and how often. Pure: the time is given, in seconds on any one clock."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable

from frontdesk import FrontdeskError

_NUMBER = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)
_PATTERN = re.compile(r"\+[1-9][\d?]*\*?", re.ASCII)
_PADDING = re.compile(r"[\s().-]")
_NO_DIGIT = re.compile(r"[^0-9]")
_MOST_CHARS = 40
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


class OutboundError(FrontdeskError):
    """A call is not placed. ``status`` is HTTP's; the line says how to mend it."""

    stage = "outbound"

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


def number_of(text: str) -> str:
    """``text`` as an international number: ``+`` and 7 to 15 digits (ITU-T E.164).

    Emergency and short numbers are none, so they are never called.

    Raises:
        OutboundError: it is none.
    """
    number = _PADDING.sub("", text[: _MOST_CHARS + 1])
    if len(text) > _MOST_CHARS or not _NUMBER.fullmatch(number):
        raise OutboundError(400, "give the number in international form: +15555550142")
    return number


def pattern_of(text: str) -> re.Pattern[str]:
    """Which numbers an entry of ``outbound.allow`` means: ``?`` is a digit, ``*`` the rest.

    Raises:
        ValueError: it is neither a number nor a pattern, or would allow everyone.
    """
    if not _PATTERN.fullmatch(text) or len(text) > _MOST_CHARS:
        raise ValueError(f"{text!r} is no number such as +15555550142 or pattern such as +1555555*")
    return re.compile(re.escape(text).replace(r"\?", r"\d").replace(r"\*", r"\d*"))


def same_number(one: str, other: str) -> bool:
    """Whether two numbers are the same but for how they are written; none is not."""
    digits = _NO_DIGIT.sub("", one)
    return bool(digits) and digits == _NO_DIGIT.sub("", other)


class Rules:
    """The allow-list, our own numbers, and how many calls were placed so far.

    What was placed is kept in memory: a restart forgets it.
    """

    def __init__(
        self, allow: Iterable[str], own: Iterable[str], *, per_hour: int, per_number: int
    ) -> None:
        self._allow = [pattern_of(text) for text in allow]
        self._own = [number for number in own if number]
        self._per_hour = per_hour
        self._per_number = per_number
        self._placed: deque[tuple[float, str]] = deque()

    def check(self, number: str, now_s: float) -> None:
        """Make sure that ``number`` may be called now.

        Raises:
            OutboundError: it may not.
        """
        if any(same_number(number, own) for own in self._own):
            raise OutboundError(403, "that is our own number: it would call itself")
        if not any(pattern.fullmatch(number) for pattern in self._allow):
            raise OutboundError(403, "the number is not on outbound.allow: add it there")
        while self._placed and now_s - self._placed[0][0] >= DAY_S:
            self._placed.popleft()
        if sum(now_s - at < HOUR_S for at, _ in self._placed) >= self._per_hour:
            raise OutboundError(
                429, f"{self._per_hour} calls in an hour; wait, or raise outbound.max_per_hour"
            )
        if Counter(one for _, one in self._placed)[number] >= self._per_number:
            raise OutboundError(
                429,
                f"called {self._per_number} times in a day; wait, or raise outbound.max_attempts",
            )

    def count(self, number: str, now_s: float) -> None:
        """``number`` is being called."""
        self._placed.append((now_s, number))
