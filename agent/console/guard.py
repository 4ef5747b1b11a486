"""What stands before every request of the console: the session, the Origin, and the headers.

Whatever is not named here as open needs a session, so a route that is added is closed. Whatever
changes something needs an Origin of ours (browsers always send one, and no page can forge it)
and, where the console's own pages ask, the session's CSRF token.
"""

from __future__ import annotations

import hmac
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.console.sessions import Session, Sessions
from agent.console_settings import ConsoleSettings
from telephony.limits import is_loopback

CSRF_HEADER = "x-csrf-token"
_SESSION = "console_session"
_OPEN = {("GET", "/login"), ("POST", "/api/login")}
_OPEN_FOLDER = "/static/"
# The page of hold-to-talk knows no CSRF token; its one POST changes nothing but the number of
# tokens for a call, whose only copy is in the reply.
_WITHOUT_CSRF = {"/api/login", "/talk/token"}
_CHANGES_NOTHING = {"GET", "HEAD"}
_METHODS = _CHANGES_NOTHING | {"POST"}
_SAFE = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Permissions-Policy": "microphone=(), camera=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def cookie_name(console: ConsoleSettings, port: int) -> str:
    """The session cookie's name. Browsers share cookies between ports, so it names ours.

    With ``__Host-`` no other host or path can set it (RFC 6265bis, section 4.1.3.2).
    """
    prefix = "__Host-" if is_encrypted(console) else ""
    return f"{prefix}frontdesk-console-{port}"


def is_encrypted(console: ConsoleSettings) -> bool:
    """Whether browsers come by https."""
    return console.public_url.startswith("https:")


def session_of(asked: HTTPConnection) -> Session:
    """The session of a request that the guard let through.

    Raises:
        LookupError: it needed none.
    """
    session: Session = asked.scope[_SESSION]
    return session


def is_ours(origin: str, host: str, console: ConsoleSettings) -> bool:
    """Whether ``origin``, of a request to ``host`` (its header), is that of a page of ours.

    On a loopback address the host must be this machine's own name too, so that no other site's
    name that is pointed here (DNS rebinding) will do.
    """
    if origin in ("", "null"):
        return False
    if console.public_url and origin == _serialised(console.public_url):
        return True
    try:
        parts = urlsplit(origin)
        name = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme != "http" or parts.netloc != host:
        return False
    return is_loopback(name) if is_loopback(console.host) else not console.public_url


class Guard:
    """ASGI middleware. ``cookie`` is the session cookie's name."""

    def __init__(
        self, app: ASGIApp, *, sessions: Sessions, console: ConsoleSettings, cookie: str
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._console = console
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or say what is missing and nothing else."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        session = self._sessions.find(asked.cookies.get(self._cookie, ""))
        if session is not None:
            scope[_SESSION] = session
        if scope["type"] == "websocket":
            await self._socket(asked, session, receive, send)
            return
        sending = _with_headers(send)
        refusal = self._refusal(asked, session)
        await (refusal or self._app)(scope, receive, sending)

    async def _socket(
        self, asked: HTTPConnection, session: Session | None, receive: Receive, send: Send
    ) -> None:
        if session is not None and self._is_ours(asked):
            await self._app(asked.scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})  # 403, before it is accepted

    def _refusal(self, asked: HTTPConnection, session: Session | None) -> Response | None:
        """Why a request goes no further; None if it does."""
        method, path = asked.scope["method"], asked.scope["path"]
        if method not in _METHODS:
            return said(405, "this is not done here")
        if session is None and not _is_open(method, path):
            if method in _CHANGES_NOTHING and not path.startswith("/api/"):
                to = f"/login?next={quote(path, safe='/')}" if path != "/" else "/login"
                return RedirectResponse(to, 303)
            return said(401, "log in first")
        if method in _CHANGES_NOTHING:
            return None
        if not self._is_ours(asked):
            return said(403, "this did not come from a page of the console")
        if path in _WITHOUT_CSRF:
            return None
        given = asked.headers.get(CSRF_HEADER, "").encode("utf-8", "replace")
        if session is None or not hmac.compare_digest(given, session.csrf.encode()):
            return said(403, "the page is out of date; load it again")
        return None

    def _is_ours(self, asked: HTTPConnection) -> bool:
        headers = asked.headers
        return is_ours(headers.get("origin", ""), headers.get("host", ""), self._console)


def said(status: int, problem: str) -> JSONResponse:
    """An error as the pages read it."""
    return JSONResponse({"error": problem}, status)


def _is_open(method: str, path: str) -> bool:
    read = "GET" if method == "HEAD" else method
    return (read, path) in _OPEN or (read == "GET" and path.startswith(_OPEN_FOLDER))


def _with_headers(send: Send) -> Send:
    """Add the headers of every reply, but those that it has of its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def _serialised(url: str) -> str:
    """As browsers write an origin: lower case, without the scheme's own port.

    https://url.spec.whatwg.org/#concept-url-origin
    """
    parts = urlsplit(url)
    usual = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"
