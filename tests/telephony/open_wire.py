"""A provider's side of its media socket, opened over loopback by the far end.

``read_start`` and the serializer of the product run behind a real server; a real WebSocket client
sends what the far end says, and what the product sends is read back by the far end.
"""

import asyncio
from contextlib import asynccontextmanager

import websockets
from fastapi import FastAPI, WebSocket
from pipecat.frames.frames import OutputAudioRawFrame, OutputTransportMessageFrame

from frontdesk import WireError
from telephony.messages import receive
from tests.telephony.listening import Heard

MAX_BYTES = 65536


class OpenWire:
    """One call on one socket."""

    def __init__(self, provider):
        self.provider = provider
        self.heard = Heard()
        self.frames = []
        self.serializer = self.start = self.refused = None
        self._taken = 0
        self._moved = asyncio.Condition()

    async def hold(self, server: WebSocket):
        """The product's end: what the front door does, without a call behind it."""
        self._server = server
        await server.accept(subprotocol=next(iter(self.provider.subprotocols), None))
        try:
            self.start = await self.provider.read_start(server, timeout_s=5, max_bytes=MAX_BYTES)
        except WireError as error:
            self.refused = error
            await self._count()
            return
        self.serializer = self.provider.serializer(self.start, self.heard, max_bytes=MAX_BYTES)
        self.serializer.send = server.send_text
        await self._count()
        try:
            while True:
                data = await receive(server, "next")
                frame = await self.serializer.deserialize(data)
                if frame is not None:
                    self.frames.append(frame)
                await self._count()
        except WireError:
            await self._count()

    async def opened(self, client, messages):
        """Send what comes before the audio."""
        self._client = client
        for message in messages:
            await client.send(message)
        await self._until(lambda: self.serializer or self.refused)

    async def tell(self, *messages):
        """Send ``messages`` as the provider; return once the last was taken in."""
        for message in messages:
            before = self._taken
            await self._client.send(message)
            await self._until(lambda before=before: self._taken > before)

    async def said(self, frame) -> list:
        """What the client receives for a frame of the pipeline, replies before it included."""
        message = await self.serializer.serialize(frame)
        if message is None:
            return []
        if isinstance(message, str):
            await self._server.send_text(message)
        else:
            await self._server.send_bytes(message)
        received = []
        while not received or received[-1] != message:
            received.append(await asyncio.wait_for(self._client.recv(), 5))
        return received

    async def mark(self, name) -> list:
        """What the client receives for a mark."""
        message = self.serializer.mark(name)
        return await self.said(OutputTransportMessageFrame(message)) if message else []

    def audio(self, samples) -> OutputAudioRawFrame:
        """A frame of the pipeline, at the wire's rate."""
        return OutputAudioRawFrame(samples.tobytes(), self.serializer.rate_hz, 1)

    async def _count(self):
        self._taken += 1
        async with self._moved:
            self._moved.notify_all()

    async def _until(self, true):
        async with asyncio.timeout(5), self._moved:
            await self._moved.wait_for(true)


@asynccontextmanager
async def wires(serve, provider):
    """``async with wires(serve, provider) as opened``: one server, a socket each ``opened(…)``."""
    app, waiting = FastAPI(), []

    @app.websocket("/media")
    async def media(socket: WebSocket):
        await waiting.pop().hold(socket)

    async with serve(app) as port:

        @asynccontextmanager
        async def opened(messages):
            wire = OpenWire(provider)
            waiting.append(wire)
            async with websockets.connect(
                f"ws://127.0.0.1:{port}/media", subprotocols=provider.subprotocols or None
            ) as client:
                await wire.opened(client, messages)
                yield wire

        yield opened


@asynccontextmanager
async def open_wire(serve, provider, messages):
    """``async with open_wire(serve, provider, far_end.begin({})) as wire``."""
    async with wires(serve, provider) as opened, opened(messages) as wire:
        yield wire
