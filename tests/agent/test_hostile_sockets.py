"""Handshakes that are none, and sockets that send very much: each is ended, and no other call."""

import asyncio
import socket

import pytest

from agent import http_guard, socket_guard
from tests.agent.live import Phone, serving
from tests.agent.test_hostile_floods import HEAD, answer, knock
from tests.agent.test_server import still_answers

HANDSHAKE = (
    b"GET /twilio/media HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.mark.parametrize(
    "handshake",
    [
        HANDSHAKE + b"Content-Length: 5\r\n\r\nhello",
        HANDSHAKE + b"Content-Length: 50000\r\n\r\nhello",
        HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        HANDSHAKE.replace(b"GET", b"POST") + b"Content-Length: 5\r\n\r\nhello",
        HANDSHAKE + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n",
    ],
    ids=["a body", "half a body", "chunks", "POST", "200 headers"],
)
async def test_a_handshake_that_is_none_is_not_kept_open(settings, call_engines, handshake):
    async with serving(settings(), call_engines) as server:
        reader, writer = await knock(server.port, handshake)
        assert b"101" not in await answer(reader)
        writer.close()


FLOODS = {
    "pings": b"\x89\x80" + bytes(4),
    "long pings": b"\x89\xfd" + bytes(4) + bytes(125),
    "pongs": b"\x8a\x80" + bytes(4),
    "pieces": b"\x00\x80" + bytes(4),
    "no words": b"\x81\x80" + bytes(4),
}


@pytest.mark.parametrize("kind", FLOODS)
async def test_frames_without_end_end_their_own_socket(settings, call_engines, lines, kind):
    async with (
        serving(settings(), call_engines, lines) as server,
        Phone(server) as good,
        Phone(server) as bad,
    ):
        await good.start()
        await good.greeted()
        first = b"\x01\x80" + bytes(4) if kind == "pieces" else b""
        bad.socket.transport.write(first + FLOODS[kind] * 20_000)
        assert await bad.closed() == 1006
        assert len(server.switchboard.calls) == 1
        await good.send({"event": "stop", "stop": {}})
        await good.closed()
    assert "a socket with very many frames that say nothing was closed" in lines.bad


async def test_far_more_than_audio_ends_its_own_socket(settings, call_engines, lines, monkeypatch):
    monkeypatch.setattr(socket_guard, "BYTES_A_MINUTE", 100_000.0)
    async with serving(settings(), call_engines, lines) as server, Phone(server) as bad:
        await bad.start()
        await bad.speak(b"\xff" * 8000)
        await bad.greeted()  # a second of audio is no flood
        frame = b"\x81\xfe\x01\x00" + bytes(4) + b'{"event":"mark"}'.ljust(256)
        bad.socket.transport.write(frame * 1000)
        assert await bad.closed() == 1006
    assert "a socket that sends far more than audio was closed" in lines.bad


async def test_other_calls_have_their_turn_between_messages_that_wait(settings, call_engines):
    turns = []

    async def other():
        while True:
            turns.append("other")
            await asyncio.sleep(0)

    class Waiting(socket_guard.GuardedSocket):
        def __init__(self):
            self.queue, self.read_paused = asyncio.Queue(), False

    waiting = Waiting()
    for _ in range(3):
        waiting.queue.put_nowait({"type": "websocket.receive", "text": ""})
    beside = asyncio.create_task(other())
    for _ in range(3):
        await waiting.receive()
        turns.append("message")
    beside.cancel()
    assert turns == ["other", "message", "other", "message", "other", "message"]


async def test_requests_that_wait_for_no_answer_are_cut_off(settings, call_engines):
    async with serving(settings(), call_engines) as server:
        reader, _ = await knock(server.port, (HEAD + b"\r\n") * 1000)
        came = await answer(reader)
        assert came.count(b"HTTP/1.1 200") <= http_guard.MAX_WAITING + 1
        assert came.count(b"HTTP/1.1 400") == 1
        await still_answers(server)


async def test_one_who_reads_no_answers_is_closed(settings, call_engines):
    chosen = settings(server={"request_timeout_s": 0.3})
    loop = asyncio.get_running_loop()
    async with serving(chosen, call_engines) as server:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.setblocking(False)
            await loop.sock_connect(deaf, ("127.0.0.1", server.port))

            async def ask_on():
                while True:
                    await loop.sock_sendall(deaf, b"GET /talk/talk.js HTTP/1.1\r\nHost: x\r\n\r\n")
                    await asyncio.sleep(0.002)  # for the answer: it asks for one at a time

            with pytest.raises(ConnectionError):
                await asyncio.wait_for(ask_on(), 30)
        await still_answers(server)
