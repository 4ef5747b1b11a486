"""The browser page: its files, a token for each call, and the call's socket.

Only the page's own script may open the socket. A call begins with ``POST /talk/token``, which a
page of another origin can neither send unseen nor read, and its token is good for one socket and
for a minute. On this machine's own address the Origin must name this machine, so that no other
site's name that is pointed here (DNS rebinding) will do.
"""

from __future__ import annotations

import html
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from loguru import logger
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.arrivals import Arrival, arrival
from agent.browser_settings import has_page
from agent.browser_shown import Shown
from agent.doorman import Doorman, Refused, forbidden
from agent.server_settings import ServerSettings
from agent.settings import Settings
from agent.switchboard import Switchboard
from frontdesk import ConfigError, ForbiddenError, WireError
from rag import Index
from telephony.browser_line import BrowserLine
from telephony.limits import is_loopback
from telephony.start import CallStart
from telephony.wire import Listener

FILES = Path(__file__).resolve().parent / "web"
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_TRY_LATER = 1013  # RFC 6455's registry of close codes


def browser_routes(
    settings: Settings, switchboard: Switchboard, doorman: Doorman, index: Callable[[], Index]
) -> list[BaseRoute]:
    """The page's routes; none where it is off. ``index`` has the passages that it shows."""
    if not has_page(settings.browser, settings.server):
        return []

    def is_ours(asked: HTTPConnection, come: Arrival) -> bool:
        return is_our_origin(come.origin, asked.headers.get("host", ""), settings.server)

    return talk_routes(settings, switchboard, doorman, index, is_ours, name="browser")


def talk_routes(
    settings: Settings,
    switchboard: Switchboard,
    doorman: Doorman,
    index: Callable[[], Index],
    is_ours: Callable[[HTTPConnection, Arrival], bool],
    *,
    name: str,
) -> list[BaseRoute]:
    """The page's routes, for whoever ``is_ours`` says comes from it.

    ``name`` tells this page's tokens from those of another.
    """
    door = _Door(settings, switchboard, doorman, index, is_ours, name)
    return [
        Route("/talk", door.page),
        Route("/talk/token", door.token, methods=["POST"]),
        Route("/talk/{name}", door.file),
        WebSocketRoute("/talk/socket/{token}", door.call),
    ]


def is_our_origin(origin: str, host: str, server: ServerSettings) -> bool:
    """Whether ``origin``, of a request to ``host`` (its header), is that of a page of ours."""
    if origin in ("", "null"):
        return False
    if origin in {_origin(url) for url in (server.public_url, *server.allowed_origins) if url}:
        return True
    try:
        parts = urlsplit(origin)
        name = parts.hostname or ""
    except ValueError:
        return False
    return is_loopback(server.host) and parts.netloc == host and is_loopback(name)


class _Door:
    """The page's requests."""

    def __init__(
        self,
        settings: Settings,
        switchboard: Switchboard,
        doorman: Doorman,
        index: Callable[[], Index],
        is_ours: Callable[[HTTPConnection, Arrival], bool],
        name: str,
    ) -> None:
        self._server = settings.server
        self._is_ours = is_ours
        self._name = name
        self._switchboard = switchboard
        self._doorman = doorman
        self._shown = Shown(index if settings.browser.passages else None)
        page = (FILES / "talk.html").read_text(encoding="utf-8")
        self._page = page.replace("{{title}}", html.escape(settings.browser.title))
        self._files = {path.name: path for path in FILES.iterdir() if path.suffix in _TYPES}

    async def page(self, _: Request) -> Response:
        """The page itself: it holds no secret."""
        return Response(self._page, media_type="text/html", headers=_HEADERS)

    async def file(self, request: Request) -> Response:
        """A file of the page."""
        path = self._files.get(request.path_params["name"])
        if path is None:
            return Response(status_code=404)
        return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers=_HEADERS)

    async def token(self, request: Request) -> Response:
        """A token for one call."""
        come = arrival(request, self._server)
        try:
            self._check_origin(request, come)
            self._room()
            self._count(come)
        except Refused as refused:
            self._doorman.turn_away("browser page", come, refused)
            return Response(status_code=refused.status, headers=_HEADERS)
        token = self._doorman.tokens.mint(self._name, f"web-{secrets.token_hex(8)}")
        return JSONResponse({"token": token}, headers=_HEADERS | {"Cache-Control": "no-store"})

    async def call(self, socket: WebSocket) -> None:
        """One call, from its token to its end."""
        come = arrival(socket, self._server)
        try:
            self._check_origin(socket, come)
            call_id = self._doorman.tokens.spend(socket.path_params["token"], self._name)
            self._room()
        except (Refused, ForbiddenError) as error:
            refused = error if isinstance(error, Refused) else forbidden(error)
            self._doorman.turn_away("browser page's socket", come, refused)
            await socket.close()  # 403, before it is accepted
            return
        await socket.accept()
        start = CallStart(call_id, call_id)

        def line(listener: Listener) -> BrowserLine:
            most = self._server.max_message_bytes
            return BrowserLine(socket, start, listener, max_bytes=most, shown=self._shown)

        try:
            await self._switchboard.hold(start, line)
        except WireError as error:
            logger.warning("call {} refused: {}", call_id, error)
        except ConfigError as error:
            logger.error("call {} refused: {}", call_id, error)
        await _close(socket)

    def _check_origin(self, asked: HTTPConnection, come: Arrival) -> None:
        if not self._is_ours(asked, come):
            raise Refused(403, "an Origin that is not ours")

    def _room(self) -> None:
        if self._switchboard.full:
            raise Refused(503, f"{len(self._switchboard.calls)} in progress")

    def _count(self, come: Arrival) -> None:
        try:
            self._doorman.count_call(come)
        except Refused as refused:
            raise Refused(429, refused.why) from None


def _origin(url: str) -> str:
    """As browsers write it: lower case, without the scheme's own port.

    https://url.spec.whatwg.org/#concept-url-origin
    """
    parts = urlsplit(url)
    usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "\0")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"


async def _close(socket: WebSocket) -> None:
    """Close politely; the page may be gone already."""
    try:
        await socket.close(_TRY_LATER)
    except (RuntimeError, WebSocketDisconnect) as error:
        logger.debug("socket was closed before us: {}", error)
