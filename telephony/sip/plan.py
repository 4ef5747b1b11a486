"""What the gate is told when it starts, and how the two processes speak: one line of JSON each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from telephony.sip.flow import Kind
from telephony.sip.guard import TrunkAddresses


@dataclass(frozen=True, slots=True)
class Listen:
    """An address to listen at, as ``udp:127.0.0.1:5060``."""

    kind: Kind
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Plan:
    """All that the gate needs to know. ``library`` is host and port of the library's SIP socket.

    ``targets`` are the trunks by the host where calls out and registrations go, ``kinds`` the
    transports by trunk. Ports of 0 mean any. Times are seconds, rates a second.
    """

    listen: tuple[Listen, ...]
    library_port: int
    inner_port: int
    trunks: tuple[TrunkAddresses, ...] = ()
    targets: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    public_address: str = ""
    rtp_ports: tuple[int, int] = (0, 0)
    max_calls: int = 64
    invites_per_s: float = 5.0
    invites_per_s_in_all: float = 20.0
    idle_s: float = 3600.0
    certificate: str = ""
    key: str = ""
    secure_only: bool = False

    def dumps(self) -> str:
        """As one line."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, line: str) -> Plan:
        """The plan in ``line``, as :meth:`dumps` made it."""
        found: dict[str, Any] = json.loads(line)
        found["listen"] = tuple(Listen(**each) for each in found["listen"])
        found["trunks"] = tuple(
            TrunkAddresses(each["name"], tuple(each["addresses"])) for each in found["trunks"]
        )
        found["rtp_ports"] = tuple(found["rtp_ports"])
        return cls(**found)
