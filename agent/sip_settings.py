"""``[sip]``: calls over SIP, answered in the process."""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from agent.section import Section
from frontdesk import ConfigError
from telephony.sip.flow import Kind
from telephony.sip.guard import TrunkAddresses
from telephony.sip.plan import Listen, Plan

_LISTEN = re.compile(r"(udp|tcp|tls):(\[[0-9A-Fa-f:.]+\]|[0-9.]+):(\d{1,5})")


class SipTrunk(Section):
    """Who may call, and where calls go out. Passwords are named by their variable only."""

    name: str = Field(pattern="^[a-z0-9_-]{1,32}$")
    addresses: tuple[str, ...] = Field(
        default=(), description="that its calls come from: 203.0.113.7, 198.51.100.0/24"
    )
    host: str = Field(default="", description="to register with and to dial by; empty: neither")
    user: str = ""
    auth_user: str = Field(default="", description="where it is another one than user")
    password_variable: str = Field(default="", description="the variable that holds the password")
    transport: Kind = "udp"
    register_s: int = Field(
        default=0, ge=0, description="a registration is renewed so often; 0: not registered"
    )

    @field_validator("addresses")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            if ipaddress.ip_network(address, strict=False).prefixlen == 0:
                raise ValueError("a trunk's addresses cannot be all there are")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.host and not self.user:
            raise ValueError("a SIP trunk with a host needs a user")
        if not self.host and not self.addresses:
            raise ValueError("a SIP trunk needs addresses or a host")
        return self

    def password(self) -> str:
        """The password; empty where none is named.

        Raises:
            ConfigError: the variable is not set.
        """
        if not self.password_variable:
            return ""
        found = os.environ.get(self.password_variable, "")
        if not found:
            raise ConfigError(f"SIP trunk {self.name}: set {self.password_variable}")
        return found


class SipSettings(Section):
    """SIP. See docs/sip.md."""

    listen: str = Field(
        default="", description="udp:0.0.0.0:5060, tls:0.0.0.0:5061; empty: no SIP at all"
    )
    public_address: str = Field(
        default="", description="where peers reach this machine, behind NAT; empty: as it is"
    )
    trunks: tuple[SipTrunk, ...] = Field(
        default=(), description="without one, only this machine may call"
    )
    codecs: tuple[Literal["pcmu", "pcma", "g722"], ...] = Field(
        default=("pcmu", "pcma"), min_length=1, description="offered in this order"
    )
    srtp: Literal["off", "optional", "required"] = Field(
        default="off", description="encrypted audio (SDES): its keys are in the SIP, so use tls"
    )
    certificate: str = Field(default="", description="of tls, a PEM file with its chain")
    key: str = Field(default="", description="its private key, where it is a file of its own")
    rtp_ports: str = Field(default="", description="10000-10999; empty: any free ports")
    max_calls: int = Field(default=64, ge=1, description="ringing ones too")
    invites_per_s: float = Field(default=5.0, gt=0, description="from one address; twice at once")
    invites_per_s_in_all: float = Field(default=20.0, gt=0)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        places = self.places()
        if len({place.kind for place in places}) != len(places):
            raise ValueError("SIP listens once for each transport")
        if any(place.kind == "tls" for place in places) and not self.certificate:
            raise ValueError("SIP over tls needs sip.certificate")
        udp = any(place.kind == "udp" for place in places)
        if places and not udp and any(t.host and t.transport == "udp" for t in self.trunks):
            raise ValueError("a trunk reached over udp needs udp in sip.listen")
        if self.public_address:
            ipaddress.ip_address(self.public_address)
        self.port_range()
        return self

    def places(self) -> tuple[Listen, ...]:
        """Where to listen.

        Raises:
            ValueError: ``listen`` cannot be read.
        """
        found = []
        for part in filter(None, (part.strip() for part in self.listen.split(","))):
            parts = _LISTEN.fullmatch(part)
            if not parts or int(parts.group(3)) > 65535:
                raise ValueError(f"{part!r} is not like udp:127.0.0.1:5060")
            kind, host, port = parts.groups()
            ipaddress.ip_address(host.strip("[]"))
            found.append(Listen(kind, host.strip("[]"), int(port)))  # type: ignore[arg-type]
        return tuple(found)

    def port_range(self) -> tuple[int, int]:
        """The ports of the audio, the first and the one behind the last; 0 and 0 for any.

        Raises:
            ValueError: ``rtp_ports`` cannot be read.
        """
        if not self.rtp_ports:
            return 0, 0
        found = re.fullmatch(r"(\d{4,5})-(\d{4,5})", self.rtp_ports)
        if not found or not 1024 <= int(found.group(1)) < int(found.group(2)) <= 65535:
            raise ValueError("rtp_ports is not like 10000-10999")
        low = int(found.group(1))
        return low + low % 2, int(found.group(2)) + 1

    def plan(self) -> Plan:
        """What the gate is told."""
        return Plan(
            listen=self.places(),
            library_port=0,
            inner_port=0,
            trunks=tuple(TrunkAddresses(t.name, t.addresses) for t in self.trunks),
            targets={_host(t.host): t.name for t in self.trunks if t.host},
            kinds={t.name: t.transport for t in self.trunks if t.host},
            public_address=self.public_address,
            rtp_ports=self.port_range(),
            max_calls=self.max_calls,
            invites_per_s=self.invites_per_s,
            invites_per_s_in_all=self.invites_per_s_in_all,
            certificate=self.certificate,
            key=self.key,
            secure_only=self.srtp == "required",
        )


def _host(place: str) -> str:
    """The host of HOST or HOST:PORT, as it is looked up."""
    name, colon, port = place.rpartition(":")
    return (name if colon and port.isdigit() else place).strip("[]").lower()
