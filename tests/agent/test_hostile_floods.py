"""Connections that say nothing, or too much: each is ended, and the calls in progress go on."""

import asyncio
import struct
from contextlib import AsyncExitStack

import pytest

from agent import http_guard
from bench import process
from bench.recordings import turn
from telephony import local_key
from telephony.caller import place_call
from tests.agent import knocking
from tests.agent.live import Phone, serving
from tests.agent.test_server import still_answers

VOICE = "gongitsune"


async def knock(port, data=b""):
    """A connection that sends ``data`` and no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    return reader, writer


async def answer(reader, timeout_s=10):
    """All that comes back until the server closes; empty if it only closes."""
    try:
        return await asyncio.wait_for(reader.read(), timeout_s)
    except ConnectionResetError:
        return b""


async def test_a_connection_that_says_nothing_is_closed(settings, call_engines, lines):
    chosen = settings(server={"request_timeout_s": 0.3})
    async with serving(chosen, call_engines, lines) as server:
        reader, _ = await knock(server.port)
        assert await answer(reader) == b""
        await still_answers(server)
    assert lines.bad == []


async def test_headers_that_trickle_in_do_not_hold_a_connection(settings, call_engines, lines):
    chosen = settings(server={"request_timeout_s": 0.3})
    async with serving(chosen, call_engines, lines) as server:
        reader, writer = await knock(server.port, b"POST /twilio/voice HTTP/1.1\r\nHost: x\r\n")

        async def trickle():
            while not writer.is_closing():
                writer.write(b"X-A: b\r\n")
                await asyncio.sleep(0.05)

        trickling = asyncio.create_task(trickle())
        assert await answer(reader) == b""
        trickling.cancel()
        await still_answers(server)


async def test_a_second_request_that_trickles_in_is_no_better(settings, call_engines):
    chosen = settings(server={"request_timeout_s": 0.3})
    async with serving(chosen, call_engines) as server:
        reader, writer = await knock(server.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.write(b"GET /healthz HTTP/1.1\r\nX-A:")
        assert b"HTTP/1.1" not in await answer(reader)


async def test_a_body_that_does_not_arrive_is_given_up(settings, call_engines, lines):
    chosen = settings(server={"request_timeout_s": 0.3, "insecure": True})
    head = (
        b"POST /twilio/voice HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nCallSid=CA1"
    )
    async with serving(chosen, call_engines, lines) as server:
        reader, _ = await knock(server.port, head)
        assert (await answer(reader)).startswith(b"HTTP/1.1 408")
    assert lines.bad == ["webhook refused: a body that does not arrive"]


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "flood",
    [
        HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\n",
        HEAD + b"X: " + b"y" * 1_000_000,
        HEAD + b"y" * 1_000_000,
        b"GET /" + b"a" * 1_000_000,
        b"GET /twilio/media HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: "
        + b"y" * 200_000
        + b"\r\n\r\n",
    ],
    ids=["many", "long value", "long name", "long path", "handshake"],
)
async def test_a_flood_of_headers_is_cut_off(settings, call_engines, lines, flood):
    async with serving(settings(), call_engines, lines) as server:
        reader, writer = await knock(server.port)
        try:
            writer.write(flood)
            await writer.drain()
        except ConnectionError:
            pass
        came = await answer(reader)
        assert came == b"" or came.startswith(b"HTTP/1.1 400")
        await still_answers(server)
    assert all("Invalid HTTP request" in line for line in lines.bad)


@pytest.mark.parametrize("told", [True, False], ids=["with its length", "in chunks"])
async def test_a_body_of_ten_megabytes_is_not_read(settings, call_engines, lines, told):
    chosen = settings(server={"insecure": True})
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n"
    head = b"POST /twilio/voice HTTP/1.1\r\nHost: x\r\n" + kind
    size = b"Content-Length: 10000000\r\n\r\n" if told else b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"From=1&" * 9362
    framed = chunk if told else b"%x\r\n%b\r\n" % (len(chunk), chunk)
    async with serving(chosen, call_engines, lines) as server:
        reader, writer = await knock(server.port, head + size)
        sent = 0
        try:
            for _ in range(150):
                writer.write(framed)
                await writer.drain()
                sent += len(framed)
        except ConnectionError:
            pass
        assert (await answer(reader))[:12] in (b"HTTP/1.1 413", b"")
        assert sent < 9_000_000
        await still_answers(server)
    assert lines.bad == ["webhook refused: a body of over 65536 bytes"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "BREW"])
async def test_another_method_gets_nowhere(settings, call_engines, method):
    async with serving(settings(), call_engines) as server:
        reader, _ = await knock(
            server.port, f"{method} /twilio/voice HTTP/1.1\r\nConnection: close\r\n\r\n".encode()
        )
        assert (await answer(reader))[9:12] in (b"405", b"400")
        assert server.records() == []


async def test_a_frame_of_a_hundred_megabytes_ends_its_own_socket(settings, call_engines, lines):
    async with (
        serving(settings(), call_engines, lines) as server,
        Phone(server) as good,
        Phone(server) as bad,
    ):
        await good.start()
        await good.greeted()
        frame = b"\x82\xff" + struct.pack(">Q", 100_000_000) + bytes(4)
        bad.socket.transport.write(frame + bytes(100_000))
        assert await bad.closed() == 1009
        assert len(server.switchboard.calls) == 1
        await good.send({"event": "stop", "stop": {}})
        await good.closed()
    assert [line for line in lines.bad if "oversized" not in line] == []


async def test_the_oldest_silent_connection_makes_room(settings, call_engines, monkeypatch):
    monkeypatch.setattr(http_guard, "MAX_IDLE", 20)
    chosen = settings(server={"request_timeout_s": 600})
    async with serving(chosen, call_engines) as server, AsyncExitStack() as open_ones:
        first, kept = await knock(server.port)  # a writer that is let go of closes
        for _ in range(30):
            _, writer = await knock(server.port)
            open_ones.callback(writer.close)
        open_ones.callback(kept.close)
        assert await answer(first) == b""
        await still_answers(server)


def flooded_by(port):
    """All of it at once, until it is cancelled: silent ones, forged ones, vast ones."""

    async def silent():
        held = []
        while True:
            while len(held) < 1000:
                held.append(await knock(port))
            await asyncio.sleep(0.5)
            for _, writer in held[:50]:
                writer.close()
            del held[:50]

    async def again(data):
        while True:
            _, writer = await knock(port, data)
            await asyncio.sleep(0.02)
            writer.close()

    forged = (
        b"POST /twilio/voice HTTP/1.1\r\nHost: x\r\nX-Twilio-Signature: AAAA\r\nContent-Length: 9"
        b"\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nCallSid=1"
    )
    handshake = (
        b"GET /twilio/media/fdt_AAAA HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nOrigin: https://evil.example.com\r\n\r\n"
    )
    key = local_key.read(port)
    let_in = handshake.replace(b"/fdt_AAAA", b"").replace(
        b"Origin: https://evil.example.com", b"X-Frontdesk-Local-Key: " + key.encode()
    )
    vast = let_in + b"\x82\xff" + struct.pack(">Q", 100_000_000) + bytes(100_000)
    pinging = let_in + (b"\x89\xfd" + bytes(4) + bytes(125)) * 2000
    kinds = (
        forged,
        handshake,
        vast,
        pinging,
        (HEAD + b"\r\n") * 1000,
        HEAD + b"X: " + b"y" * 40_000,
    )
    return [silent(), *(again(data) for data in kinds)]


@pytest.mark.slow
async def test_a_call_goes_on_through_all_of_it(settings, monkeypatch, capsys):
    folder = settings().records.folder
    for name, value in knocking.ENV.items():
        monkeypatch.setenv(name, value)
    env = {
        "FRONTDESK_RECORDS__FOLDER": str(folder),
        "FRONTDESK_VOICE__PRERENDER": "0",
        "FRONTDESK_PROVIDERS__TWILIO__ENABLED": "true",
    }
    turns = [turn("q001", VOICE), turn("q002", VOICE), turn("q003", VOICE)]
    with process.serving(("agent.cli", "serve", "--port", "0"), env) as server:
        port = int(server.url.rpartition(":")[2])
        headers = local_key.headers_for(server.url)
        assert headers
        quiet = await place_call(server.url, turns, headers=headers)
        before_mb = server.rss_mb()
        flood = [asyncio.create_task(one) for one in flooded_by(port)]
        try:
            await asyncio.sleep(1)  # until all of it is there
            loud = await place_call(server.url, turns, headers=headers)
            assert not [one for one in flood if one.done()], "the flood went on"
        finally:
            for one in flood:
                one.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
        memory_mb = server.rss_mb()
    for result in (quiet, loud):
        assert result.error is None
        assert result.unanswered == ()
    assert len(list(folder.glob("*.jsonl"))) == 2, "no other call was held"
    with capsys.disabled():
        rows = (("quiet", quiet), ("flooded", loud))
        shown = ", ".join(
            f"{name} p50 {r.frame_gaps_ms.p50:.0f} p95 {r.frame_gaps_ms.p95:.0f} "
            f"max {r.frame_gaps_ms.max:.0f} ms (our own frames late p95 {r.send_late_ms.p95:.0f})"
            for name, r in rows
        )
        ratio = loud.frame_gaps_ms.p95 / quiet.frame_gaps_ms.p95
        print(
            f"\ngaps between frames: {shown}; p95 x {ratio:.2f}; "
            f"{before_mb:.0f} MB before it, {memory_mb:.0f} behind it"
        )
