"""Hand-overs over real sockets: Twilio's own protocol, its REST interface and its webhooks, to a
fake of it; and real speech on a wire whose transfer is a message.
"""

import asyncio
import re

import httpx
import numpy as np
import pytest

from bench.recordings import turn
from frontdesk import Spoken, TransferError
from rag.types import REFUSAL
from telephony.caller import AUDIBLE
from telephony.socket_line import SocketLine
from tests.agent.fake_twilio import fake_twilio
from tests.agent.handing import BUSY, DESK, PROMISE
from tests.agent.live import Phone, serving
from tests.agent.one_processor import within

pytestmark = pytest.mark.slow


class TwilioPhone(Phone):
    """A caller on a Twilio call whose media socket is at ``url``."""

    async def press(self, key):
        await self.send({"event": "dtmf", "dtmf": {"digit": key}})

    async def returned(self, server, fake, **form):
        """Twilio asks what to do after the dial; where it is told to connect to."""
        await self.socket.close()
        async with httpx.AsyncClient(headers=server.headers, trust_env=False) as client:
            answer = await client.post(fake.dial.get("action"), data=form)
        return re.search(r'url="([^"]+)"', answer.text), answer


@pytest.fixture
async def cloud(settings, call_engines, monkeypatch):
    """A server whose Twilio is a fake, and the fake."""
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "a secret")
    async with fake_twilio() as fake:
        twilio = {"enabled": True, "account": "AC1", "api_url": fake.url}
        chosen = settings(
            providers={"twilio": twilio},
            handover={"to": DESK},
            keys={"numbers": False},
        )
        async with serving(chosen, call_engines) as server:
            yield server, fake


def happened(server, call=0):
    return [e["event"] for e in server.records()[call]]


async def test_twilio_takes_the_caller_and_the_call_is_not_hung_up(cloud):
    server, fake = cloud
    async with TwilioPhone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.press("0")
        await asyncio.wait_for(fake.taken.wait(), 20)
        await phone.socket.close()  # Twilio takes the call off the socket
        events = await server.record()
    assert events[-1] == {**events[-1], "event": "call_ended", "reason": "transferred"}
    assert "handed_over" in [e["event"] for e in events]
    assert [number for number in fake.dial.itertext() if number.strip()] == [DESK]
    assert len(fake.updates) == 1, "a caller who was handed over is not hung up"


async def test_twilio_brings_the_caller_back_and_the_call_goes_on(cloud):
    server, fake = cloud
    async with TwilioPhone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.press("0")
        await asyncio.wait_for(fake.taken.wait(), 20)
        found, answer = await phone.returned(
            server, fake, CallSid=f"CA{phone.number}", AccountSid="AC1", DialCallStatus="busy"
        )
        assert found, answer.text
        await server.idle()
    async with TwilioPhone(server, url=found[1]) as back:
        back.number = phone.number
        await back.start()
        await back.greeted()
        await back.press("0")
        await within(20, lambda: len(fake.updates) == 2)
    await server.idle()
    first, second = server.records()
    assert first[-1]["reason"] == "transferred"
    (back,) = (e for e in second if e["event"] == "returned")
    assert (back["problem"], back["goes_on"]) == ("busy", True)
    assert [e["say"] for e in second if e["event"] == "said"] == [BUSY]
    assert fake.updates[0][0] == fake.updates[1][0] == f"CA{phone.number}"


async def test_twilio_refuses_and_the_agent_is_back(cloud):
    server, fake = cloud
    fake.status = 500
    async with TwilioPhone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.press("0")
        await within(20, lambda: "handover_failed" in happened(server))
        await within(20, lambda: happened(server).count("said") == 2)
        await phone.socket.close()
        events = await server.record()
    assert [e["problem"] for e in events if e["event"] == "handover_failed"] == ["refused"]
    assert events[-1]["reason"] == "caller hung up"


@pytest.mark.parametrize(
    ("question", "voice", "promise"), [("q219", "joe", PROMISE), ("q012", "joe", REFUSAL)]
)
async def test_a_caller_hears_the_promise_to_its_last_word_before_they_are_handed_over(
    settings, call_engines, question, voice, promise
):
    """Real speech in real time, on a wire whose transfer is a message behind the audio."""
    async with serving(settings(handover={"to": DESK}), call_engines) as server:
        result = await server.call([turn(question, voice)], wire="genesys", linger_ms=5000)
        events = await server.record()
    assert result.error is None
    assert result.handed_to == DESK
    assert [e["say"] for e in events if e["event"] == "verdict"] == [promise]
    assert events[-1]["reason"] == "transferred"
    rendered = call_engines.voice.render(Spoken(promise))
    audible = np.flatnonzero(abs(rendered) > AUDIBLE)
    spoken_ms = (audible[-1] - audible[0]) * 1000 / call_engines.voice.sample_rate_hz
    assert result.turns[0].reply_ms >= spoken_ms - 100


async def test_a_call_on_hold_needs_no_media_and_no_prompt(settings, call_engines, monkeypatch):
    """The far end may send nothing while it rings: that is no dead line."""
    rings = asyncio.Event()

    async def transfer(self, to, *, summary=""):
        rings.set()
        await asyncio.sleep(2)
        raise TransferError("no answer")

    monkeypatch.setattr(SocketLine, "transfer", transfer)
    chosen = settings(
        handover={"to": DESK},
        keys={"numbers": False},
        server={"media_timeout_s": 1},
        turns={"prompt_after_s": 0.5},
    )
    async with serving(chosen, call_engines) as server, TwilioPhone(server) as phone:
        await phone.start()
        sending = asyncio.create_task(keeps_the_line_open(phone, rings))
        await phone.greeted()
        await phone.press("0")
        await within(20, lambda: "handover_failed" in happened(server))
        events = await server.record()
        await sending
    names = [e["event"] for e in events]
    begins, ends = names.index("handing_over"), names.index("handover_failed")
    assert "said" not in names[begins:ends], "nobody asks whether they are still there"
    assert ends < names.index("call_ended")
    assert events[-1]["reason"] == "no media", "but afterwards it is"


@pytest.mark.parametrize("is_taken", [True, False])
async def test_a_socket_closed_while_it_rings_is_a_transfer_or_a_hang_up(
    settings, call_engines, monkeypatch, is_taken
):
    """Twilio may close the socket before the answer to our request is read."""
    rings, closed, ended = asyncio.Event(), asyncio.Event(), []

    async def transfer(self, to, *, summary=""):
        rings.set()
        try:
            await closed.wait()
            if not is_taken:
                await asyncio.Event().wait()
        finally:
            ended.append(self.start.call_id)

    async def hang_up(self):
        ended.append("hung up")

    monkeypatch.setattr(SocketLine, "transfer", transfer)
    monkeypatch.setattr(SocketLine, "hang_up", hang_up)
    chosen = settings(handover={"to": DESK}, keys={"numbers": False})
    async with serving(chosen, call_engines) as server, TwilioPhone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.press("0")
        await asyncio.wait_for(rings.wait(), 20)
        await phone.socket.close()
        closed.set()
        events = await server.record()
    reason = "transferred" if is_taken else "caller hung up"
    assert events[-1]["reason"] == reason
    assert ended == [f"CA{phone.number}"] + ([] if is_taken else ["hung up"])


async def keeps_the_line_open(phone, until):
    while not until.is_set():
        await phone.speak(b"\xff" * 160)
        await asyncio.sleep(0.02)
