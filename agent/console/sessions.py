"""Who is logged in: the token, the sessions, and how often one may try.

A session is 32 random bytes in a cookie; only their hash is kept here, so that who reads this
process's memory cannot log in with what they find. A restart ends all sessions.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from telephony.limits import Rate

_MAX_SESSIONS = 200
_MAX_CHARS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One browser that is logged in.

    ``csrf`` goes along with whatever changes something; ``until`` is seconds since the epoch;
    ``over`` is set when somebody logs out.
    """

    csrf: str
    until: float
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Sessions:
    """The sessions of one console. ``clock`` is seconds since the epoch.

    At most 200 are kept; the oldest ends for the next.
    """

    def __init__(
        self,
        token: str,
        hours: float,
        failures_per_minute: float,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._token = _hash(token)
        self._seconds = hours * 3600
        self._clock = clock
        self._failures = Rate(failures_per_minute)
        self._all: OrderedDict[bytes, Session] = OrderedDict()

    @property
    def seconds(self) -> float:
        """How long a session lasts."""
        return self._seconds

    def may_try(self, address: str) -> bool:
        """Whether somebody at ``address`` may try to log in."""
        return not self._failures.spent(address)

    def log_in(self, token: str, address: str) -> str | None:
        """A new session's cookie; None, and one more failure, if ``token`` is not ours."""
        if not hmac.compare_digest(_hash(token), self._token):
            self._failures.take(address)
            return None
        self._forget()
        cookie = secrets.token_urlsafe(32)
        until = self._clock() + self._seconds
        self._all[_hash(cookie)] = Session(secrets.token_urlsafe(32), until)
        return cookie

    def find(self, cookie: str) -> Session | None:
        """The session of ``cookie``; None if there is none, or it is over."""
        if not cookie or len(cookie) > _MAX_CHARS:
            return None
        session = self._all.get(_hash(cookie))
        if session is None or session.until <= self._clock():
            return None
        return session

    def left_s(self, session: Session) -> float:
        """Seconds that ``session`` still has."""
        return max(0.0, session.until - self._clock())

    def log_out(self, cookie: str) -> None:
        """End the session of ``cookie``."""
        session = self._all.pop(_hash(cookie), None)
        if session is not None:
            session.over.set()

    def _forget(self) -> None:
        """Drop those that are over, and the oldest where there are too many."""
        now = self._clock()
        for key in [key for key, one in self._all.items() if one.until <= now]:
            self._all.pop(key).over.set()
        while len(self._all) >= _MAX_SESSIONS:
            self._all.popitem(last=False)[1].over.set()


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
