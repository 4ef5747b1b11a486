"""What a request or a handshake says, read before anything of it is believed."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import HTTPConnection, Request

from agent.server_settings import ServerSettings
from frontdesk import WireError
from telephony.limits import is_loopback
from telephony.provider import Webhook

MAX_BODY_BYTES = 65536
"""Of a webhook; those of all providers stay under 8 kB."""
_MAX_FIELDS = 100
_FORM = "application/x-www-form-urlencoded"
_FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded")


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who asks, and by what URL.

    ``peer`` is the address of the connection, ``address`` the one behind the proxies that are
    trusted: None where an unnamed proxy on this machine stands between, which hides it.
    ``base`` is the public URL without its path; ``own_base`` the one that was asked.
    """

    peer: str
    address: str | None
    base: str
    own_base: str
    path: str
    origin: str
    forwarded: bool

    @property
    def url(self) -> str:
        """The public URL that was asked, query included, as a provider signs it."""
        return self.base + self.path


def arrival(asked: HTTPConnection, server: ServerSettings) -> Arrival:
    """Read a request's or a handshake's address and URL."""
    headers = asked.headers
    peer = asked.client.host if asked.client else ""
    trusted = _is_in(peer, server.trust_proxy)
    forwarded = any(name in headers for name in _FORWARDED)
    scheme = str(asked.scope["scheme"])
    own = f"{scheme}://{headers.get('host', '')}"
    base = own
    address: str | None = peer
    if trusted:
        address = _behind(headers.get("x-forwarded-for", ""), server.trust_proxy) or peer
        base = _forwarded_base(headers, own)
    elif forwarded and is_loopback(peer):
        address = None
    if server.public_url:
        base = server.public_url.rstrip("/")
    raw = asked.scope.get("raw_path", b"").decode("latin-1")
    query = asked.scope.get("query_string", b"").decode("latin-1")
    return Arrival(
        peer=peer,
        address=address,
        base=_with_scheme_of(base, scheme),
        own_base=own,
        path=f"{raw}?{query}" if query else raw,
        origin=headers.get("origin", ""),
        forwarded=forwarded,
    )


def foreign_origin(come: Arrival, server: ServerSettings) -> bool:
    """Whether it comes from a web page that is not ours: pages always say so.

    Telephone systems send no Origin, or (libwebsockets) the host that they dialled.
    """
    if not come.origin or come.origin in server.allowed_origins:
        return False
    ours = urlsplit(server.public_url).hostname
    try:
        return not ours or urlsplit(come.origin).hostname != ours
    except ValueError:
        return True


def handshake_hook(asked: HTTPConnection, come: Arrival) -> Webhook:
    """A media socket's handshake, for a provider that signs it."""
    return Webhook("GET", come.url, dict(asked.headers), form=dict(asked.query_params))


async def webhook(request: Request, come: Arrival) -> Webhook:
    """Read a webhook's body, or its query where it has none.

    Raises:
        WireError: another kind of body, or one too large, or one that cannot be read.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _body(request)
    form: Mapping[str, str] = {}
    content: Mapping[str, Any] = {}
    if not body:
        form = dict(request.query_params)
    elif kind == _FORM:
        form = _fields(body)
    elif kind == "application/json":
        content = _object(body)
    else:
        raise WireError("a body that is neither form nor JSON")
    return Webhook(request.method, come.url, dict(request.headers), body, form, content)


async def _body(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length[:9]) > MAX_BODY_BYTES:
        raise WireError(f"a body of over {MAX_BODY_BYTES} bytes")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise WireError(f"a body of over {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _fields(body: bytes) -> dict[str, str]:
    """Fields left empty are kept: they are part of what was signed."""
    try:
        return dict(
            parse_qsl(
                body.decode("utf-8"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=_MAX_FIELDS,
            )
        )
    except ValueError:
        raise WireError("a form that cannot be read") from None


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise WireError("JSON that cannot be read") from None
    if not isinstance(content, dict):
        raise WireError("JSON that is no object")
    return content


def _is_in(host: str, networks: tuple[str, ...]) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in ipaddress.ip_network(one, strict=False) for one in networks)


def _behind(forwarded_for: str, networks: tuple[str, ...]) -> str:
    """The last address that no trusted proxy has; what stands before it, anyone may have written.

    Each proxy appends whom it heard from
    (https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/X-Forwarded-For).
    """
    for one in reversed([part.strip() for part in forwarded_for.split(",")]):
        if one and not _is_in(one, networks):
            return one[:64]
    return ""


def _forwarded_base(headers: Mapping[str, str], own: str) -> str:
    scheme, _, host = own.partition("://")
    scheme = headers.get("x-forwarded-proto", scheme).rpartition(",")[2].strip()
    host = headers.get("x-forwarded-host", host).rpartition(",")[2].strip()
    return f"{scheme}://{host}"


def _with_scheme_of(base: str, asked: str) -> str:
    """``base`` as ws(s) for a handshake and http(s) for a request, encrypted as it was."""
    scheme, _, rest = base.partition("://")
    encrypted = "s" if scheme in ("https", "wss") else ""
    return f"{'ws' if asked.startswith('ws') else 'http'}{encrypted}://{rest}"
