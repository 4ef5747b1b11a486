"""Who may call, and how often. No I/O; the clock comes in as seconds."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_SOURCES = 4096


@dataclass(frozen=True, slots=True)
class TrunkAddresses:
    """The addresses that a trunk calls from: single ones, or networks (``203.0.113.0/24``)."""

    name: str
    addresses: tuple[str, ...]


class Allowed:
    """The trunks' addresses; without a trunk, this machine's own only."""

    def __init__(self, trunks: Sequence[TrunkAddresses]) -> None:
        self._networks = [
            (ipaddress.ip_network(address, strict=False), trunk.name)
            for trunk in trunks or (TrunkAddresses("local", ("127.0.0.0/8", "::1")),)
            for address in trunk.addresses
        ]

    def trunk(self, host: str) -> str | None:
        """The trunk that ``host``, an address, belongs to; None for a stranger."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return None
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return next((name for network, name in self._networks if address in network), None)


class Bucket:
    """Lets ``per_s`` through a second, ``burst`` at once."""

    __slots__ = ("_at", "_burst", "_left", "_per_s")

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s, self._burst = per_s, burst
        self._left, self._at = burst, 0.0

    def take(self, now: float) -> bool:
        """Whether one more may pass at ``now``."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Flood:
    """Limits what arrives: for each source, and in all. The oldest of many sources is forgotten."""

    def __init__(self, per_source: float, overall: float) -> None:
        self._per_source = per_source
        self._all = Bucket(overall, 2 * overall)
        self._sources: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, source: str, now: float) -> bool:
        """Whether one more from ``source`` may pass; what a source may not, counts for no other."""
        bucket = self._sources.setdefault(source, Bucket(self._per_source, 2 * self._per_source))
        self._sources.move_to_end(source)
        if len(self._sources) > _MAX_SOURCES:
            self._sources.popitem(last=False)
        return bucket.take(now) and self._all.take(now)


class Rarely:
    """Whether to log again: once in ``every_s``; counts what was passed over."""

    def __init__(self, every_s: float = 30.0) -> None:
        self._every_s = every_s
        self._next = 0.0
        self.missed = 0

    def now(self, at: float) -> bool:
        """Whether ``at`` is the time to."""
        if at < self._next:
            self.missed += 1
            return False
        self._next = at + self._every_s
        return True
