"""Logging in and out."""

from __future__ import annotations

from datetime import UTC, datetime

from loguru import logger
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agent.arrivals import arrival
from agent.console import asked
from agent.console.guard import cookie_name, is_encrypted, said, session_of
from agent.console.replies import Json, endpoint
from agent.console.sessions import Sessions
from agent.settings import Settings
from telephony.limits import Bursts, by_address

_MAX_TOKEN = 1000
_RETRY_S = 60
_SHARED = "behind a proxy"


class LoginApi:
    """Routes of who comes and goes. ``has_talk``: whether hold-to-talk is here."""

    def __init__(
        self, settings: Settings, sessions: Sessions, port: int, *, has_talk: bool
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._cookie = cookie_name(settings.console, port)
        self._has_talk = has_talk
        self._bursts = Bursts()

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        return [
            Route("/api/login", self.log_in, methods=["POST"]),
            Route("/api/logout", self.log_out, methods=["POST"]),
            Route("/api/me", self.me),
        ]

    @endpoint
    async def log_in(self, request: Request) -> Response:
        """A session for who knows the token."""
        token = asked.text_of(await asked.body(request), "token", _MAX_TOKEN)
        come = arrival(request, self._settings.server)
        address = _SHARED if come.address is None else by_address(come.address)
        if not self._sessions.may_try(address):
            late = said(429, "too many failed logins; try again in a minute")
            late.headers["Retry-After"] = str(_RETRY_S)
            return late
        cookie = self._sessions.log_in(token, address)
        if cookie is None:
            self._warn()
            return said(401, "that is not the token of this console")
        reply = Response(status_code=204)
        reply.set_cookie(
            self._cookie,
            cookie,
            max_age=int(self._sessions.seconds),
            secure=is_encrypted(self._settings.console),
            httponly=True,
            samesite="strict",
        )
        return reply

    @endpoint
    async def log_out(self, request: Request) -> Response:
        """End the session."""
        self._sessions.log_out(request.cookies.get(self._cookie, ""))
        reply = Response(status_code=204)
        reply.delete_cookie(
            self._cookie,
            secure=is_encrypted(self._settings.console),
            httponly=True,
            samesite="strict",
        )
        return reply

    @endpoint
    async def me(self, request: Request) -> Response:
        """What the pages need to know of the session."""
        session = session_of(request)
        return Json(
            {
                "csrf": session.csrf,
                "expires_at": datetime.fromtimestamp(session.until, UTC).isoformat("T", "seconds"),
                "recording": str(getattr(self._settings.records, "recording", "off")),
                "talk": self._has_talk,
                "time_zone": self._settings.handover.time_zone,
            }
        )

    def _warn(self) -> None:
        line = self._bursts.line("console: a login with a wrong token")
        if line:
            logger.warning("{}", line)
