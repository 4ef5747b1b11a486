"""Calls that a dialplan has announced, for a wire that carries no more than a UUID."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

KEPT_S = 60.0
_MAX_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Announced:
    """What the dialplan said of a call; ``call_id`` is that of a caller who comes back."""

    call_id: str
    caller: str = ""
    called: str = ""
    returned: str = ""


class ExpectedCalls:
    """By the UUID that was handed out, which is good for one connection within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: dict[str, tuple[float, Announced]] = {}

    def announce(
        self, *, caller: str = "", called: str = "", returned: str = "", call_id: str = ""
    ) -> str:
        """A UUID for the connection of this call; the oldest of a thousand is forgotten for it."""
        self._forget()
        handed = str(uuid.uuid4())
        known = Announced(call_id or handed, caller, called, returned)
        self._calls[handed] = (self._clock() + KEPT_S, known)
        return handed

    def take(self, handed: str) -> Announced | None:
        """The call of the UUID ``handed``, once; None for one that is not expected."""
        self._forget()
        found = self._calls.pop(handed, None)
        return found[1] if found else None

    def _forget(self) -> None:
        now = self._clock()
        for handed in [one for one, (until, _) in self._calls.items() if until < now]:
            del self._calls[handed]
        while len(self._calls) >= _MAX_KEPT:
            del self._calls[next(iter(self._calls))]


EXPECTED_CALLS = ExpectedCalls()
"""Of this process: the server's route writes it, the AudioSocket listener reads it."""
