"""``[server]``: where the server listens, whom it lets in, and how much of it."""

from __future__ import annotations

import ipaddress
import os
import secrets
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from agent.section import Section
from frontdesk import ConfigError
from telephony.limits import is_loopback


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


def _public_url(text: str) -> str:
    parts = urlsplit(text)
    more = parts.query or parts.fragment or parts.username or parts.port == 0
    if text and (parts.scheme not in ("http", "https") or not parts.hostname or more):
        raise ValueError("takes https://HOST, with a port and a path perhaps")
    return text


class ServerSettings(Section):
    """Where the server listens and what it accepts."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535, description="0 takes any free port")
    public_url: Annotated[str, AfterValidator(_public_url)] = Field(
        default="", description="https://… as callers' provider sees it; empty: from the request"
    )
    trust_proxy: tuple[Annotated[str, AfterValidator(_network)], ...] = Field(
        default=(), description="addresses of proxies whose X-Forwarded-* headers are believed"
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description="of pages that may open media sockets, beside our own"
    )
    token_variable: str = Field(
        default="", description="the variable of a secret that several servers share; empty: none"
    )
    insecure: bool | Literal["anywhere"] = Field(
        default=False, description="no signature or token is asked of requests from this machine"
    )
    max_calls: int = Field(default=16, ge=1)
    calls_per_number: float = Field(default=6, gt=0, description="that begin in a minute")
    calls_per_address: float = Field(default=120, gt=0, description="that begin in a minute")
    refusals_per_address: float = Field(
        default=30, gt=0, description="in a minute; then nothing of it is looked at"
    )
    max_call_minutes: float = Field(default=30, gt=0, description="then goodbye")
    request_timeout_s: float = Field(default=10.0, gt=0, description="for a request to arrive")
    start_timeout_s: float = Field(default=5.0, gt=0)
    media_timeout_s: float = Field(default=10.0, gt=0)
    max_message_bytes: int = Field(default=65536, ge=1024)


def is_insecure(server: ServerSettings) -> bool:
    """Whether requests are let in unproven, as asked for by name.

    Raises:
        ConfigError: it was asked for where others than this machine's own could use it: on an
            address that is not loopback, or behind a proxy. ``"anywhere"`` says that this is meant.
    """
    if server.insecure is True:
        if not is_loopback(server.host):
            raise ConfigError(
                f"server.insecure on {server.host} would let anyone call; listen on 127.0.0.1, "
                'or say insecure = "anywhere" if that is meant'
            )
        if server.public_url or server.trust_proxy:
            raise ConfigError(
                "server.insecure behind a proxy would let anyone call; leave out public_url and "
                'trust_proxy, or say insecure = "anywhere" if that is meant'
            )
    return bool(server.insecure)


def token_secret(server: ServerSettings) -> bytes:
    """What signs the tokens: new for every server, or what several share.

    Raises:
        ConfigError: ``server.token_variable`` names a variable that is not set, or is short.
    """
    if not server.token_variable:
        return secrets.token_bytes(32)
    secret = os.environ.get(server.token_variable, "")
    if len(secret) < 32:
        raise ConfigError(
            f"set {server.token_variable} (server.token_variable) to 32 characters or more"
        )
    return secret.encode()
