"""Calls that were handed over, kept for a while: a provider brings a caller back on a new socket.

A provider with a REST interface takes the caller off our socket to dial, and comes again with the
same call id when nobody answers. The conversation then goes on where it was.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from agent.session import Session

KEEP_S = 300.0
"""Longer than any provider lets a transfer ring (Twilio's Dial: 30 s, at most 600)."""
_MOST = 1000


class Returning:
    """Sessions by call id; ``now`` is a clock in seconds. What is too old, or too many, goes."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[str, tuple[float, Session]] = OrderedDict()

    def keep(self, call_id: str, session: Session) -> None:
        """The call was handed over."""
        self._drop_old()
        self._kept.pop(call_id, None)
        self._kept[call_id] = self._now(), session
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def take(self, call_id: str) -> Session | None:
        """The session of a call that is back, once; None if it is not known any more."""
        self._drop_old()
        found = self._kept.pop(call_id, None)
        return None if found is None else found[1]

    def _drop_old(self) -> None:
        while self._kept and next(iter(self._kept.values()))[0] < self._now() - KEEP_S:
            self._kept.popitem(last=False)
