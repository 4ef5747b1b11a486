"""A real server on a loopback port, in the test's own event loop."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn


@pytest.fixture
def serve():
    """``async with serve(app) as port``: the app behind uvicorn, as the product runs it."""

    @asynccontextmanager
    async def run(app, **options):
        config = uvicorn.Config(
            app,
            log_level="critical",
            lifespan="off",
            ws_per_message_deflate=False,
            **options,
        )
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(config)
        # The socket listens already: a client that comes early waits in its backlog.
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield port
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, 10)

    return run
