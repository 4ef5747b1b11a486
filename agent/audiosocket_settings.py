"""``[audiosocket]``: Asterisk's audio over TCP, off unless it is told where to listen."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agent.section import Section


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if text and not (host and port.isdecimal() and int(port) < 65536):
        raise ValueError("takes HOST:PORT")
    return text


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


class AudioSocketSettings(Section):
    """Where to listen for AudioSocket, and for whom. The wire itself proves nothing."""

    listen: Annotated[str, AfterValidator(_address)] = Field(
        default="", description="HOST:PORT, 127.0.0.1:9092; empty: off"
    )
    allow: tuple[Annotated[str, AfterValidator(_network)], ...] = Field(
        default=("127.0.0.0/8", "::1"), description="addresses of Asterisk"
    )
    expected_only: bool = Field(
        default=False, description="calls that the dialplan asked a UUID for; docs/asterisk.md"
    )
    rate_hz: Literal[8000, 16000] = Field(default=8000, description="16000 with c(slin16)")
