"""A real server with real models in the test's own loop, and a telephone to misuse it with."""

import asyncio
import base64
import json
import logging
from contextlib import asynccontextmanager
from itertools import count

from loguru import logger
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from agent.records import read_record
from agent.server import build_app, listen, make_server
from telephony import local_key
from telephony.caller import place_call
from telephony.g711 import ulaw_decode
from tests.agent.one_processor import within

_numbers = count(1)


class Lines:
    """What is logged, by Frontdesk and Pipecat (loguru) and by uvicorn (logging)."""

    def __init__(self):
        self.all = []
        self._handler = logging.Handler()
        self._handler.emit = lambda r: self._keep(r.levelname, r.getMessage())

    def _keep(self, level, message):
        self.all.append((level, message))

    def __enter__(self):
        self._sink = logger.add(
            lambda m: self._keep(m.record["level"].name, m.record["message"]), level="INFO"
        )
        logging.getLogger().addHandler(self._handler)
        return self

    def __exit__(self, *exc):
        logger.remove(self._sink)
        for name in (None, "uvicorn"):
            logging.getLogger(name).removeHandler(self._handler)

    def follow_uvicorn(self):
        """uvicorn sets its loggers up anew for every server, apart from the root."""
        logging.getLogger("uvicorn").addHandler(self._handler)

    @property
    def bad(self):
        return [message for level, message in self.all if level not in ("DEBUG", "INFO")]


class Server:
    """A running server; ``url`` is its http address, ``media`` Twilio's media socket.

    ``headers`` let a program of this machine in.
    """

    def __init__(self, port, app, folder):
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.media = f"ws://127.0.0.1:{port}/twilio/media"
        self.app = app
        self.switchboard = app.state.switchboard
        self.doorman = app.state.doorman
        self.providers = app.state.providers
        self.headers = {local_key.HEADER: self.doorman.local_key}
        self._folder = folder

    async def call(self, turns, **how):
        """A test call by a program of this machine."""
        return await place_call(self.url, turns, headers=self.headers, **how)

    def records(self):
        """The events of every call so far, the oldest call first."""
        return [read_record(path) for path in sorted(self._folder.glob("*.jsonl"))]

    async def idle(self):
        """Wait until no call is in progress."""
        await within(10, lambda: not self.switchboard.calls)

    async def record(self):
        """The events of the only call, once it is over."""
        await self.idle()
        (events,) = self.records()
        return events


def local_headers(server):
    """What lets a program of this machine in."""
    return server.headers


@asynccontextmanager
async def serving(settings, engines, lines=None, console=None):
    """The product's own server on a free port; its console on ``console``."""
    sock = listen("127.0.0.1", 0)
    app = build_app(settings, engines, console)
    server = make_server(app, settings)
    if lines:
        lines.follow_uvicorn()
    task = asyncio.create_task(server.serve(sockets=[sock]))
    await within(20, lambda: server.started or task.done())  # the other listeners too
    try:
        yield Server(sock.getsockname()[1], app, settings.records.folder)
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, 20)


class Phone:
    """A far end that sends what it is told to, keeps what it gets, and measures nothing."""

    def __init__(self, server, *, url=None, headers=None):
        self._url = url or server.media
        self._headers = server.headers if headers is None else headers
        self.number = next(_numbers)
        self.messages = []
        self._got = asyncio.Condition()

    async def __aenter__(self):
        self.socket = await connect(
            self._url, compression=None, proxy=None, additional_headers=self._headers
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *exc):
        await self.socket.close()
        await self._reader

    async def _read(self):
        try:
            async for text in self.socket:
                async with self._got:
                    self.messages.append(json.loads(text))
                    self._got.notify_all()
        except ConnectionClosed:
            return

    async def start(self):
        stream = {"streamSid": f"MZ{self.number}", "callSid": f"CA{self.number}"}
        await self.send({"event": "connected"}, {"event": "start", "start": stream})

    async def send(self, *messages):
        """Dictionaries as JSON with the stream's id, anything else as it is."""
        for message in messages:
            if isinstance(message, dict):
                message = json.dumps({"streamSid": f"MZ{self.number}", **message})
            await self.socket.send(message)

    async def speak(self, samples):
        """Send ``samples`` (µ-law bytes) as fast as the wire takes them."""
        for at in range(0, len(samples), 160):
            payload = base64.b64encode(samples[at : at + 160]).decode()
            await self.send({"event": "media", "media": {"payload": payload}})

    async def until(self, condition, timeout_s=10):
        async with self._got:
            await asyncio.wait_for(self._got.wait_for(condition), timeout_s)

    async def closed(self, timeout_s=10):
        """Wait until the server has closed the socket; the close code."""
        await asyncio.wait_for(self.socket.wait_closed(), timeout_s)
        return self.socket.close_code

    def audio(self):
        """Everything the agent sent, as int16."""
        payloads = [m["media"]["payload"] for m in self.messages if m["event"] == "media"]
        return ulaw_decode(b"".join(map(base64.b64decode, payloads)))

    async def greeted(self):
        """Wait until the agent is heard."""
        await self.until(lambda: any(abs(self.audio()) > 300))
