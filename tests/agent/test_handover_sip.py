"""Hand-overs over SIP by REFER, from a telephone of our own on the product's server."""

import asyncio
import socket

import numpy as np
import pytest

pytest.importorskip("baresip", reason="the extra sip is not installed")
from bench.sip_phone import phone
from tests.agent.handing import BUSY, DESK, PROMISE
from tests.agent.live import serving
from tests.agent.one_processor import within

pytestmark = pytest.mark.slow


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Referred:
    """What the telephone's NOTIFY says of each REFER, in order, once it may."""

    def __init__(self, telephone, *statuses):
        self._make, self._statuses = telephone._request, list(statuses)
        telephone._request = self._request

    def _request(self, method, body=b"", kind="application/sdp"):
        if method == "NOTIFY":
            body = b"SIP/2.0 %d No\r\n" % self._statuses.pop(0)
        return self._make(method, body, kind)


@pytest.fixture
async def server(settings, call_engines):
    """The server, and the URI of its agent."""
    port = free_port()
    chosen = settings(
        sip={"listen": f"udp:127.0.0.1:{port}"},
        handover={"to": DESK},
        keys={"numbers": False},
    )
    async with serving(chosen, call_engines) as server:
        server.sip = f"sip:agent@127.0.0.1:{port}"
        yield server


async def keeps_quiet(caller):
    while True:
        await caller.speak(np.zeros(160))


def presses(caller, key):
    caller.send("INFO", f"Signal={key}\r\nDuration=160\r\n".encode(), "application/dtmf-relay")


def names(server):
    return [event["event"] for event in server.records()[0]]


async def greeted(server):
    await within(20, lambda: server.records() and "reply_ended" in names(server))


async def test_a_caller_is_referred_and_the_call_is_over(server):
    async with phone(server.sip) as caller:
        await caller.dial()
        quiet = asyncio.create_task(keeps_quiet(caller))
        await greeted(server)
        presses(caller, "0")
        await within(20, lambda: caller.asked)
        assert caller.asked == [f"REFER sip:{DESK}@127.0.0.1"]
        await asyncio.wait_for(caller.telephone.ended.wait(), 5)
        quiet.cancel()
        events = await server.record()
    assert [e["say"] for e in events if e["event"] == "verdict"] == [PROMISE]
    assert events[-1]["reason"] == "transferred"


async def test_a_desk_that_is_busy_brings_the_agent_back_and_may_be_tried_again(server):
    async with phone(server.sip) as caller:
        await caller.dial()
        Referred(caller.telephone, 486, 200)
        quiet = asyncio.create_task(keeps_quiet(caller))
        await greeted(server)
        presses(caller, "0")
        await within(20, lambda: names(server).count("reply_ended") == 3)  # the problem too
        assert not caller.telephone.ended.is_set()
        presses(caller, "0")
        await asyncio.wait_for(caller.telephone.ended.wait(), 20)
        quiet.cancel()
        events = await server.record()
    assert [e["problem"] for e in events if e["event"] == "handover_failed"] == ["busy"]
    assert [e["say"] for e in events if e["event"] == "said"][1:] == [BUSY]
    assert len(caller.asked) == 2
    assert events[-1]["reason"] == "transferred"


async def test_who_hangs_up_while_it_rings_is_gone(server):
    async with phone(server.sip) as caller:
        await caller.dial()
        send = caller.telephone._send
        caller.telephone._send = lambda m: None if m.method == "NOTIFY" else send(m)
        quiet = asyncio.create_task(keeps_quiet(caller))
        await greeted(server)
        presses(caller, "0")
        await within(20, lambda: caller.asked)
        caller.telephone.hang_up()
        events = await server.record()
        quiet.cancel()
    assert events[-1]["reason"] == "caller hung up"
    assert "handed_over" not in names(server)
