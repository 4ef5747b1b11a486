"""``frontdesk serve``: every wire that comes to a port of this machine, and health."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from loguru import logger

from agent.audiosocket_server import audiosocket_listening
from agent.browser import browser_routes
from agent.console.listening import console_listening
from agent.console.port import ConsolePort
from agent.console.talk import console_talk
from agent.dialplan import dialplan
from agent.engines import Engines
from agent.front_door import front_door
from agent.garbage import set_aside
from agent.http_guard import guarded_http, keep_quiet
from agent.log_privacy import keep_private
from agent.outbound import SIP
from agent.outbound_api import outbound_routes
from agent.provider_accounts import providers_of
from agent.records.keeper import Records
from agent.settings import Settings
from agent.sip_server import sip_listening
from agent.socket_guard import GuardedSocket
from agent.switchboard import Switchboard
from frontdesk import ConfigError
from rag import Index

# It warns of every frame sent to a caller who has just gone; how a call ends is logged here, once.
logger.disable("pipecat.transports.websocket.fastapi")


def build_app(settings: Settings, engines: Engines, console: ConsolePort | None = None) -> FastAPI:
    """The HTTP and WebSocket application; its console is served on ``console`` meanwhile."""
    keep_private()
    providers = providers_of(settings)
    records = Records(settings.records)
    switchboard = Switchboard(settings, engines, records, providers)

    def index() -> Index:
        return engines.index

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        set_aside()
        records.start()
        with engines.knowledge.watched(is_idle=lambda: not switchboard.calls):
            async with AsyncExitStack() as stack:
                try:
                    known = (settings, switchboard, doorman)
                    talk = console_talk(*known, index)
                    await stack.enter_async_context(
                        console_listening(settings, records, index, console, talk)
                    )
                    await stack.enter_async_context(audiosocket_listening(*known))
                    sip = await stack.enter_async_context(sip_listening(*known))
                except ConfigError as error:  # uvicorn would make a traceback of it
                    app.state.unable = error
                else:
                    app.state.sip = sip
                    if sip is not None:
                        switchboard.outbound.dialers[SIP] = sip.dial
                yield
        for provider in providers.values():
            await provider.close()
        await engines.close()
        await asyncio.to_thread(records.close)

    app = FastAPI(
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # to whatever host the request names
        lifespan=lifespan,
    )
    app.state.switchboard, app.state.sip, app.state.unable = switchboard, None, None
    app.state.records = records
    app.state.providers = tuple(providers.values())

    doorman = app.state.doorman = front_door(app, settings, switchboard, providers)
    app.include_router(dialplan(settings, doorman))
    app.include_router(outbound_routes(switchboard.outbound, doorman.lets_in))
    app.router.routes += browser_routes(settings, switchboard, doorman, index)

    @app.get("/healthz", response_model=None)
    async def healthz(request: Request) -> dict[str, object] | JSONResponse:
        """That it is well; to a program of this machine also what it does."""
        if app.state.sip is not None and not app.state.sip.up:
            return JSONResponse({"status": "SIP is down"}, 503)
        if not doorman.lets_in(request):
            return {"status": "ok"}
        trouble = {"trouble": records.trouble} if records.trouble else {}
        return {"status": "ok", **trouble, "calls": len(switchboard.calls), **engines.versions()}

    return app


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, taken before the models load so that a busy port fails at once.

    Raises:
        ConfigError: if the address cannot be taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, or asyncio leaves Nagle on: 40 ms more for every reply.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        mend = "set server.port or stop the other program"
        if error.errno != errno.EADDRINUSE:
            mend = "set server.host to an address of this machine, server.port to 1024 or more"
        raise ConfigError(f"cannot listen on {host}:{port} ({error.strerror}); {mend}") from error
    return sock


class _Server(uvicorn.Server):
    """Ends the calls before uvicorn closes their sockets under them."""

    def __init__(self, config: uvicorn.Config, switchboard: Switchboard) -> None:
        super().__init__(config)
        self._switchboard = switchboard

    async def main_loop(self) -> None:
        if self.config.app.state.unable is None:  # type: ignore[union-attr]
            await super().main_loop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._switchboard.stop()
        await super().shutdown(sockets)


def make_server(app: FastAPI, settings: Settings) -> uvicorn.Server:
    """uvicorn with this server's limits."""
    server = _Server(
        uvicorn.Config(
            app,
            http=guarded_http(settings.server.request_timeout_s),
            ws=GuardedSocket,
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # uvicorn believes any proxy on this machine; server.trust_proxy
            # Above our own limit, so that our check names the fault before uvicorn just closes.
            ws_max_size=4 * settings.server.max_message_bytes,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=5,
        ),
        app.state.switchboard,
    )
    keep_quiet()  # after uvicorn has set its loggers up
    return server


def serve_on(server: uvicorn.Server, sock: socket.socket) -> None:
    """Serve until stopped, on uvloop where it is installed.

    Raises:
        ConfigError: a wire that has a port of its own cannot have it.
    """
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[sock]))
    unable: ConfigError | None = server.config.app.state.unable  # type: ignore[union-attr]
    if unable is not None:
        raise unable
