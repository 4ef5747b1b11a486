"""Strangers, floods and broken packets, while a call is in progress."""

import asyncio
import contextlib
import random
import socket

import numpy as np
import pytest

from bench.sip_phone import phone, snr_db, speechlike
from frontdesk import WireError
from telephony.sip.guard import TrunkAddresses

pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
from bench.sip_desk import desk

pytestmark = pytest.mark.slow

WORDS = speechlike(3, 7)


def invite(call_id, port=5070, *, more="", body=None):
    sdp = (
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
        "m=audio 6000 RTP/AVP 0\r\n"
    )
    body = sdp if body is None else body
    return (
        "INVITE sip:agent@127.0.0.1 SIP/2.0\r\n"
        f"Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{call_id};rport\r\n"
        "Max-Forwards: 70\r\nFrom: <sip:x@127.0.0.1>;tag=1\r\nTo: <sip:agent@127.0.0.1>\r\n"
        f"Call-ID: {call_id}\r\nCSeq: 1 INVITE\r\nContact: <sip:x@127.0.0.1:{port}>\r\n{more}"
        f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


async def in_progress(agent, caller, doing):
    """A call that ``doing`` must not hurt: it is heard and hears."""
    where = await caller.dial()
    call = await agent.nth(1)
    await caller.speak(np.zeros(1600))
    others = asyncio.create_task(doing(where))
    await caller.speak(WORDS)
    await others
    await caller.speak(np.zeros(2400))
    assert snr_db(WORDS, call.ear.heard())[1] > 30
    assert not call.over.is_set()


async def test_a_hundred_invites_a_second():
    plan = {"invites_per_s": 2, "invites_per_s_in_all": 10}
    answers = []

    async def flood(_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            sock.bind(("127.0.0.1", 0))
            for i in range(350):
                if i < 300:
                    sock.sendto(invite(f"flood{i}"), ("127.0.0.1", agent.port))
                await asyncio.sleep(0.01)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        answers.append(sock.recv(4096)[8:11])

    async with desk(plan=plan) as agent, phone(agent.uri) as caller:
        await in_progress(agent, caller, flood)
        assert answers.count(b"503") > 250
        assert len(agent.calls) + agent.refused <= 20


async def test_a_stranger_gets_no_answer_at_all():
    plan = {"trunks": (TrunkAddresses("voip", ("127.0.0.2",)),)}
    async with desk(plan=plan) as agent, phone(agent.uri) as caller:
        with pytest.raises(WireError, match="no answer"):
            await caller.dial(1)
        assert caller.lines == []
        assert not agent.calls


async def test_packets_that_are_no_sip_hurt_nobody():
    rng = random.Random(5)
    good = invite("broken")
    broken = [
        b"",
        b"\0" * 60000,
        b"\r\n\r\n",
        rng.randbytes(1400),
        b"INVITE sip:a@b SIP/2.0\r\n\r\n",
        b"INVITE " + b"sip:" + b"a" * 9000 + b" SIP/2.0\r\nVia: x\r\n\r\n",
        good.replace(b"Content-Length: ", b"Content-Length: 9"),
        good.replace(b"Content-Length: ", b"Content-Length: -"),
        good.replace(b"Contact", b"Contract"),  # these three end the library's process
        good.replace(b"broken", b"comma").replace(b"<sip:x@127.0.0.1:5070>", b"<sip:,x@h>"),
        good.replace(b"broken", b"untagged").replace(b";tag=1", b""),
        good.replace(b"CSeq: 1 INVITE", b"CSeq: 1 BYE"),
        good.replace(b"CSeq: 1 ", b"CSeq: 99999999999999999999 "),
        good.replace(b"From:", b"From: <sip:y@z>;tag=2\r\nFrom:"),
        good.replace(b"branch=z9hG4bK", b"branch=" + b"%n%s" * 50),
        good.replace(b"SIP/2.0/UDP 127.0.0.1:5070", b"SIP/2.0/UDP [::::]:999999"),
        good.replace(b"Max-Forwards: 70", b"Max-Forwards: 0"),
        good.replace(b"Call-ID: broken", b"Call-ID: " + b"\xff\xfe" * 40),
        good + b"\r\n" + good,
        invite("odd1", body="v=0\r\nm=audio 70000 RTP/AVP 0\r\n"),
        invite("odd2", body="v=0\r\nc=IN IP4 evil.example.com\r\nm=audio 6000 RTP/AVP 0\r\n"),
        invite("odd3", body="m=audio " * 2000),
        invite("odd4", more="X: " + "a" * 4000 + "\r\n"),
        invite("odd5", more="Record-Route: <sip:127.0.0.1:1;lr>\r\n" * 90),
        invite("odd6", more="X-Frontdesk-Caller: +15555550123\r\nX-Frontdesk-Trunk: evil\r\n"),
        b"SIP/2.0 200 OK\r\n" + good.split(b"\r\n", 1)[1],
        b"BYE sip:agent@127.0.0.1 SIP/2.0\r\n"
        + good.split(b"\r\n", 1)[1].replace(b"INVITE", b"BYE"),
    ]

    async def attack(where):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for data in broken:
                sock.sendto(data, ("127.0.0.1", agent.port))
                await asyncio.sleep(0.02)
            for _ in range(300):
                data = bytearray(good.replace(b"broken", b"%x" % rng.getrandbits(40)))
                for _ in range(rng.randint(1, 12)):
                    data[rng.randrange(len(data))] = rng.randrange(256)
                sock.sendto(bytes(data), ("127.0.0.1", agent.port))
                sock.sendto(rng.randbytes(rng.randint(0, 200)), where)
                await asyncio.sleep(0.005)

    async with desk(plan={"max_calls": 200}) as agent, phone(agent.uri) as caller:
        await in_progress(agent, caller, attack)
        async with phone(agent.uri) as after:
            await after.dial()


async def test_broken_audio_from_the_caller_itself_hurts_nobody():
    rng = random.Random(6)
    async with desk() as agent, phone(agent.uri) as bad, phone(agent.uri) as good:
        await bad.dial()
        first = await agent.nth(1)

        async def attack():
            for _ in range(200):
                bad.rtp.send(rng.randbytes(rng.randint(0, 1500)))
                bad.rtp.send(b"\x80\x65" + rng.randbytes(30))
                await asyncio.sleep(0.01)

        await good.dial()
        call = await agent.nth(2)
        await good.speak(np.zeros(1600))
        await asyncio.gather(attack(), good.speak(WORDS))
        await good.speak(np.zeros(2400))
        assert snr_db(WORDS, call.ear.heard())[1] > 30
        assert not first.over.is_set()
        assert len(first.ear.audio) > 0


async def test_nobody_ends_or_moves_the_call_of_another_trunk():
    plan = {
        "trunks": (
            TrunkAddresses("one", ("127.0.0.1",)),
            TrunkAddresses("two", ("127.0.0.2",)),
        )
    }
    async with desk(plan=plan) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        bye = caller.telephone._request("BYE").encode()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("127.0.0.2", 0))
            sock.settimeout(3)
            sock.sendto(bye, ("127.0.0.1", agent.port))
            answer = await asyncio.to_thread(sock.recv, 4096)
        assert answer.startswith(b"SIP/2.0 481")
        assert not call.over.is_set()
