"""A provider's REST interface, faked on loopback: it knows the requests that each one takes.

Twilio's, Telnyx', Plivo's, Exotel's, Vonage's, jambonz' and Asterisk's, as their documentation
shows them. It keeps what was asked, and can be made to fail in the ways that real ones do.
"""

import asyncio
import json
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from aiohttp import web

MODES = (
    "works",
    "over",
    "500",
    "slow",
    "drips",
    "floods",
    "redirects",
    "closes",
    "twice",
    "garbage",
)


@dataclass(frozen=True)
class Asked:
    """One request, and what it was for: hangup, transfer, press or dial."""

    what: str
    provider: str
    method: str
    path: str
    headers: dict = field(repr=False)
    body: dict = field(default_factory=dict)


def _texml(body):
    return "hangup" if "Status" in body else "transfer"


def _vonage(body):
    return "hangup" if body.get("action") == "hangup" else "transfer"


def _jambonz(body):
    return "hangup" if body.get("call_status") == "completed" else "transfer"


ID = "([^/]+)"
VONAGE_ID = "63f61863-4a51-4f6b-86e1-46edebcf9356"
PLACED = {
    "twilio": {"sid": "CA" + "1" * 32, "status": "queued"},
    "telnyx": {"call_sid": "v3:" + "placed-1_" * 5, "status": "queued"},
    "plivo": {"message": "call fired", "request_uuid": "9834029e-58b6-11e1-b8b7-a5bd0e4e126f"},
    "exotel": {"Call": {"Sid": "a" * 32, "Status": "in-progress"}},
    "vonage": {"uuid": VONAGE_ID, "status": "started"},
    "jambonz": {"sid": "2531329f-fb09-4ef7-887e-84e648214436"},
}
ROUTES = [  # provider, method, path, what it is for, status, answer
    ("twilio", "POST", f"/2010-04-01/Accounts/{ID}/Calls/{ID}.json", _texml, 200, {"sid": "CA1"}),
    ("twilio", "POST", f"/2010-04-01/Accounts/{ID}/Calls.json", "dial", 201, PLACED["twilio"]),
    ("telnyx", "POST", f"/v2/calls/{ID}/actions/hangup", "hangup", 200, {"data": {"result": "ok"}}),
    ("telnyx", "POST", f"/v2/calls/{ID}/actions/send_dtmf", "press", 200, {"data": {}}),
    ("telnyx", "POST", f"/v2/texml/Accounts/{ID}/Calls/{ID}", _texml, 200, {"status": "ok"}),
    ("telnyx", "POST", f"/v2/texml/Accounts/{ID}/Calls", "dial", 200, PLACED["telnyx"]),
    ("plivo", "DELETE", f"/v1/Account/{ID}/Call/{ID}/", "hangup", 204, None),
    ("plivo", "POST", f"/v1/Account/{ID}/Call/{ID}/DTMF/", "press", 202, {"message": "sent"}),
    ("plivo", "POST", f"/v1/Account/{ID}/Call/{ID}/", "transfer", 202, {"message": "transferred"}),
    ("plivo", "POST", f"/v1/Account/{ID}/Call/", "dial", 201, PLACED["plivo"]),
    ("exotel", "POST", f"/v1/Accounts/{ID}/Calls/connect.json", "dial", 200, PLACED["exotel"]),
    ("vonage", "PUT", f"/v1/calls/{ID}", _vonage, 204, None),
    ("vonage", "POST", "/v1/calls", "dial", 201, PLACED["vonage"]),
    ("jambonz", "PUT", f"/v1/Accounts/{ID}/Calls/{ID}", _jambonz, 202, None),
    ("jambonz", "POST", f"/v1/Accounts/{ID}/Calls", "dial", 201, PLACED["jambonz"]),
    ("asterisk", "POST", "/ari/channels", "dial", 200, {"state": "Down"}),
]
OVER = {"telnyx": (422, {"errors": [{"code": "90018", "title": "Call has already ended"}]})}


class FakeRest:
    """``mode`` is one of :data:`MODES`; ``asked`` holds every request that a provider would take,
    ``strange`` the others, which are answered 404.
    """

    def __init__(self):
        self.mode = "works"
        self.asked = []
        self.strange = []
        self.url = ""
        self._never = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        route = _route_of(request)
        if route is None:
            self.strange.append(f"{request.method} {request.path}")
            return web.json_response({"message": "not found"}, status=404)
        provider, what, status, answer = route
        body = _body(request, raw)
        what = what if isinstance(what, str) else what(body)
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(what, provider, request.method, request.path, headers, body))
        return await self._respond(request, provider, status, answer)

    async def _respond(self, request, provider, status, answer):
        match self.mode:
            case "over":
                status, answer = OVER.get(provider, (404, {"message": "not found"}))
            case "500":
                return web.Response(status=500, text="<html>oops EVIL</html>")
            case "slow":
                await self._never.wait()
            case "drips" | "floods":
                return await self._without_end(request, slowly=self.mode == "drips")
            case "redirects":
                return web.Response(status=307, headers={"location": f"{self.url}/elsewhere"})
            case "closes":
                request.transport.close()
                return web.Response()
            case "garbage":
                return web.Response(text="[[[[ EVIL")
            case "twice":
                asyncio.get_running_loop().call_soon(
                    request.transport.write, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
                )
        if answer is None:
            return web.Response(status=status)
        return web.json_response(answer, status=status)

    async def _without_end(self, request, *, slowly):
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):  # they have had enough
            while not self._never.is_set():
                await response.write(b" " if slowly else bytes(65536))
                if slowly:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._never.wait(), 0.05)
        return response

    def stop(self):
        """Let go of what waits."""
        self._never.set()


def _route_of(request):
    for provider, method, path, what, status, answer in ROUTES:
        if request.method == method and re.fullmatch(path, request.path):
            return provider, what, status, answer
    return None


def _body(request, raw):
    if request.content_type == "application/json":
        return json.loads(raw or b"{}")
    return dict(parse_qsl(raw.decode()))


@asynccontextmanager
async def fake_rest():
    """``async with fake_rest() as rest``: the server, on a free port of loopback."""
    rest = FakeRest()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", rest.answer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    rest.url = f"http://127.0.0.1:{port}"
    try:
        yield rest
    finally:
        rest.stop()
        await runner.cleanup()
