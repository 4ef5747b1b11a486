"""The serializer inside the transport that calls run on, over a real socket."""

import asyncio
import base64
import json

import numpy as np
import pytest
from loguru import logger
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from pipecat.workers.runner import WorkerRunner
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.media_socket import MediaSocketTransport
from telephony.provider import Account
from telephony.providers.twilio import Twilio
from telephony.providers.twilio_serializer import TwilioSerializer
from tests.speech.running import End


@pytest.fixture(autouse=True)
def pipecat_logs():
    """Pipecat's own lines about its socket, which the agent's server turns off."""
    logger.enable("pipecat.transports.websocket.fastapi")
    yield
    logger.disable("pipecat.transports.websocket.fastapi")


CONNECTED = '{"event":"connected"}'


def start(n):
    return json.dumps({"event": "start", "start": {"streamSid": f"MZ{n}", "callSid": f"CA{n}"}})


def media(n, payload=b"\xff" * 160, **fields):
    part = {"payload": base64.b64encode(payload).decode(), **fields}
    return json.dumps({"event": "media", "streamSid": f"MZ{n}", "media": part})


class Bot:
    """One pipeline a call, of nothing but the transport; each call's worker can be driven."""

    def __init__(self):
        self.app = Starlette(routes=[WebSocketRoute("/media", self.endpoint)])
        self.workers = {}
        self.ready = asyncio.Queue()
        self.ended = asyncio.Queue()
        self.seen = []
        self.heard = {}

    async def endpoint(self, websocket):
        await websocket.accept()
        call = await Twilio(Account()).read_start(websocket, timeout_s=5, max_bytes=65536)

        bot = self

        class Told:
            async def played(self, mark):
                bot.seen.append((call.call_id, "mark", mark))

            async def gone(self, cleanly=True):
                bot.seen.append((call.call_id, "stop"))
                await worker.cancel()

            async def failed(self, error):
                logger.warning(f"call {call.call_id}: {error}")
                await worker.cancel()

        serializer = TwilioSerializer(call, Told())
        transport = MediaSocketTransport(
            websocket,
            FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                audio_out_end_silence_secs=0,
                serializer=serializer,
            ),
        )
        heard = self.heard[call.call_id] = End(FrameDirection.DOWNSTREAM)
        worker = PipelineWorker(
            Pipeline([transport.input(), heard, transport.output()]),
            params=PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000),
            enable_rtvi=False,
        )

        @transport.event_handler("on_client_connected")
        async def connected(transport, websocket):
            self.workers[call.call_id] = worker
            await self.ready.put(call.call_id)

        @transport.event_handler("on_client_disconnected")
        async def disconnected(transport, websocket):
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()
        await self.ended.put(call.call_id)


class Phone:
    """A far end that keeps what it receives."""

    def __init__(self, port, n, bot):
        self.url, self.n, self.bot = f"ws://127.0.0.1:{port}/media", n, bot
        self.messages = []
        self.got = asyncio.Condition()

    async def __aenter__(self):
        self.socket = await connect(self.url, compression=None, proxy=None)
        await self.socket.send(CONNECTED)
        await self.socket.send(start(self.n))
        self.reader = asyncio.create_task(self.read())
        assert await asyncio.wait_for(self.bot.ready.get(), 10) == f"CA{self.n}"
        return self

    async def __aexit__(self, *exc):
        await self.socket.close()
        await self.reader

    async def read(self):
        try:
            async for text in self.socket:
                async with self.got:
                    self.messages.append(json.loads(text))
                    self.got.notify_all()
        except ConnectionClosed:
            return

    async def until(self, event):
        def there():
            return any(m["event"] == event for m in self.messages)

        async with self.got:
            await asyncio.wait_for(self.got.wait_for(there), 10)

    @property
    def worker(self):
        return self.bot.workers[f"CA{self.n}"]

    def audio(self):
        payloads = [m["media"]["payload"] for m in self.messages if m["event"] == "media"]
        return ulaw_decode(b"".join(base64.b64decode(p) for p in payloads))


@pytest.fixture
def lines():
    """What Pipecat and we log at WARNING or above."""
    kept = []
    sink = logger.add(lambda m: kept.append(m.record["message"]), level="WARNING")
    yield kept
    logger.remove(sink)


BROKEN = {
    "malformed": ("{", "malformed JSON message"),
    "binary": (b"\x00\x01", "binary message where text is due"),
    "oversized": ("x" * 70_000, "oversized message (the limit is 65536 bytes)"),
    "null": ("null", "JSON message is not an object"),
    "other stream": (media(7), "media message of another stream"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_one_line_and_that_call_ends_and_the_other_goes_on(serve, lines, case):
    data, line = BROKEN[case]
    bot = Bot()
    async with serve(bot.app) as port, Phone(port, 1, bot) as bad, Phone(port, 2, bot) as good:
        await bad.socket.send(media(1))
        await bad.socket.send(data)
        await bad.socket.send(data)
        await bad.socket.send(media(1))
        assert await asyncio.wait_for(bot.ended.get(), 10) == "CA1"
        await asyncio.wait_for(bad.socket.wait_closed(), 5)
        await good.socket.send(media(2))
        await good.worker.queue_frame(TTSAudioRawFrame(b"\x01\x10" * 320, 8000, 1))
        await good.until("media")
        assert len(lines) == 1, lines
        assert line in lines[0]
    assert await asyncio.wait_for(bot.ended.get(), 10) == "CA2"
    assert len(lines) == 1, lines


async def test_a_far_end_that_vanishes_ends_its_call_without_a_word(serve, lines):
    bot = Bot()
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        await phone.socket.send(media(1))
        phone.socket.transport.abort()
        assert await asyncio.wait_for(bot.ended.get(), 10) == "CA1"
    assert lines == []


async def test_stop_ends_the_call(serve, lines):
    bot = Bot()
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        await phone.socket.send('{"event":"stop","streamSid":"MZ1"}')
        assert await asyncio.wait_for(bot.ended.get(), 10) == "CA1"
        await asyncio.wait_for(phone.socket.wait_closed(), 5)
    assert bot.seen == [("CA1", "stop")]
    assert lines == []


async def test_a_mark_follows_the_last_word_and_its_echo_arrives(serve):
    bot = Bot()
    pcm = np.full(8 * 95, 5000, np.int16)  # 95 ms: two chunks of 40 ms and a partial one
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        await phone.worker.queue_frames(
            [
                TTSAudioRawFrame(pcm.tobytes(), 8000, 1),
                TTSStoppedFrame(),
                OutputTransportMessageFrame(
                    message={"event": "mark", "streamSid": "MZ1", "mark": {"name": "greeting"}}
                ),
            ]
        )
        await phone.until("mark")
        assert [m["event"] for m in phone.messages] == ["media"] * 3 + ["mark"]
        heard = phone.audio()
        assert heard[: len(pcm)].tolist() == ulaw_decode(ulaw_encode(pcm)).tolist()
        assert not heard[len(pcm) :].any()
        await phone.socket.send(json.dumps(phone.messages[-1]))
        await phone.socket.send('{"event":"stop","streamSid":"MZ1"}')
        await asyncio.wait_for(bot.ended.get(), 10)
    assert bot.seen == [("CA1", "mark", "greeting"), ("CA1", "stop")]


async def test_an_interruption_clears_the_far_buffer_and_nothing_old_follows(serve):
    bot = Bot()
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        pcm = np.full(8000, 5000, np.int16)
        await phone.worker.queue_frame(TTSAudioRawFrame(pcm.tobytes(), 8000, 1))
        await phone.until("media")
        await phone.worker.queue_frame(InterruptionFrame())
        await phone.until("clear")
        after = np.full(320, -5000, np.int16)
        await phone.worker.queue_frame(TTSAudioRawFrame(after.tobytes(), 8000, 1))
        while phone.messages[-1]["event"] == "clear" or phone.audio()[-1] > 0:
            async with phone.got:
                await asyncio.wait_for(phone.got.wait(), 10)
        events = [m["event"] for m in phone.messages]
        assert events.count("clear") == 1
        late = events[events.index("clear") + 1 :]
        assert late == ["media"], "the old reply went on after the clear"


async def test_an_end_frame_plays_the_goodbye_out_and_closes(serve, lines):
    bot = Bot()
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        pcm = np.full(8 * 400, 5000, np.int16)
        await phone.worker.queue_frames(
            [TTSAudioRawFrame(pcm.tobytes(), 8000, 1), TTSStoppedFrame(), EndFrame()]
        )
        await asyncio.wait_for(phone.socket.wait_closed(), 10)
        assert np.count_nonzero(phone.audio()) == len(pcm)
        assert phone.socket.close_code == 1000
        assert await asyncio.wait_for(bot.ended.get(), 10) == "CA1"
    assert lines == []


async def test_what_got_lost_on_the_way_does_not_squeeze_the_caller_together(serve):
    bot = Bot()
    pcm = np.full(160, 1000, np.int16)
    async with serve(bot.app) as port, Phone(port, 1, bot) as phone:
        for frame in (0, 1, 3, 4):  # of 20 ms; the third is lost
            await phone.socket.send(media(1, ulaw_encode(pcm), timestamp=str(20 * frame)))
        await bot.heard["CA1"].wait_for(InputAudioRawFrame, 4)
        await phone.socket.send('{"event":"stop","streamSid":"MZ1"}')
        await asyncio.wait_for(bot.ended.get(), 10)
    heard = b"".join(frame.audio for frame in bot.heard["CA1"].of(InputAudioRawFrame))
    assert heard == 5 * ulaw_decode(ulaw_encode(pcm)).tobytes()
