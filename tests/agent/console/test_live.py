"""Calls as they go on, to whoever watches."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from agent.console import live
from tests.agent.console.stored import EVIL, KNOWN, PIZZA, SATURDAY, talk


@asynccontextmanager
async def watching(served):
    headers = {"Cookie": served.cookie, "Origin": served.url}
    url = served.url.replace("http", "ws", 1) + "/api/live"
    async with connect(url, additional_headers=headers, proxy=None) as socket:

        async def until(kind):
            """The messages up to the next of that kind."""
            messages = []
            async with asyncio.timeout(10):
                while not messages or messages[-1]["type"] != kind:
                    messages.append(json.loads(await socket.recv()))
            return messages

        yield socket, until


async def test_a_call_is_told_line_by_line_and_its_state_with_it(desk, clinic):
    async with desk() as served, watching(served) as (_, until):
        assert await until("calls") == [{"type": "calls", "calls": []}]
        record = served.records.begin("CA1", **KNOWN)
        talk(record, clinic, [SATURDAY, PIZZA])
        *told, ended = await until("ended")
        assert ended == {"type": "ended", "call": record.id, "reason": "caller hung up"}
        assert {message["call"] for message in told} == {record.id}
        assert told[0]["started"]["caller"] == "…42"
        assert "browser" in [m["started"]["wire"] for m in told if "started" in m]
        lines = [message["line"] for message in told if message["line"]]
        heard = [line["text"] for line in lines if line["kind"] == "verdict"]
        assert heard[::2] == [SATURDAY, PIZZA]
        assert "9 a.m." in heard[1]
        states = [message["state"] for message in told]
        order = [state for n, state in enumerate(states) if states[n - 1 : n] != [state]]
        assert order[-5:] == ["hearing", "thinking", "speaking", "listening", "ended"]
        (answered, *_) = [line for line in lines if line["kind"] == "verdict"]
        assert answered["decision"] == "answered"
        assert answered["score"] > answered["floor"]
        assert {"hash", "prev", "audio", "draft", "hits"}.isdisjoint(answered)


async def test_who_comes_late_sees_the_call_from_its_beginning(desk, clinic):
    async with desk() as served:
        record = served.records.begin("CA1", **KNOWN)
        record.event("ready", wire="twilio", kb="x")
        record.event("said", turn=0, say=EVIL)
        record.passing("hearing", turn=1, heard="what")  # nobody looks yet
        async with watching(served) as (_, until):
            ((call,),) = [message["calls"] for message in await until("calls")]
            assert (call["id"], call["wire"]) == (record.id, "twilio")
            assert [line["text"] for line in call["log"]] == [EVIL]
            record.passing("hearing", turn=1, heard="what do")
            (heard,) = [one for one in await until("line") if one["type"] == "line"]
            assert (heard["state"], heard["line"]["text"]) == ("hearing", "what do")
            record.close("caller hung up")
            await until("ended")
        async with watching(served) as (_, until):
            assert await until("calls") == [{"type": "calls", "calls": []}]


async def test_a_slow_watcher_is_let_go_and_the_call_is_not(desk):
    async with desk() as served:
        watcher = served.live.watch()
        other = served.live.watch()
        record = served.records.begin("CA1", **KNOWN)
        for number in range(live.MAX_QUEUE + 50):
            record.event("said", turn=0, say=str(number))
            await asyncio.sleep(0)
            if not other.queue.empty():
                other.queue.get_nowait()
        while other.queue.qsize() > 1:
            other.queue.get_nowait()
        assert watcher.too_slow
        assert not other.too_slow
        assert watcher.queue.qsize() == live.MAX_QUEUE + 1
        record.close("caller hung up")
        assert served.live.many == 1


async def test_no_more_may_watch_than_can_be_told(desk):
    async with desk() as served:
        watchers = [served.live.watch() for _ in range(live.MAX_WATCHERS)]
        with pytest.raises(live.TooMany):
            served.live.watch()
        served.live.leave(watchers[0])
        assert served.live.watch()


async def test_a_watcher_goes_with_the_session_and_what_they_say_is_dropped(desk):
    async with desk() as served, watching(served) as (socket, until):
        await until("calls")
        await socket.send("x" * 1000)
        await socket.send(b"\xff")
        await served.post("/api/logout", {})
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), 10)
        assert socket.close_code == 4401


async def test_watchers_are_told_that_the_server_stops(desk):
    async with desk() as served:
        headers = {"Cookie": served.cookie, "Origin": served.url}
        url = served.url.replace("http", "ws", 1) + "/api/live"
        socket = await connect(url, additional_headers=headers, proxy=None)
        await socket.recv()
    await asyncio.wait_for(socket.wait_closed(), 10)
    assert socket.close_code == 1001
