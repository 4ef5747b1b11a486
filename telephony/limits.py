"""How many, how often: token buckets by key, and a line in the log once a burst."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

_MAX_KEYS = 10_000
_MAX_KINDS = 1000
_WITHHELD = frozenset(
    {"", "anonymous", "restricted", "private", "unknown", "unavailable", "withheld"}
)
# How networks write a number that was withheld: +266696687 spells ANONYMOUS on a keypad.
_WITHHELD_DIGITS = frozenset({"266696687", "7378742833", "2562533", "8656696", "86282452253"})


class Rate:
    """So many a minute for each key, all of a minute's at once if they were saved up.

    The token bucket of RFC 2697, filled continuously. ``clock`` is seconds of any clock that only
    goes forward. At most ``max_keys`` are remembered; the key that was not seen for longest is
    forgotten, and may begin anew.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        max_keys: int = _MAX_KEYS,
    ) -> None:
        self._capacity = max(1.0, per_minute)
        self._per_s = per_minute / 60
        self._clock = clock
        self._max_keys = max_keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, many: int = 1) -> bool:
        """Whether ``many`` more of ``key`` are within the limit; if so they are counted."""
        now, left = self._now(key)
        within = left >= many
        self._keep(key, left - many if within else left, now)
        return within

    def spent(self, key: str) -> bool:
        """Whether ``key`` has used up its limit; counts nothing."""
        return self._now(key)[1] < 1

    def _now(self, key: str) -> tuple[float, float]:
        now = self._clock()
        left, at = self._buckets.get(key, (self._capacity, now))
        return now, min(self._capacity, left + (now - at) * self._per_s)

    def _keep(self, key: str, left: float, now: float) -> None:
        self._buckets[key] = (left, now)
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._max_keys:
            self._buckets.popitem(last=False)


class Bursts:
    """Says when something is worth a line: its first, then once in ``quiet_s`` at most."""

    def __init__(
        self, quiet_s: float = 10.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._quiet_s = quiet_s
        self._clock = clock
        self._seen: dict[str, tuple[float, int]] = {}

    def line(self, kind: str) -> str | None:
        """``kind``, with how many went unsaid since the last; None to say nothing.

        Kinds are our own words, perhaps with a call's id, never what a far end sent. Those that
        were quiet for longest are forgotten once there are very many.
        """
        now = self._clock()
        while len(self._seen) >= _MAX_KINDS:
            del self._seen[next(iter(self._seen))]
        said_at, unsaid = self._seen.get(kind, (-float("inf"), 0))
        if now - said_at < self._quiet_s:
            self._seen[kind] = (said_at, unsaid + 1)
            return None
        self._seen.pop(kind, None)  # so that the order is that of the time
        self._seen[kind] = (now, 0)
        return f"{kind} ({unsaid} more before it)" if unsaid else kind


def by_number(caller: str) -> str | None:
    """The key of a caller's number; None where it is withheld, which many callers share."""
    digits = "".join(char for char in caller if char.isdigit())
    if caller.strip().lower() in _WITHHELD or digits in _WITHHELD_DIGITS:
        return None
    return digits or caller


def by_address(host: str) -> str:
    """The key of a source address: an IPv4 address, or the /64 that an IPv6 one stands for."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine: ``localhost`` or a loopback address."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
