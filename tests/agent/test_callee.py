"""Calls that we place, whole: the agent is silent until a person has finished, or after the beep.

The provider's REST interface is a fake; it then calls back as Twilio does, over a real socket.
"""

import asyncio

import httpx
import numpy as np
import pytest

from bench.callees import tone
from frontdesk import Spoken
from telephony import local_key
from telephony.caller import AUDIBLE, CallerTurn, place_call
from tests.agent.live import serving
from tests.telephony.fake_rest import fake_rest

OURS, THEIRS = "+15555550199", "+15555550142"
RATE = 8000
pytestmark = pytest.mark.slow


@pytest.fixture
async def rest():
    async with fake_rest() as rest:
        yield rest


@pytest.fixture
def calling(settings, monkeypatch, rest):
    """Settings of a business that calls back through Twilio."""
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "secret")
    twilio = {"enabled": True, "account": "AC1", "number": OURS, "api_url": rest.url}
    return settings(
        providers={"twilio": twilio},
        server={"public_url": "https://agent.example"},
        outbound={"enabled": True, "allow": ["+155555501*"], "hours": []},
    )


def audio(engines, *parts):
    """Words, ms of silence, and arrays, one after another, int16 at 8 kHz."""
    pieces = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(engines.voice.render(Spoken(part)))
        elif isinstance(part, np.ndarray):
            pieces.append((part * 32767).astype(np.int16))
        else:
            pieces.append(np.zeros(part * RATE // 1000, np.int16))
    return np.concatenate(pieces)


async def call_back(server, rest, turns, say="", **how):
    """Have the server call; the one who is called is heard as ``turns``."""
    async with httpx.AsyncClient(headers=server.headers) as client:
        answer = await client.post(f"{server.url}/outbound", json={"to": THEIRS, "say": say})
        assert answer.status_code == 202, answer.text
        (asked,) = rest.asked
        assert asked.body == {
            "To": THEIRS,
            "From": OURS,
            "Url": "https://agent.example/twilio/voice",
        }
        result = await place_call(
            server.url,
            turns,
            caller=OURS,
            called=THEIRS,
            headers=server.headers,
            wait_greeting=False,
            **how,
        )
        placed = await client.get(f"{server.url}/outbound/{answer.json()['id']}")
    assert result.error is None
    return result, placed.json()


def spoken_s(result):
    """When the agent's first audible sample was heard, and its last."""
    heard = np.flatnonzero(np.abs(result.recording[:, 1].astype(int)) > AUDIBLE) / RATE
    return heard[0], heard[-1]


def actions(events):
    return [event["action"] for event in events if event["event"] == "callee"]


async def test_a_message_begins_after_the_beep(calling, rest, call_engines):
    greeting = audio(
        call_engines,
        "Hi, this is Karen. I can't come to the phone right now.",
        600,
        "Please leave a message after the tone.",
        700,
        tone(1000, 400, -12),
    )
    async with serving(calling, call_engines) as server:
        result, placed = await call_back(
            server,
            rest,
            [CallerTurn(greeting, "greeting and beep")],
            say="Your forms are ready.",
            answer_timeout_s=10,
            linger_ms=8000,
        )
        events = await server.record()
    (turn,) = result.turns
    first, _ = spoken_s(result)
    assert first > turn.end_s  # after the beep's last sample
    assert first - turn.end_s < 2.5
    said = [event["say"] for event in events if event["event"] == "said"]
    assert said == [
        "Hello, this is the automated assistant of the clinic, calling you back. Your forms are "
        "ready. Please call us again when it suits you. Goodbye."
    ]
    assert actions(events) == ["leave", "hang_up"]
    assert result.ended_by == "agent"
    assert events[-1]["reason"] == "message left"
    assert "verdict" not in {event["event"] for event in events}
    assert placed["state"] == "answered"


async def test_a_person_is_heard_out_and_then_greeted(calling, rest, call_engines):
    hello = CallerTurn(audio(call_engines, "Hello?"), "hello")
    question = CallerTurn(audio(call_engines, "What time do you open on Saturday?"), "question")
    async with serving(calling, call_engines) as server:
        result, _ = await call_back(server, rest, [hello, question], linger_ms=300)
        events = await server.record()
    first, _ = spoken_s(result)
    greeted, asked = result.turns
    assert first > greeted.end_s
    assert actions(events) == ["greet"]
    verdicts = [event for event in events if event["event"] == "verdict"]
    assert [verdict["decision"] for verdict in verdicts] == ["answered"]
    assert asked.answered


async def test_who_paused_like_a_person_still_gets_the_message_after_the_beep(
    calling, rest, call_engines
):
    trap = audio(
        call_engines, "Hello?", 2500, "You know what to do.", 900, tone(850, 300, -12), 9000
    )
    async with serving(calling, call_engines) as server:
        result, _ = await call_back(
            server, rest, [CallerTurn(trap, "trap", expect_reply=False)], linger_ms=9000
        )
        events = await server.record()
    assert actions(events)[0] == "greet"
    assert actions(events)[-2:] == ["leave", "hang_up"]
    beep_s = result.turns[0].end_s
    after = result.recording[int(beep_s * RATE) :, 1]
    assert np.count_nonzero(np.abs(after.astype(int)) > AUDIBLE) > RATE  # the whole message


async def test_a_person_who_speaks_over_the_message_gets_the_conversation(
    calling, rest, call_engines
):
    """An answering machine at home: somebody picks up while the message is left."""
    machine = audio(
        call_engines, "We are not home. Leave a message.", 600, tone(1000, 300, -12), 2500
    )
    picked_up = audio(call_engines, "Hello, I am here, what time do you open on Saturday?")
    turns = [CallerTurn(np.concatenate((machine, picked_up)), "picks up")]
    async with serving(calling, call_engines) as server:
        await call_back(server, rest, turns, answer_timeout_s=10, linger_ms=300)
        events = await server.record()
    assert actions(events) == ["leave", "converse"]
    verdicts = [event for event in events if event["event"] == "verdict"]
    assert verdicts[0]["decision"] == "answered"


async def test_the_command_asks_the_running_agent(
    calling, rest, call_engines, command, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    async with serving(calling, call_engines) as server:
        monkeypatch.setenv("FRONTDESK_SERVER__PORT", str(server.port))
        refused, _, err = await asyncio.to_thread(command, "callback", THEIRS)
        assert (refused, rest.asked) == (2, [])
        assert "local key" in err
        with local_key.published(server.doorman.local_key, server.port):
            code, out, _ = await asyncio.to_thread(command, "callback", THEIRS)
            assert (code, out.splitlines()[0]) == (0, "ringing CA" + "1" * 32)
            code, _, err = await asyncio.to_thread(command, "callback", "+15555550242")
    assert code == 2
    assert "outbound.allow" in err
    assert len(rest.asked) == 1
