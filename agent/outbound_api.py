"""``/outbound``: place a call, and see whether it was answered. For this machine's user only."""

from __future__ import annotations

import json
from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from agent.outbound import Outbound, Placed
from agent.outbound_rules import OutboundError

PATH = "/outbound"
_MAX_BODY_BYTES = 4096
_NOT_LOCAL = (
    "only programs with the local key may ask: run it on the agent's machine, as the user who runs "
    "the agent"
)


def outbound_routes(outbound: Outbound, lets_in: Callable[[Request], bool]) -> APIRouter:
    """The routes; ``lets_in`` knows a request of this machine's own user by the local key."""
    router = APIRouter()

    @router.post(PATH)
    async def place(request: Request) -> JSONResponse:
        """Call ``to``; ``say`` is what for. 202 with the call's id, or a problem in one line."""
        if not lets_in(request):
            return _problem(403, _NOT_LOCAL)
        try:
            to, say = await _asked(request)
            placed = await outbound.place(to, say)
        except OutboundError as error:
            return _problem(error.status, str(error))
        return JSONResponse(_shown(placed), 202)

    @router.get(PATH + "/{placed_id}")
    async def look(request: Request, placed_id: str) -> JSONResponse:
        """How the call stands."""
        if not lets_in(request):
            return _problem(403, _NOT_LOCAL)
        placed = outbound.find(placed_id)
        return _problem(404, "no such call") if placed is None else JSONResponse(_shown(placed))

    return router


async def _asked(request: Request) -> tuple[str, str]:
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MAX_BODY_BYTES:
                raise OutboundError(413, f"send at most {_MAX_BODY_BYTES} bytes")
    except ClientDisconnect:
        raise OutboundError(400, "the body did not arrive") from None
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise OutboundError(400, 'send JSON: {"to": "+15555550142"}') from None
    to, say = (asked.get("to"), asked.get("say", "")) if isinstance(asked, dict) else (None, "")
    if not isinstance(to, str) or not isinstance(say, str):
        raise OutboundError(400, 'send JSON: {"to": "+15555550142"}')
    return to, say


def _shown(placed: Placed) -> dict[str, str]:
    return {"id": placed.id, "call": placed.call_id, "state": placed.state}


def _problem(status: int, problem: str) -> JSONResponse:
    return JSONResponse({"problem": problem}, status)
