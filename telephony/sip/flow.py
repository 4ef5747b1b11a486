"""Where a SIP message came from and can be answered to, and what is to be sent where."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Literal

from frontdesk import WireError

Kind = Literal["udp", "tcp", "tls"]


@dataclass(frozen=True, slots=True)
class Flow:
    """One peer: an address over UDP, or a connection (``connection`` is the gate's number)."""

    kind: Kind
    host: str
    port: int
    connection: int = 0

    @property
    def key(self) -> str:
        """As it stands in a branch: letters, digits and ``-``."""
        packed = ipaddress.ip_address(self.host).packed.hex()
        return f"{self.kind}-{packed}-{self.port:x}-{self.connection:x}"

    @classmethod
    def of(cls, key: str) -> Flow:
        """The flow of a ``key``.

        Raises:
            WireError: it is none.
        """
        try:
            kind, packed, port, connection = key.split("-")
            host = str(ipaddress.ip_address(bytes.fromhex(packed)))
            if kind in ("udp", "tcp", "tls"):
                return cls(kind, host, int(port, 16), int(connection, 16))  # type: ignore[arg-type]
        except ValueError:
            pass
        raise WireError("odd branch")


@dataclass(frozen=True, slots=True)
class Target:
    """Where there is nobody to send to yet: a trunk's host by name, or where a peer was."""

    kind: Kind
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ToPeer:
    """Send ``data`` over ``to``."""

    to: Flow
    data: bytes


@dataclass(frozen=True, slots=True)
class ToLibrary:
    """Send ``data`` to the library behind the gate."""

    data: bytes


Out = ToPeer | ToLibrary
