"""A provider's line with a running pipeline of nothing else, called by its far end."""

import asyncio
from contextlib import asynccontextmanager

import websockets
from fastapi import FastAPI, WebSocket
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.workers.runner import WorkerRunner

from telephony.far_end import Reply
from telephony.socket_line import SocketLine
from tests.telephony.listening import Heard


class Session:
    """The far end of one call, which keeps what the agent asks for."""

    def __init__(self, client, far_end):
        self.client, self.far_end, self.asked = client, far_end, []
        self.line = self.worker = self.heard = None
        self._moved = asyncio.Condition()

    def of(self, kind):
        return [one for one in self.asked if isinstance(one, kind)]

    async def first(self, kind):
        """Wait until the agent has asked for one of ``kind``."""
        async with asyncio.timeout(20), self._moved:
            await self._moved.wait_for(lambda: self.of(kind))

    async def run(self):
        """Answer the agent until it closes the socket."""
        for message in self.far_end.begin({}):
            await self.client.send(message)
        async for data in self.client:
            for one in self.far_end.read(data):
                async with self._moved:
                    self.asked.append(one)
                    self._moved.notify_all()
                if isinstance(one, Reply):
                    for message in one.messages:
                        await self.client.send(message)


@asynccontextmanager
async def on_a_line(serve, provider, far_end):
    """``async with on_a_line(serve, provider, far_end) as session``; it ends with the socket."""
    app, ready = FastAPI(), asyncio.Queue()

    @app.websocket("/media")
    async def media(socket: WebSocket):
        await socket.accept(subprotocol=next(iter(provider.subprotocols), None))
        start = await provider.read_start(socket, timeout_s=5, max_bytes=65536)
        heard = Heard()
        line = SocketLine(provider, socket, start, heard, max_bytes=65536)
        worker = PipelineWorker(
            Pipeline([line.transport.input(), line.transport.output()]),
            params=PipelineParams(
                audio_in_sample_rate=line.rate_hz, audio_out_sample_rate=line.rate_hz
            ),
            enable_rtvi=False,
        )
        runner = WorkerRunner(handle_sigint=False)

        @worker.event_handler("on_pipeline_started")
        async def started(*_):
            ready.put_nowait((line, worker, heard))

        await runner.add_workers(worker)
        await runner.run()

    async with (
        serve(app) as port,
        websockets.connect(
            f"ws://127.0.0.1:{port}/media", subprotocols=provider.subprotocols or None
        ) as client,
    ):
        session = Session(client, far_end)
        task = asyncio.create_task(session.run())
        session.line, session.worker, session.heard = await asyncio.wait_for(ready.get(), 10)
        yield session
        await asyncio.wait_for(task, 10)
