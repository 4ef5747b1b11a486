"""What a dialplan is to do with a caller once the agent has left, asked for over HTTP."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from frontdesk import TransferError

KEPT_S = 60.0
_MAX_KEPT = 1000
_TARGET = re.compile(
    r"\+?[0-9A-Za-z*#][0-9A-Za-z*#_.-]{0,63}"
    r"|sips?:[0-9A-Za-z_.+-]{1,64}@[0-9A-Za-z.-]{1,128}(?::[0-9]{1,5})?"
)


def target(to: str) -> str:
    """``to`` if a dialplan can be given it: no white space, no comma, no ``&``.

    Raises:
        TransferError: it is no number, extension or SIP address.
    """
    if not _TARGET.fullmatch(to):
        raise TransferError("refused", "not a number, an extension or a SIP address")
    return to


class NextSteps:
    """Where callers are to go, by call id; each is told once, and kept for a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._targets: dict[str, tuple[float, str]] = {}

    def dial(self, call_id: str, to: str) -> None:
        """Have the caller of ``call_id`` connected to ``to``.

        Raises:
            TransferError: ``to`` is nothing that can be dialled, or a thousand others wait.
        """
        self._forget()
        if len(self._targets) >= _MAX_KEPT:
            raise TransferError("failed", "too many transfers wait for their dialplan")
        self._targets[call_id] = (self._clock() + KEPT_S, target(to))

    def take(self, call_id: str) -> str:
        """What the dialplan is to do: ``dial,TARGET`` or ``hangup``."""
        self._forget()
        found = self._targets.pop(call_id, None)
        return f"dial,{found[1]}" if found else "hangup"

    def _forget(self) -> None:
        now = self._clock()
        for call_id in [one for one, (until, _) in self._targets.items() if until < now]:
            del self._targets[call_id]


NEXT_STEPS = NextSteps()
"""Of this process: lines of every wire into Asterisk write it, the server's route reads it."""
