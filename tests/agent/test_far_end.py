"""What the far end tells over a real wire: its marks, and that it has gone."""

from types import SimpleNamespace

import pytest
from pipecat.frames.frames import BotStoppedSpeakingFrame

import agent.playing
from agent.session import FIXED_SENTENCES
from frontdesk import Spoken
from tests.agent.live import Phone, serving
from tests.agent.one_processor import within

pytestmark = pytest.mark.slow
GREETING = "Hello. How can I help you?"


def kinds(server):
    (events,) = server.records()
    return [event["event"] for event in events]


async def returns(phone, message):
    await phone.send({"event": "mark", "mark": message["mark"]})


def marks(phone):
    return [message for message in phone.messages if message["event"] == "mark"]


async def test_a_reply_lasts_until_its_mark_is_back(settings, call_engines, monkeypatch):
    monkeypatch.setattr(agent.playing, "_MARK_TIMEOUT_S", 3600)
    chosen = settings(voice={"greeting": GREETING})
    async with serving(chosen, call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.until(lambda: marks(phone))
        (call,) = server.switchboard.calls
        playing = call._playing
        await within(10, lambda: isinstance(playing._held, BotStoppedSpeakingFrame))
        assert "reply_ended" not in kinds(server)
        now_ms = playing._trace.now_ms  # it comes back half a second later than it does
        playing._trace = SimpleNamespace(now_ms=lambda: now_ms() + 500)
        for mark in marks(phone):
            await returns(phone, mark)
        await within(10, lambda: "reply_ended" in kinds(server))
        assert not playing._playback.awaited
        assert playing._playback._late_ms > 0, "the next reply is heard that much later"


async def test_a_lost_mark_does_not_hang_the_call(settings, call_engines, monkeypatch):
    monkeypatch.setattr(agent.playing, "_MARK_TIMEOUT_S", 0.01)
    chosen = settings(voice={"greeting": GREETING}, turns={"prompt_after_s": 0.2})
    async with serving(chosen, call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.until(lambda: marks(phone))
        await within(10, lambda: "reply_ended" in kinds(server))
        await within(10, lambda: kinds(server).count("said") >= 2)  # “Are you still there?”


async def test_a_goodbye_that_nobody_can_hear_is_not_waited_for(settings, call_engines):
    for words in FIXED_SENTENCES:
        call_engines.voice.render(words)
    chosen = settings(voice={"greeting": "Hello."}, turns={"prompt_after_s": 0.05})
    async with serving(chosen, call_engines) as server:
        async with Phone(server) as phone:
            await phone.start()
            await within(30, lambda: server.records() and "hang_up" in kinds(server))
            await within(10, lambda: kinds(server)[-1] == "reply_started")
        events = await server.record()
    assert [event["event"] for event in events][-2:] == ["reply_started", "call_ended"]
    assert events[-1]["reason"] == "caller silent"


async def test_a_reply_of_several_sentences_is_finished_though_the_caller_is_silent(
    settings, call_engines
):
    greeting = "Hello. This is the clinic. We are open today. How can I help you?"
    chosen = settings(voice={"greeting": greeting})
    async with serving(chosen, call_engines) as server:
        result = await server.call([], linger_ms=300)
        events = await server.record()
    (ended,) = (event for event in events if event["event"] == "reply_ended")
    rendered_ms = len(call_engines.voice.render(Spoken(greeting))) / 8
    assert ended["played_ms"] == pytest.approx(rendered_ms, abs=400)
    assert "interrupted" not in [event["event"] for event in events]
    assert result.cleared_ms == 0
