"""Questions, keys, barge-in, hand-overs and hang-ups, from a telephone through Asterisk."""

import asyncio
import socket
import time

import numpy as np
import pytest

from bench.recordings import turn
from frontdesk import Spoken
from speech.piper import Voice
from telephony.caller import CallerTurn
from telephony.provider import Account
from telephony.providers.asterisk import Asterisk
from tests.agent.test_core_questions import CORE, is_right
from tests.agent.test_wires import as_decided, last_verdicts
from tests.asterisk.desk import asks, call, desk, events, presses, question, quiet
from tests.asterisk.pbx import ARI_PASSWORD, PASSWORD
from tests.asterisk.sip_busy import busy_phone

pytestmark = [pytest.mark.slow, pytest.mark.asterisk, pytest.mark.timeout(120)]

FRAME = 160


@pytest.fixture(scope="session")
def voice():
    return Voice()


def says(voice, words):
    return CallerTurn(voice.render(Spoken(words)), words)


def tone_at(audio, hz=440):
    """The share of a second's power that is at ``hz``."""
    window = audio.astype(float) * np.hanning(audio.size)
    power = np.abs(np.fft.rfft(window)) ** 2
    at = round(hz * audio.size / 8000)
    return power[at - 3 : at + 4].sum() / max(power.sum(), 1)


def answered_once(agent):
    """Until the only call's answer was spoken."""
    spoken(agent, lambda turn: turn > 0)


def greeted(agent):
    """Until the only call's greeting was spoken."""
    spoken(agent, lambda turn: turn == 0)


def spoken(agent, is_it, timeout_s=30):
    """By the call's record, which is asked again and again."""
    until = time.monotonic() + timeout_s
    while True:
        records = agent.records()
        ended = events(records[0], "reply_ended") if records else []
        if any(is_it(one["turn"]) for one in ended):
            return
        assert time.monotonic() < until, records
        time.sleep(0.1)


TONE = (8000 * np.sin(np.arange(8000 * 60) * 2 * np.pi * 440 / 8000)).astype(np.int16)


async def test_a_question_is_answered_and_the_caller_hangs_up(
    pbx, settings, call_engines, monkeypatch
):
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        result = await call(pbx, asks("q001"), asks("q002"))
        record = await agent.record()
    assert result.error is None
    assert result.unanswered == ()
    said = events(record, "verdict")
    assert [one["decision"] for one in said] == ["answered", "answered"]
    assert record[0]["caller"] == "…00"
    assert record[-1]["reason"] == "caller hung up"
    await quiet(pbx)


async def test_a_barge_in_stops_what_the_caller_hears(pbx, settings, call_engines, monkeypatch):
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        result = await call(pbx, asks("q001"), asks("q002", interrupt_after_ms=800))
        record = await agent.record()
    assert events(record, "interrupted")
    whole_ms = events(record, "reply_ended")[-1]["played_ms"]
    assert result.turns[1].barge_in_ms is not None
    assert result.turns[1].barge_in_ms < whole_ms / 2
    assert result.turns[1].answered


async def test_the_agent_hangs_up_after_its_goodbye(
    pbx, settings, call_engines, monkeypatch, voice
):
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        result = await call(pbx, says(voice, "Thank you, goodbye."), linger_ms=15_000)
        record = await agent.record()
    assert result.ended_by == "agent"
    assert record[-1]["reason"] == "agent hung up"
    await quiet(pbx)


async def test_a_key_is_pressed_once_and_a_person_takes_the_call_by_ari(
    pbx, settings, call_engines, monkeypatch, phone
):
    person = phone(202, plays=TONE).registered()
    async with desk(pbx, settings, call_engines, monkeypatch, ari=True, to="202") as agent:
        turns = (presses("0"), asks("q001", interrupt_after_ms=5000))
        result = await call(pbx, *turns, max_s=20)
        record = await agent.record()
    (handing,) = events(record, "handing_over")
    assert handing["rule"] == "key"
    assert len(events(record, "handed_over")) == 1
    assert record[-1]["reason"] == "transferred"
    assert tone_at(result.recording[-8000:, 1]) > 0.9  # the caller hears the person
    person.stop()
    assert np.abs(person.heard.astype(int)).max() > 2000  # and the person the caller
    await quiet(pbx)


async def test_a_person_takes_the_call_by_the_dialplan(
    pbx, settings, call_engines, monkeypatch, phone, voice
):
    person = phone(202, plays=TONE).registered()
    async with desk(pbx, settings, call_engines, monkeypatch, to="202") as agent:
        wish = says(voice, "Let me talk to a person please.")
        result = await call(pbx, wish, asks("q001", interrupt_after_ms=5000), max_s=20)
        record = await agent.record()
    assert record[-1]["reason"] == "transferred"
    assert tone_at(result.recording[-8000:, 1]) > 0.9
    person.stop()
    assert np.abs(person.heard.astype(int)).max() > 2000
    await quiet(pbx)


@pytest.mark.parametrize("ari", [True, False], ids=["ari", "dialplan"])
@pytest.mark.parametrize("problem", ["busy", "unreachable"])
async def test_a_transfer_that_fails_brings_the_agent_back(
    pbx, settings, call_engines, monkeypatch, voice, tmp_path, ari, problem
):
    with busy_phone(tmp_path) as busy:
        to = busy if problem == "busy" else "201"
        async with desk(pbx, settings, call_engines, monkeypatch, ari=ari, to=to) as agent:
            turns = (says(voice, "Let me talk to a person please."), asks("q001"))
            result = await call(pbx, *turns, settle_ms=2500)
            await agent.idle()
            records = agent.records()
    last = records[-1]
    back = events(last, "handover_failed" if ari else "returned")
    assert [one["problem"] for one in back] == [problem]
    assert len(records) == (1 if ari else 2)
    assert len({record[0]["call_id"] for record in records}) == 1
    assert events(last, "verdict")[-1]["decision"] == "answered"
    assert result.unanswered == ()
    await quiet(pbx)


async def test_twelve_of_twelve(pbx, settings, call_engines, monkeypatch, clinic_questions):
    rows = {row["id"]: row for row in clinic_questions}
    turns = [*(turn(name, "gongitsune") for name in CORE), turn("q215", "gongitsune")]
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        result = await call(pbx, *turns, linger_ms=5000)
        record = await agent.record()
    assert result.unanswered == ()
    assert result.ended_by == "agent"
    said = last_verdicts(result.turns, record)
    wrong = [
        (name, verdict["heard"], verdict["say"])
        for name, verdict in zip(CORE, said, strict=False)
        if not is_right(rows[name], as_decided(verdict))
    ]
    assert wrong == []
    await quiet(pbx)


@pytest.mark.parametrize("tls", [False, True], ids=["udp", "tls-srtp"])
async def test_a_registered_phone_asks_and_hears(
    pbx, settings, call_engines, monkeypatch, phone, tls
):
    before = np.zeros(8000 * 4, np.int16)  # the greeting's time
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        plays = np.concatenate([before, question("q001"), np.zeros(8000 * 60, np.int16)])
        caller = phone(201, plays=plays, dials="100", tls=tls)
        await asyncio.to_thread(answered_once, agent)
        caller.stop()
        record = await agent.record()
    assert events(record, "verdict")[0]["decision"] == "answered"
    assert record[0]["caller"] == "…01"
    assert np.abs(caller.heard.astype(int)).max() > 2000
    await quiet(pbx)


async def test_the_same_over_audiosocket(pbx, settings, call_engines, monkeypatch, phone):
    before = np.zeros(8000 * 4, np.int16)
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        plays = np.concatenate([before, question("q001"), np.zeros(8000 * 60, np.int16)])
        caller = phone(201, plays=plays, dials="101")
        await asyncio.to_thread(answered_once, agent)
        caller.stop()
        record = await agent.record()
    assert events(record, "ready")[0]["wire"] == "Asterisk (AudioSocket)"
    assert events(record, "verdict")[0]["decision"] == "answered"
    assert record[0]["caller"] == "…01"  # by the UUID that the dialplan asked for
    assert record[-1]["reason"] == "caller hung up"
    assert np.abs(caller.heard.astype(int)).max() > 2000
    await quiet(pbx)


async def test_a_person_takes_a_call_over_audiosocket(
    pbx, settings, call_engines, monkeypatch, phone, voice
):
    person = phone(202, plays=TONE).registered()
    wish = voice.render(Spoken("Let me talk to a person please."))
    plays = np.concatenate([np.zeros(8000 * 4, np.int16), wish, np.zeros(8000 * 60, np.int16)])
    async with desk(pbx, settings, call_engines, monkeypatch, to="202") as agent:
        caller = phone(201, plays=plays, dials="101")
        await asyncio.to_thread(person.wait_for, "Call established", 30, agent.records)
        await asyncio.to_thread(person.wait_for, "incoming rtp", 10)
        record = await agent.record()
        await asyncio.sleep(2)  # of the person's tone
        caller.stop()
    assert record[-1]["reason"] == "transferred"
    assert tone_at(caller.heard[-8000:]) > 0.9
    await quiet(pbx)


async def test_the_agent_calls_a_phone_by_ari(pbx, settings, call_engines, monkeypatch, phone):
    person = phone(202, plays=np.zeros(8000 * 60, np.int16)).registered()
    account = Account(secret=PASSWORD, api_key=ARI_PASSWORD, api_url=pbx.ari_url, number="100")
    async with desk(pbx, settings, call_engines, monkeypatch, ari=True) as agent:
        call_id = await Asterisk(account).dial("202", answered="")
        await asyncio.to_thread(person.wait_for, "Call established")
        await asyncio.to_thread(greeted, agent)
        person.stop()
        record = await agent.record()
    assert record[0]["call_id"] == call_id
    assert record[0]["called"] == "…02"
    assert np.abs(person.heard.astype(int)).max() > 2000
    await quiet(pbx)


async def test_a_wrong_password_reaches_no_agent(pbx, settings, call_engines, monkeypatch):
    how = {"password": "another password"}
    async with desk(pbx, settings, call_engines, monkeypatch, **how) as agent:
        result = await call(pbx, asks("q001"))
        assert agent.records() == []
    assert result.error is not None
    await quiet(pbx)


async def test_a_phone_with_a_wrong_password_reaches_nobody(
    pbx, settings, call_engines, monkeypatch, phone
):
    async with desk(pbx, settings, call_engines, monkeypatch) as agent:
        stranger = phone(201, password="guessed", dials="100")
        await asyncio.to_thread(stranger.wait_for, "session closed", 20)
        assert agent.records() == []


@pytest.mark.parametrize("name", ["trunk", "outside"])
async def test_a_name_in_from_opens_no_door(pbx, name):
    """The trunk is told by its addresses; this one is not among them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.2", 0))
        stranger.settimeout(5)
        here = f"127.0.0.2:{stranger.getsockname()[1]}"
        lines = (
            f"INVITE sip:100@{pbx.sip} SIP/2.0",
            f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{name};rport",
            "Max-Forwards: 70",
            f"From: <sip:{name}@{here}>;tag=1",
            f"To: <sip:100@{pbx.sip}>",
            f"Call-ID: {name}@stranger",
            "CSeq: 1 INVITE",
            f"Contact: <sip:{name}@{here}>",
            "Content-Length: 0",
        )
        sent = "".join(f"{line}\r\n" for line in (*lines, ""))
        stranger.sendto(sent.encode(), ("127.0.0.1", pbx.sip_port))
        answer = await asyncio.to_thread(stranger.recv, 4096)
    assert answer.startswith(b"SIP/2.0 401")


async def test_nothing_secret_is_in_asterisks_log(pbx):
    text = "\n".join(pbx.lines)
    assert "password" not in text
    assert "secret of" not in text
    assert "5555550100" not in text
