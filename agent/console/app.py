"""The console as one ASGI application: the guard, the pages and the API behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from zoneinfo import ZoneInfo

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from agent.console.call_api import CallApi
from agent.console.cases import Cases
from agent.console.guard import Guard, cookie_name, said
from agent.console.lists_api import ListsApi
from agent.console.live import Live
from agent.console.live_socket import LiveSocket
from agent.console.login_api import LoginApi
from agent.console.overview_api import OverviewApi
from agent.console.pages import page_routes
from agent.console.passages import Passages
from agent.console.sessions import Sessions
from agent.console.threads import Threads
from agent.records.keeper import Records
from agent.settings import Settings
from rag import Index


def console_app(
    settings: Settings,
    records: Records,
    index: Callable[[], Index],
    live: Live,
    *,
    token: str,
    port: int,
    threads: Threads,
    talk: Iterable[BaseRoute] = (),
) -> Starlette:
    """The application. ``index`` gives the index in service, ``talk`` are hold-to-talk's routes."""
    console = settings.console
    sessions = Sessions(token, console.session_hours, console.logins_per_address)
    zone = ZoneInfo(settings.handover.time_zone)
    talk = list(talk)
    cases = Cases(settings, index)
    routes: list[BaseRoute] = [
        *LoginApi(settings, sessions, port, has_talk=bool(talk)).routes(),
        *ListsApi(records, threads, zone).routes(),
        *CallApi(records, settings.records.folder, Passages(index), cases, threads).routes(),
        *OverviewApi(records, live, index, threads, zone).routes(),
        LiveSocket(live, sessions).route(),
        *page_routes(),
        *talk,
    ]
    guard = Middleware(Guard, sessions=sessions, console=console, cookie=cookie_name(console, port))
    app = Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _wrong})
    app.router.redirect_slashes = False
    return app


async def _wrong(_: Request, error: Exception) -> Response:
    """What Starlette itself refuses: an unknown path, or another method."""
    assert isinstance(error, HTTPException)
    unknown = error.status_code == 404
    return said(error.status_code, "there is no such page" if unknown else "this is not done here")
