"""Who gets in by AudioSocket, and what Asterisk's dialplan may ask; real calls on real models."""

import asyncio
import socket
import uuid
from contextlib import asynccontextmanager

import httpx
import numpy as np
import pytest

from bench.recordings import turn
from frontdesk import ConfigError
from telephony.audiosocket import Kind, packed
from telephony.caller import place_call
from telephony.far_ends.audiosocket import AudioSocketFarEnd
from telephony.next_steps import NEXT_STEPS
from tests.agent.live import serving
from tests.agent.one_processor import within

pytestmark = pytest.mark.slow

PASSWORD = "of the dialplan"
LOGIN = ("frontdesk", PASSWORD)
ID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def open_door(settings, call_engines, monkeypatch):
    """``async with open_door(expected_only=True) as (server, port)``."""
    monkeypatch.setenv("ASTERISK_PASSWORD", PASSWORD)

    @asynccontextmanager
    async def run(lines=None, server=None, **section):
        port = free_port()
        listen = {"listen": f"127.0.0.1:{port}", **section}
        chosen = settings(audiosocket=listen, server={"start_timeout_s": 0.5, **(server or {})})
        async with serving(chosen, call_engines, lines) as running:
            yield running, port

    return run


class Knock:
    """A connection that sends what it is told to."""

    def __init__(self, port):
        self._port = port

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *exc):
        self.writer.close()

    async def left(self):
        """What comes until the agent closes."""
        try:
            return await asyncio.wait_for(self.reader.read(), 10)
        except ConnectionError:
            return b""


def named(call_id=ID):
    return packed(Kind.UUID, uuid.UUID(call_id).bytes)


async def test_off_unless_told_where_to_listen(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines):
        assert not any("AudioSocket" in message for _, message in lines.all)


async def test_a_busy_port_says_so(settings, call_engines):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        from agent.audiosocket_server import audiosocket_listening

        chosen = settings(audiosocket={"listen": f"127.0.0.1:{taken.getsockname()[1]}"})
        with pytest.raises(ConfigError, match=r"audiosocket\.listen"):
            async with audiosocket_listening(chosen, None, None):
                pass


def test_serve_ends_with_one_line(command, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("FRONTDESK_AUDIOSOCKET__LISTEN", f"127.0.0.1:{port}")
        code, _, err = command("serve", "--port", "0")
    assert code == 2
    assert "audiosocket.listen" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("listen", ["9092", ":9092", "127.0.0.1:x", "127.0.0.1:99999"])
def test_an_address_that_is_none(settings, listen):
    with pytest.raises(ConfigError, match=r"audiosocket\.listen"):
        settings(audiosocket={"listen": listen})


async def test_an_address_that_is_not_allowed_reaches_nobody(open_door, lines):
    async with open_door(lines, allow=["192.0.2.0/24"]) as (server, port):
        async with Knock(port) as stranger:
            stranger.writer.write(named())
            assert await stranger.left() == b""
        assert server.records() == []
    assert any("not in audiosocket.allow" in line for line in lines.bad)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x01\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        packed(Kind.AUDIO_8, bytes(320)),
        packed(Kind.UUID, bytes(15)) + bytes(10),
        b"\xff" * 100,
    ],
)
async def test_who_does_not_name_a_call_is_dropped(open_door, lines, sent):
    async with open_door(lines) as (server, port):
        async with Knock(port) as knock:
            knock.writer.write(sent)
            assert await knock.left() == b""
        assert server.records() == []
    assert len(lines.bad) == 1
    assert "refused" in lines.bad[0]


async def test_silent_connections_do_not_pile_up(open_door, lines):
    async with open_door(lines, server={"max_calls": 2, "start_timeout_s": 5}) as (server, port):
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        async with Knock(port) as fifth:
            assert await fifth.left() == b""
        for _, writer in silent:
            writer.close()
        assert server.records() == []
    assert any("said nothing" in line for line in lines.bad)


async def test_a_uuid_that_was_not_asked_for_reaches_nobody(open_door, lines):
    async with open_door(lines, expected_only=True) as (server, port):
        async with Knock(port) as guess:
            guess.writer.write(named())
            assert await guess.left() == b""
        assert server.records() == []
    assert any("was not asked for" in line for line in lines.bad)


async def test_the_dialplan_asks_for_a_uuid_that_is_good_once(open_door, lines):
    async with open_door(lines, expected_only=True) as (server, port):
        async with httpx.AsyncClient(base_url=server.url, auth=LOGIN) as dialplan:
            given = {"caller": "+15555550142", "called": "100"}
            handed = (await dialplan.get("/audiosocket/call", params=given)).text
        result = await held_by(port, handed, turn("q001", "joe"))
        assert result.unanswered == ()
        record = await server.record()
        async with Knock(port) as again:
            again.writer.write(named(handed))
            assert await again.left() == b""
        assert len(server.records()) == 1
    assert record[0]["call_id"] == handed
    assert record[0]["caller"] == "…42"
    assert "5555550142" not in "".join(message for _, message in lines.all)


async def test_one_number_cannot_call_all_the_time(open_door, lines):
    limits = {"calls_per_number": 1}
    async with open_door(lines, expected_only=True, server=limits) as (server, port):
        for calls in (1, 1):
            async with httpx.AsyncClient(base_url=server.url, auth=LOGIN) as dialplan:
                given = {"caller": "+15555550143", "called": "100"}
                handed = (await dialplan.get("/audiosocket/call", params=given)).text
            async with Knock(port) as one:
                one.writer.write(named(handed))
                if len(server.records()) == 1:
                    assert await one.left() == b""
                else:
                    await within(10, lambda: server.switchboard.calls)
            await server.idle()
            assert len(server.records()) == calls
    assert any("too many calls from one number" in message for message in lines.bad)


async def held_by(port, handed, *turns):
    """A call of the test caller under the UUID ``handed``."""
    from telephony import far_ends

    class Known(AudioSocketFarEnd):
        def begin(self, parameters):
            return [named(handed)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(far_ends.FAR_ENDS, "audiosocket", Known)
        return await place_call(f"tcp://127.0.0.1:{port}", list(turns), wire="audiosocket")


async def test_a_second_connection_of_a_call_is_refused(open_door, lines):
    async with open_door(lines) as (server, port):
        async with Knock(port) as first, Knock(port) as second:
            first.writer.write(named())
            await asyncio.wait_for(first.reader.read(320), 10)  # it is greeted
            second.writer.write(named())
            assert await second.left() == packed(Kind.HANG_UP)
            first.writer.write(packed(Kind.HANG_UP))
            await server.idle()
        assert len(server.records()) == 1


@pytest.mark.parametrize(
    "broken", [b"\x10\xff\xff", packed(Kind.ERROR, b"\x01"), packed(Kind.AUDIO_16, bytes(640))]
)
async def test_a_broken_stream_ends_only_its_call(open_door, lines, broken):
    async with open_door(lines) as (server, port):
        calm = asyncio.create_task(
            place_call(f"tcp://127.0.0.1:{port}", [turn("q001", "joe")], wire="audiosocket")
        )
        async with Knock(port) as bad:
            bad.writer.write(named() + packed(Kind.AUDIO_8, bytes(320)))
            await asyncio.wait_for(bad.reader.read(320), 10)
            bad.writer.write(broken + np.random.default_rng(1).bytes(3000))
            await bad.left()
        assert (await calm).unanswered == ()
        await server.idle()
        reasons = sorted(record[-1]["reason"] for record in server.records())
    assert reasons == ["caller hung up", "wire error"]


# What the dialplan asks


def client(server):
    return httpx.AsyncClient(base_url=server.url)


async def test_the_next_step_is_told_to_asterisk_alone(open_door, lines):
    NEXT_STEPS.dial("1796075163-2", "+15555550142")
    async with open_door(lines) as (server, _), client(server) as stranger:
        for path in ("/asterisk/next/1796075163.2", "/audiosocket/call"):
            assert (await stranger.get(path)).status_code == 403
            assert (await stranger.get(path, auth=("frontdesk", "guess"))).status_code == 403
            assert (await stranger.post(path, auth=LOGIN)).status_code == 405
        answer = await stranger.get("/asterisk/next/1796075163.2", auth=LOGIN)
        assert answer.text == "dial,+15555550142"
        again = await stranger.get("/asterisk/next/1796075163.2", auth=LOGIN)
        assert again.text == "hangup"
    assert "guess" not in "".join(message for _, message in lines.all)


async def test_without_a_password_of_ours_nobody_is_told(settings, call_engines, monkeypatch):
    monkeypatch.delenv("ASTERISK_PASSWORD", raising=False)
    async with (
        serving(settings(), call_engines) as server,
        httpx.AsyncClient(base_url=server.url) as asked,
    ):
        assert (await asked.get("/asterisk/next/1", auth=("frontdesk", ""))).status_code == 403


async def test_who_guesses_passwords_is_not_listened_to(open_door):
    async with (
        open_door(server={"refusals_per_address": 3}) as (server, _),
        client(server) as guesser,
    ):
        codes = [
            (await guesser.get("/asterisk/next/1", auth=("frontdesk", str(n)))).status_code
            for n in range(5)
        ]
        assert codes == [403, 403, 403, 429, 429]
        assert (await guesser.get("/asterisk/next/1", auth=LOGIN)).status_code == 429
