"""The media socket as Asterisk itself speaks it: queue, flush, marks, flow control, keys."""

import asyncio
import json

import httpx
import numpy as np
import pytest
from fastapi import FastAPI, WebSocket
from pipecat.frames.frames import (
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)

from agent.server import listen
from telephony.provider import Account
from telephony.providers.asterisk import Asterisk
from tests.asterisk.desk import call, presses, quiet
from tests.asterisk.pbx import ARI_PASSWORD, PASSWORD
from tests.telephony.listening import Heard

pytestmark = [pytest.mark.slow, pytest.mark.asterisk, pytest.mark.timeout(90)]


class Talk:
    """The agent's end of one socket, on the product's provider and serializer."""

    def __init__(self, socket, start):
        self.socket, self.heard, self.frames, self.told = socket, Heard(), [], []
        provider = Asterisk(Account(secret=PASSWORD))
        self.serializer = provider.serializer(start, self.heard, max_bytes=65536)
        self.moved = asyncio.Event()

    async def listen(self):
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("text") or message.get("bytes")
            if isinstance(data, str):
                self.told.append(json.loads(data))
            frame = await self.serializer.deserialize(data)
            if frame is not None:
                self.frames.append(frame)
            self.moved.set()

    async def until(self, true):
        async with asyncio.timeout(15):
            while not true():
                self.moved.clear()
                await self.moved.wait()

    async def say(self, frame):
        message = await self.serializer.serialize(frame)
        if isinstance(message, bytes):
            await self.socket.send_bytes(message)
        elif message is not None:
            await self.socket.send_text(message)

    async def tone(self, seconds):
        samples = 8000 * np.sin(np.arange(int(8000 * seconds)) * 2 * np.pi * 440 / 8000)
        await self.say(OutputAudioRawFrame(samples.astype(np.int16).tobytes(), 8000, 1))

    async def queued(self):
        """How many frames of 20 ms Asterisk has still to play."""
        before = len(self.of("STATUS"))
        await self.socket.send_text('{"command":"GET_STATUS"}')
        await self.until(lambda: len(self.of("STATUS")) > before)
        return self.of("STATUS")[-1]["queue_length"]

    def of(self, kind):
        return [one for one in self.told if one["event"] == kind]


async def talked(pbx, serve_on_port, script, *turns):
    """Call through Asterisk; ``script(talk)`` is the agent. The caller's result."""
    app, outcome = FastAPI(), asyncio.get_running_loop().create_future()

    @app.websocket("/asterisk/media")
    async def media(socket: WebSocket):
        await socket.accept(subprotocol="media")
        provider = Asterisk(Account(secret=PASSWORD))
        talk = Talk(socket, await provider.read_start(socket, timeout_s=5, max_bytes=65536))
        listening = asyncio.create_task(talk.listen())
        try:
            await script(talk)
            outcome.set_result(None)
        except BaseException as error:
            outcome.set_exception(error)
            raise
        finally:
            await socket.close()
            listening.cancel()

    async with serve_on_port(app):
        result = await call(pbx, *turns, linger_ms=40_000, answer_timeout_s=40, wait_greeting=False)
        await asyncio.wait_for(outcome, 5)
    await quiet(pbx)
    return result


@pytest.fixture
def serve_on_port(pbx):
    """Serve an application where Asterisk dials."""
    from contextlib import asynccontextmanager

    import uvicorn

    @asynccontextmanager
    async def run(app):
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        task = asyncio.create_task(server.serve(sockets=[listen("127.0.0.1", pbx.agent_port)]))
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, 10)

    return run


async def test_a_flush_empties_the_far_buffer_and_marks_come_back(pbx, serve_on_port):
    seen = {}

    async def script(talk):
        await talk.until(lambda: len(talk.frames) > 10)  # the call stands
        await talk.tone(0.3)
        await talk.say(OutputTransportMessageFrame(talk.serializer.mark("short")))
        await talk.until(lambda: talk.heard.marks == ["short"])
        await talk.tone(5)
        await talk.say(OutputTransportMessageFrame(talk.serializer.mark("long")))
        seen["before"] = await talk.queued()
        heard = len(talk.frames)
        await talk.until(lambda: len(talk.frames) > heard + 50)  # a second, by Asterisk's clock
        await talk.say(InterruptionFrame())
        seen["after"] = await talk.queued()
        seen["marks"] = list(talk.heard.marks)
        heard = len(talk.frames)
        await talk.until(lambda: len(talk.frames) > heard + 100)
        seen["processed"] = [one["correlation_id"] for one in talk.of("MEDIA_MARK_PROCESSED")]

    result = await talked(pbx, serve_on_port, script, presses("5"))
    assert seen["before"] > 200
    assert seen["after"] < 10
    assert seen["marks"] == ["short", "long"]
    assert seen["processed"] == ["short"]  # a flushed mark never comes back: we tell of it
    loud = np.abs(result.recording[:, 1].astype(int)) > 2000
    assert 0.8 < np.count_nonzero(loud) / 8000 / 0.84 < 2.2  # 1.3 s of tone, not 5.3


async def test_a_full_queue_says_so_and_audio_waits_for_room(pbx, serve_on_port):
    async def script(talk):
        await talk.until(lambda: len(talk.frames) > 10)
        for _ in range(9):
            await talk.tone(1)
        for _ in range(10):
            await talk.tone(0.98)
        await talk.until(lambda: talk.of("MEDIA_XOFF"))
        more = asyncio.create_task(talk.tone(0.02))
        assert await talk.queued() >= 850
        assert not more.done()
        await talk.say(InterruptionFrame())
        await asyncio.wait_for(more, 5)
        await talk.until(lambda: talk.of("MEDIA_XON"))

    await talked(pbx, serve_on_port, script, presses("5"))


def test_prometheus_can_read_asterisks_counts(pbx):
    text = httpx.get(f"{pbx.ari_url}/metrics", trust_env=False).text
    assert "asterisk_calls_count" in text


def test_ari_asks_for_its_password(pbx):
    with httpx.Client(base_url=pbx.ari_url, trust_env=False) as client:
        assert client.get("/ari/channels").status_code == 401
        assert client.get("/ari/channels", auth=("frontdesk", "guess")).status_code == 401
        assert client.get("/ari/channels", auth=("frontdesk", ARI_PASSWORD)).status_code == 200


async def test_a_key_arrives_once(pbx, serve_on_port):
    async def script(talk):
        def pressed():
            return [one.button.value for one in talk.frames if isinstance(one, InputDTMFFrame)]

        await talk.until(lambda: len(pressed()) == 3)
        heard = len(talk.frames)
        await talk.until(lambda: len(talk.frames) > heard + 50)
        assert pressed() == ["1", "2", "#"]

    await talked(pbx, serve_on_port, script, presses("12#"))
