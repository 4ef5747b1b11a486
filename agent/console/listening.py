"""The console on its own port, in the loop of the calls, guarded as theirs is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.routing import BaseRoute

from agent.console.app import console_app
from agent.console.live import Live
from agent.console.port import ConsolePort
from agent.console.threads import Threads
from agent.http_guard import guarded_http
from agent.records.keeper import Records
from agent.settings import Settings
from agent.socket_guard import GuardedSocket
from rag import Index

_MAX_MESSAGE_BYTES = 65_536
"""Of a socket. Watchers say nothing; hold-to-talk sends 20 ms at a time."""
_CLOSING_S = 5


class _Server(uvicorn.Server):
    """Leaves signals to the server of the calls, which ends this one."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def console_listening(
    settings: Settings,
    records: Records,
    index: Callable[[], Index],
    port: ConsolePort | None,
    talk: Iterable[BaseRoute] = (),
) -> AsyncIterator[Live | None]:
    """Serve the console on ``port`` while inside; None where it is off.

    ``index`` gives the index in service, ``talk`` are hold-to-talk's routes.
    """
    if port is None:
        yield None
        return
    live, threads = Live(), Threads()
    app = console_app(
        settings, records, index, live,
        token=port.token, port=port.number, threads=threads, talk=talk,
    )  # fmt: skip
    server = _Server(
        uvicorn.Config(
            app,
            http=guarded_http(settings.server.request_timeout_s),
            ws=GuardedSocket,
            log_config=None,  # the loggers are set up by the server of the calls
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws_max_size=_MAX_MESSAGE_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_CLOSING_S,
        )
    )
    unsubscribe = records.subscribe(live.hear, passing=lambda: live.is_watched)
    serving = asyncio.create_task(server.serve(sockets=[port.sock]))
    try:
        with port.token_left():
            yield live
    finally:
        unsubscribe()
        live.close()
        server.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)
        threads.close()
