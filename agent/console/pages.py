"""The pages and their files: fixed, and none of them holds anything of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from agent.console.guard import said

FILES = Path(__file__).resolve().parent / "web"
PAGES = {
    "/": "index.html",
    "/call/{id}": "call.html",
    "/live": "live.html",
    "/refusals": "refusals.html",
    "/reports": "reports.html",
    "/demand": "demand.html",
    "/login": "login.html",
}
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def page_routes() -> list[BaseRoute]:
    """Every page, and the files beside them by their names alone."""
    files = {path.name: path for path in FILES.iterdir() if path.suffix in _TYPES}

    async def file(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        if path is None:
            return said(404, "there is no such file")
        kind = _TYPES[path.suffix]
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache"})

    shown = [Route(path, _page(FILES / name)) for path, name in PAGES.items()]
    return [*shown, Route("/static/{name}", file)]


def _page(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def page(_: Request) -> Response:
        return FileResponse(path, media_type="text/html")

    return page
