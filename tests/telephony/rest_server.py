"""A fake of a provider's REST interface: a real server on loopback that notes what it is asked."""

from types import SimpleNamespace

from aiohttp import web


class RestServer:
    """``answer`` is the status and the JSON of every answer; ``asked`` the requests."""

    def __init__(self):
        self.asked, self.answer = [], (200, None)

    async def __aenter__(self):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._take)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *exc):
        await self._runner.cleanup()

    async def _take(self, request):
        self.asked.append(
            SimpleNamespace(
                method=request.method,
                path=request.path,
                headers={name.lower(): value for name, value in request.headers.items()},
                json=await request.json(),
            )
        )
        status, body = self.answer
        return web.Response(status=204) if body is None else web.json_response(body, status=status)
