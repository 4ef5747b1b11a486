"""Calls over the real library and the gate, from a telephone of our own."""

import asyncio
import struct

import numpy as np
import pytest

from bench.sip_phone import Phone, phone, snr_db, speechlike
from frontdesk import TransferError
from tests.agent.one_processor import within

pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
from bench.sip_desk import desk

pytestmark = pytest.mark.slow


def is_silence(packet):
    return set(packet[12:]) <= {0xFF, 0x7F}


async def test_audio_both_ways_at_30_db():
    greeting, words = speechlike(3, 1), speechlike(3, 2)
    async with desk(saying=greeting) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(1600))
        await caller.speak(words)
        await call.ear.has(lambda: len(call.ear.audio) >= 2 * 8000 * 3.4)
        await within(5, lambda: "greeting" in call.listener.marks)
        assert snr_db(greeting, caller.heard())[1] > 30
        assert snr_db(words, call.ear.heard())[1] > 30


async def test_the_greeting_is_heard_by_a_caller_who_sends_nothing():
    greeting = speechlike(1, 1)
    async with desk(saying=greeting) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await within(5, lambda: "greeting" in call.listener.marks)
        assert snr_db(greeting, caller.heard())[1] > 30


async def test_who_calls_whom_is_known():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        start = (await agent.nth(1)).start
        assert start.caller == "+15555550100"
        assert start.called == "agent"
        assert start.account_id == "local"
        assert start.call_id.startswith("SI")


async def test_lost_packets_leave_time_true():
    words = speechlike(4, 3)
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(1600))
        await caller.speak(words, loses=lambda i: i % 10 == 7)
        await caller.speak(np.zeros(3200))
        heard = call.ear.heard()
        first, _ = snr_db(words[:8000], heard)
        last, _ = snr_db(words[-8000:], heard)
        assert abs((last - first) - (len(words) - 8000)) <= 160


async def test_a_caller_who_stops_sending_is_silent_and_time_goes_on():
    async with desk(media_timeout_s=20) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(speechlike(1))
        before = len(call.ear.audio)
        await asyncio.sleep(1)
        grown_s = (len(call.ear.audio) - before) / 16000
        assert 0.8 < grown_s < 1.2
        assert not np.any(call.ear.heard()[-2000:])


async def test_an_interruption_empties_the_queue_and_returns_the_marks():
    async with desk(saying=speechlike(10)) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await within(5, lambda: len(caller.packets) > 50)
        await call.say(speechlike(1), "never played")
        await call.interrupt()
        await within(
            2,
            lambda: len(caller.packets[-1][1]) and set(caller.packets[-1][1][12:]) <= {0xFF, 0x7F},
        )
        at = len(caller.packets)
        await call.say(speechlike(0.2, 5), "after")
        await within(3, lambda: call.listener.marks[-1:] == ["after"])
        assert not all(is_silence(packet) for _, packet in caller.packets[at:])
        assert "greeting" not in call.listener.marks


async def press(caller, code, stamp, *, packets=3, ends=3):
    for i in range(packets + ends):
        end = 0x80 if i >= packets else 0
        event = struct.pack("!BBH", code, end | 10, min(i + 1, packets + 1) * 160)
        caller.packet_of(101 | (0x80 if not i else 0), stamp, event)
        await asyncio.sleep(0.02)


async def test_keys_of_either_kind_arrive_once_each():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(3200))
        await press(caller, 1, 100000)
        await press(caller, 10, 102000)
        await call.ear.has(lambda: len(call.ear.keys) >= 2)
        caller.send("INFO", b"Signal=5\r\nDuration=160\r\n", "application/dtmf-relay")
        await call.ear.has(lambda: len(call.ear.keys) >= 3)
        await caller.speak(np.zeros(3200))
        assert call.ear.keys == ["1", "*", "5"]


async def test_keys_whose_ends_got_lost_and_long_ones_arrive_once_each():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(3200))
        await press(caller, 1, caller.stamp, ends=0)
        caller.pause(5)
        await press(caller, 2, caller.stamp, ends=0)  # another key shows that the first is over
        caller.pause(5)
        await caller.speak(np.zeros(3200))  # audio shows it
        await press(caller, 3, caller.stamp, packets=100, ends=1)
        caller.pause(120)
        await caller.speak(np.zeros(3200))
        await call.ear.has(lambda: len(call.ear.keys) >= 3)
        assert call.ear.keys == ["1", "2", "3"]


async def test_the_agent_presses_keys():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await call.line.press("4 2x")
        events = [d[12:] for _, d in caller.packets if d[1] & 127 == 101]
        pressed = [e[0] for i, e in enumerate(events) if not i or events[i - 1][0] != e[0]]
        assert pressed == [4, 2]


async def test_both_can_hang_up():
    async with desk() as agent:
        async with phone(agent.uri) as caller:
            await caller.dial()
            first = await agent.nth(1)
        await asyncio.wait_for(first.over.wait(), 5)
        assert first.listener.gone_cleanly == [True]
        async with phone(agent.uri) as caller:
            await caller.dial()
            second = await agent.nth(2)
            await second.line.hang_up()
            await second.line.hang_up()
            await asyncio.wait_for(caller.telephone.ended.wait(), 5)
            assert sum(line.startswith("BYE") for line in caller.lines) == 1


async def test_a_full_desk_is_busy():
    async with desk(full=True) as agent, phone(agent.uri) as caller:
        with pytest.raises(Exception, match="486"):
            await caller.dial()


async def test_a_bye_that_never_comes_ends_the_call():
    async with desk(media_timeout_s=2) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(4000))
        await asyncio.wait_for(call.over.wait(), 10)
        assert call.listener.gone_cleanly == [False]


async def test_an_invite_sent_three_times_is_one_call():
    async with desk() as agent, phone(agent.uri) as caller:
        caller.telephone._invite = None
        dialling = asyncio.create_task(caller.dial())
        await asyncio.sleep(0)
        for _ in range(3):
            caller.telephone._send(caller.telephone._invite)
        await dialling
        await agent.nth(1)
        await caller.speak(np.zeros(8000))
        assert len(agent.calls) == 1


async def test_a_second_call_of_the_same_id_is_refused():
    async with desk() as agent, phone(agent.uri, call_id="same@x") as caller:
        await caller.dial()
        await agent.nth(1)
        async with phone(agent.uri, call_id="same@x") as other:
            with pytest.raises(Exception, match="482"):
                await other.dial()
        assert len(agent.calls) == 1


async def test_rtp_of_a_stranger_is_not_played():
    words = speechlike(2, 4)
    async with desk() as agent, phone(agent.uri) as caller, phone(agent.uri) as stranger:
        where = await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(1600))
        stranger.rtp.to = where
        await asyncio.gather(
            caller.speak(words), stranger.speak(speechlike(2, 9)), caller.speak(np.zeros(0))
        )
        await caller.speak(np.zeros(2400))
        assert snr_db(words, call.ear.heard())[1] > 30
        assert not stranger.packets


async def test_a_caller_behind_nat_is_answered_where_its_packets_come_from():
    greeting = speechlike(2, 1)
    async with desk(saying=greeting) as agent, phone(agent.uri) as caller:
        real = caller.rtp.local[1]
        caller.telephone._rtp_port = 9  # what a telephone behind NAT believes
        await caller.dial()
        assert real != 9
        call = await agent.nth(1)
        await caller.speak(np.zeros(16000))
        await within(5, lambda: "greeting" in call.listener.marks)
        assert np.any(caller.heard())


async def test_a_call_on_hold_goes_on_and_one_held_for_ever_ends():
    async with desk(longest_hold_s=1.5, media_timeout_s=5) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(4000))
        talking = caller.telephone._sdp()
        caller.send("INVITE", talking.replace(b"sendrecv", b"sendonly"))
        await within(5, lambda: call.listener.holds == [True])
        before = len(call.ear.audio)
        await call.ear.has(lambda: len(call.ear.audio) > before + 8000)  # time goes on
        caller.send("INVITE", talking)
        await within(5, lambda: call.listener.holds == [True, False])
        words = speechlike(1.5, 3)
        await caller.speak(words)
        await caller.speak(np.zeros(2400))
        assert snr_db(words, call.ear.heard())[1] > 25
        caller.send("INVITE", talking.replace(b"sendrecv", b"inactive"))
        await asyncio.wait_for(call.over.wait(), 8)


async def test_a_transfer_by_refer():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(3200))
        await call.line.transfer("+1 555 555 0142")
        assert caller.asked == ["REFER sip:+15555550142@127.0.0.1"]
        await asyncio.wait_for(call.over.wait(), 5)


@pytest.mark.parametrize(
    ("status", "problem"), [(486, "busy"), (603, "refused"), (480, "no answer")]
)
async def test_a_transfer_that_fails_leaves_the_caller_on_the_line(status, problem, monkeypatch):
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(3200))
        telephone, request = caller.telephone, caller.telephone._request
        monkeypatch.setattr(
            telephone,
            "_request",
            lambda method, body=b"", kind="": request(
                method, body.replace(b"200 OK", b"%d No" % status), kind
            ),
        )
        with pytest.raises(TransferError) as error:
            await call.line.transfer("sip:desk@127.0.0.1")
        assert error.value.problem == problem
        words = speechlike(1.5, 3)
        await caller.speak(words)
        await caller.speak(np.zeros(2400))
        assert snr_db(words, call.ear.heard())[1] > 30


async def test_a_transfer_to_nowhere_is_refused_before_anything_is_sent():
    async with desk() as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        for to in ("", "sip:a b@c", "sip:x@y\r\nEvil: 1", "?"):
            with pytest.raises(TransferError):
                await call.line.transfer(to)
        assert caller.asked == []


async def test_a_codec_that_nobody_speaks_is_not_acceptable():
    async with desk() as agent, phone(agent.uri) as caller:
        plain = caller.telephone._sdp
        caller.telephone._sdp = lambda: (
            plain()
            .replace(b"AVP 0 101", b"AVP 18")
            .replace(b"rtpmap:0 PCMU/8000", b"rtpmap:18 G729/8000")
        )
        with pytest.raises(Exception, match="488"):
            await caller.dial()
        assert not agent.calls


async def test_twenty_calls_at_once():
    async with desk(saying=speechlike(3, 1), plan={"max_calls": 24}) as agent:
        phones = [Phone(agent.uri) for _ in range(20)]
        try:
            for one in phones:
                await one.open()
            await asyncio.gather(*(one.dial(10) for one in phones))
            await agent.nth(20)
            await asyncio.gather(*(one.speak(speechlike(3, i)) for i, one in enumerate(phones)))
            await within(10, lambda: all("greeting" in c.listener.marks for c in agent.calls))
            assert len(agent.calls) == 20
            assert min(snr_db(speechlike(3, 1), one.heard())[1] for one in phones) > 30
        finally:
            for one in phones:
                one.close()
