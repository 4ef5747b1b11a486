"""Whole calls over real sockets with real models, and everything a far end can do wrong."""

import asyncio
import gc
import json
import os
import shutil
import signal

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from agent.engines import Engines
from agent.records import read_record
from agent.session import FIXED_SENTENCES
from bench import process
from bench.recordings import turn
from frontdesk import Spoken
from rag import rewrite
from speech.audio import resample, to_float32
from telephony import local_key
from telephony.caller import place_call
from telephony.g711 import ulaw_encode
from tests.agent.live import Phone, serving
from tests.agent.one_processor import within

VOICE = "gongitsune"
GREETING = "Thanks for calling the clinic. How can I help you?"
GOODBYE = "Thank you for calling. Goodbye."


def heard_in(result, answered, engines: Engines) -> str:
    """What our recogniser makes of one reply on the returned media, as cleaned words."""
    start = int(answered.reply_start_s * 8000)
    reply = result.recording[start : start + int(answered.reply_ms * 8) + 800, 1]
    audio = resample(to_float32(reply), 8000, 16000)
    return rewrite(engines._speech.recogniser.transcribe(audio).text)


def kinds(events):
    return [event["event"] for event in events]


def said(events):
    return [event["say"] for event in events if event["event"] in ("said", "verdict")]


@pytest.mark.slow
async def test_a_call_from_greeting_to_goodbye(settings, call_engines, lines):
    turns = [turn(question, VOICE) for question in ("q001", "q002", "q215")]
    async with serving(settings(), call_engines, lines) as server:
        result = await server.call(turns, linger_ms=3000)
        events = await server.record()

    assert result.error is None
    assert result.unanswered == ()
    saturday, sunday, goodbye = (event for event in events if event["event"] == "verdict")
    assert (saturday["decision"], saturday["citations"]) == ("answered", ["kb-hours#2"])
    assert saturday["say"] == "On Saturday the clinic is open from 9 a.m. to 1 p.m."
    assert (sunday["decision"], sunday["citations"]) == ("answered", ["kb-hours#3"])
    assert sunday["query"]["text"] == "what time do you guys open on sunday"
    assert sunday["say"] == "On Sunday the clinic is closed all day."
    assert (goodbye["reason"], goodbye["say"]) == ("goodbye", GOODBYE)

    # The words went over the wire, and a stranger's ear makes out the facts.
    first, second, last = (heard_in(result, answered, call_engines) for answered in result.turns)
    assert {"saturday", "clinic", "open"} <= set(first.split()), first
    assert {"sunday", "closed"} <= set(second.split()), second
    assert "calling" in last, last

    # The agent hung up, and not before its last word was played.
    assert result.ended_by == "agent"
    rendered_ms = len(call_engines._speech.voice.render(Spoken(GOODBYE))) / 8
    assert result.turns[-1].reply_ms == pytest.approx(rendered_ms - 100, abs=60)
    assert result.unplayed_ms <= 1000, "the second of silence after it, at most"

    # The record holds the call, and no citation is among the words that were spoken.
    assert kinds(events)[:5] == ["call_started", "ready", "desk", "said", "reply_started"]
    assert kinds(events)[-3:] == ["reply_started", "reply_ended", "call_ended"]
    assert events[-1]["reason"] == "agent hung up"
    assert said(events) == [GREETING, *(v["say"] for v in (saturday, sunday, goodbye))]
    assert not [words for words in said(events) if "[" in words]
    assert "[kb-hours#2]" in saturday["draft"]
    for number, event in enumerate(e for e in events if e["event"] == "reply_started"):
        assert event["turn"] == number
        stages = list(event["stages_ms"].values())
        assert stages == sorted(stages)
    assert lines.bad == []


@pytest.mark.slow
async def test_a_caller_who_cuts_in_silences_the_agent(settings, call_engines, lines):
    turns = [turn("q009", VOICE), turn("q001", VOICE, interrupts=True)]
    async with serving(settings(), call_engines, lines) as server:
        result = await server.call(turns)
        events = await server.record()
    cut = result.turns[1]
    assert result.unanswered == ()
    assert cut.barge_in_ms is not None
    assert cut.barge_in_ms < 500
    assert result.clears >= 2, "one at the first words of each turn"
    assert result.late_ms < 20
    (interrupted,) = (event for event in events if event["event"] == "interrupted")
    assert "Medicare" in interrupted["say"]
    assert 600 <= interrupted["played_ms"] < 1600
    answers = [event for event in events if event["event"] == "verdict"]
    assert [event["citations"] for event in answers] == [["kb-insurance#1"], ["kb-hours#2"]]
    assert "saturday" in heard_in(result, cut, call_engines)
    assert lines.bad == []


@pytest.mark.slow
async def test_a_caller_who_talks_into_the_goodbye_is_still_hung_up_on(settings, call_engines):
    turns = [turn("q215", VOICE), turn("q001", VOICE, interrupts=True)]
    async with serving(settings(), call_engines) as server:
        result = await server.call(turns)
        events = await server.record()
    assert result.ended_by == "agent"
    assert result.unanswered == (turns[1].label,)
    assert said(events) == [GREETING, GOODBYE]
    assert events[-1]["reason"] == "agent hung up"


async def test_the_greeting_does_not_wait_for_the_caller(settings, call_engines, lines):
    chosen = settings(voice={"greeting": "Good day, this is the clinic."})
    async with serving(chosen, call_engines, lines) as server, Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        assert len(server.switchboard.calls) == 1
        await phone.send({"event": "stop", "stop": {}})
        assert await phone.closed() == 1000
        events = await server.record()
    assert said(events) == ["Good day, this is the clinic."]
    assert events[-1]["reason"] == "caller hung up"
    assert lines.bad == []


@pytest.mark.slow
async def test_a_silent_caller_is_asked_twice_and_let_go(settings, call_engines, lines):
    chosen = settings(turns={"prompt_after_s": 0.3}, voice={"greeting": "Hello."})
    for words in FIXED_SENTENCES:
        call_engines._speech.voice.render(words)
    async with serving(chosen, call_engines, lines) as server:
        # Silence is audio too: it keeps the media coming.
        result = await server.call([], linger_ms=20_000)
        events = await server.record()
    goodbye = "I can't hear you any more, so I'll hang up. Goodbye."
    assert said(events) == ["Hello.", "Are you still there?", "Are you still there?", goodbye]
    assert events[-1]["reason"] == "caller silent"
    assert result.ended_by == "agent"
    assert lines.bad == []


START = {"event": "start", "start": {"streamSid": "MZ1", "callSid": "CA1"}}
CONNECTED = {"event": "connected"}
BAD_FIRST = {
    "malformed JSON": (["{"], "malformed JSON message"),
    "malformed JSON as start": ([CONNECTED, "{"], "malformed JSON message"),
    "binary": ([b"\x00\x01"], "binary message where text is due"),
    "media before start": ([CONNECTED, {"event": "media"}], "media message where start is due"),
    "start at once": ([START], "start message where connected is due"),
    "oversized": (["x" * 70_000], "oversized message (the limit is 65536 bytes)"),
    "vast": (["x" * 300_000], "oversized message where connected is due"),
    "path as an id": (
        [CONNECTED, '{"event":"start","start":{"streamSid":"MZ1","callSid":"../x"}}'],
        "start message without a usable callSid",
    ),
}


@pytest.mark.parametrize("case", BAD_FIRST)
async def test_a_bad_beginning_is_one_line_and_no_call(settings, call_engines, lines, case):
    messages, line = BAD_FIRST[case]
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.send(*messages)
            await phone.closed()
        await still_answers(server)
        assert len(server.records()) == 1, "the good call's"
    assert lines.bad == [f"media socket refused: {line}"]


BAD_LATER = {
    "malformed JSON": ("{", "malformed JSON message"),
    "binary": (b"\x00\x01", "binary message where text is due"),
    "oversized": ("x" * 70_000, "oversized message (the limit is 65536 bytes)"),
    "second start": (START, "second start message"),
    "no payload": ({"event": "media", "media": {}}, "media message without a payload"),
}


@pytest.mark.parametrize("case", BAD_LATER)
async def test_a_bad_message_ends_that_call_with_one_line(settings, call_engines, lines, case):
    message, line = BAD_LATER[case]
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.start()
            await phone.greeted()
            await phone.send(message, message)
            await phone.closed()
            events = await server.record()
        await still_answers(server)
    assert lines.bad == [f"call CA{phone.number} ended: {line}"]
    assert kinds(events)[-2:] == ["reply_started", "call_ended"]
    assert events[-1]["reason"] == "wire error"


async def test_a_vast_message_ends_that_call_with_one_line(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.start()
            await phone.greeted()
            await phone.send("x" * 300_000)
            assert await phone.closed() == 1009
            await server.idle()
        await still_answers(server)
    assert len(lines.bad) == 1, lines.bad
    assert f"CA{phone.number}" in lines.bad[0]


async def test_a_socket_that_says_nothing_is_closed(settings, call_engines, lines):
    chosen = settings(server={"start_timeout_s": 0.3})
    async with serving(chosen, call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.closed(timeout_s=3)
        await still_answers(server)
    assert lines.bad == ["media socket refused: no start message within 0.3 s"]


async def test_a_socket_that_goes_before_it_starts_is_one_line(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.send(CONNECTED)
            phone.socket.transport.abort()
        await still_answers(server)
    (line,) = lines.bad
    assert line.startswith("media socket refused: socket closed (code 100")
    assert line.endswith(") before the start message")


async def test_a_caller_who_vanishes_in_the_middle_of_a_word(settings, call_engines, lines):
    spoken = ulaw_encode(turn("q001", VOICE).audio[:8000])
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.start()
            await phone.greeted()
            await phone.speak(spoken)
            await phone.until(lambda: any(m["event"] == "clear" for m in phone.messages))
            phone.socket.transport.abort()
            events = await server.record()
        await still_answers(server)
    assert lines.bad == [f"call CA{phone.number}: socket closed without a stop message"]
    assert kinds(events)[-2:] == ["interrupted", "call_ended"]
    assert events[-1]["reason"] == "caller hung up"


async def test_a_call_without_audio_is_ended(settings, call_engines, lines):
    chosen = settings(server={"media_timeout_s": 0.4})
    async with serving(chosen, call_engines, lines) as server:
        async with Phone(server) as phone:
            await phone.start()
            assert await phone.closed(timeout_s=5) == 1000
            events = await server.record()
        await still_answers(server)
    assert len(lines.bad) == 1, lines.bad
    assert lines.bad[0].endswith("no audio for 0.4 s")
    assert events[-1]["reason"] == "no media"


async def test_records_that_cannot_be_written_are_one_line(settings, call_engines, lines, tmp_path):
    chosen = settings()
    async with serving(chosen, call_engines, lines) as server:
        shutil.rmtree(chosen.records.folder)
        chosen.records.folder.write_text("in the way")
        async with Phone(server) as phone:
            await phone.start()
            await phone.closed()
        chosen.records.folder.unlink()
        await still_answers(server)
    (line,) = [line for line in lines.bad if "set records.folder" in line]
    assert f"CA{phone.number}" in line


@pytest.mark.slow
async def test_bad_callers_do_not_disturb_a_good_one(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines) as server:
        good = asyncio.create_task(server.call([turn("q001", VOICE)]))
        while not good.done():
            for messages, _ in BAD_FIRST.values():
                async with Phone(server) as phone:
                    await phone.send(*messages)
                    await phone.closed()
            async with Phone(server) as phone:
                await phone.start()
                await phone.send("{")
                await phone.closed()
            await asyncio.sleep(0.3)
        await server.idle()
        result = good.result()
    assert result.error is None
    (answered,) = result.turns
    assert answered.answered
    assert answered.latency_ms < 1500
    assert {"saturday", "open"} <= set(heard_in(result, answered, call_engines).split())
    said = {line.partition(" (")[0] for line in lines.bad}
    assert len(said) > len({line for _, line in BAD_FIRST.values()})


async def test_one_call_too_many_is_told_so(settings, call_engines, lines):
    chosen = settings(server={"max_calls": 1})
    form = {"CallSid": "CA100", "From": "+15555550100", "To": "+15555550199"}
    async with serving(chosen, call_engines, lines) as server, web(server) as client:
        async with Phone(server) as first, Phone(server) as second:
            free = await client.post(f"{server.url}/twilio/voice", data=form)
            assert "<Connect><Stream url=" in free.text
            assert f"{server.media}/fdt_" in free.text
            await first.start()
            await first.greeted()
            form["CallSid"] = "CA101"
            busy = await client.post(f"{server.url}/twilio/voice", data=form)
            assert busy.headers["content-type"] == "application/xml"
            assert "<Stream" not in busy.text
            assert "<Say>All our lines are busy." in busy.text
            assert busy.text.endswith("<Hangup/></Response>")
            # One that was let through before the line was taken gets no further than its start.
            await second.start()
            assert await second.closed() == 1000
            assert await refused(Phone(server)) == 403
            health = (await client.get(f"{server.url}/healthz")).json()
            assert (health["status"], health["calls"]) == ("ok", 1)
            await first.send({"event": "stop", "stop": {}})
        await server.idle()
        assert len(server.records()) == 1
        await still_answers(server)
    assert lines.bad == [
        "call refused: 1 in progress",
        f"media socket refused: call CA{second.number}: 1 calls in progress",
        "media socket refused: 1 in progress",
    ]


async def test_nothing_is_left_of_calls_that_are_over(settings, call_engines, lines):
    spoken = ulaw_encode(turn("q001", VOICE).audio)

    async def short_call(server, number):
        async with Phone(server) as phone:
            await phone.start()
            await phone.greeted()
            if number % 2:
                await phone.speak(spoken)
            if number % 3 == 0:
                phone.socket.transport.abort()
            elif number % 3 == 1:
                await phone.send({"event": "stop", "stop": {}})
                await phone.closed()

    async with serving(settings(), call_engines, lines) as server:
        await short_call(server, 1)
        await server.idle()
        before = asyncio.all_tasks()
        for number in range(3):
            await short_call(server, number)
        await asyncio.gather(*(short_call(server, number) for number in range(3, 6)))
        await server.idle()
        await within(5, lambda: not asyncio.all_tasks() - before)
        assert server.switchboard.calls == set()
        records = server.records()
    assert len(records) == 7
    assert {events[-1]["event"] for events in records} == {"call_ended"}
    assert not [line for line in lines.bad if "without a stop message" not in line], lines.bad


async def test_a_server_that_stops_ends_its_calls_and_says_so(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines) as server:
        phone = await Phone(server).__aenter__()
        await phone.start()
        await phone.greeted()
    await phone.closed()
    (events,) = server.records()
    assert events[-1]["event"] == "call_ended"
    assert events[-1]["reason"] == "server stopped"
    assert lines.bad == []


@pytest.mark.slow
async def test_a_killed_server_loses_nothing_that_was_recorded(settings, monkeypatch, tmp_path):
    folder = settings().records.folder
    env = {"FRONTDESK_RECORDS__FOLDER": str(folder), "FRONTDESK_VOICE__PRERENDER": "0"}

    def answered():
        return any(
            event["event"] == "reply_started" and event["turn"] == 1
            for path in folder.glob("*.jsonl")
            for event in read_record(path)
        )

    with process.serving(("agent.cli", "serve", "--port", "0"), env) as server:
        call = asyncio.create_task(
            place_call(
                server.url,
                [turn("q001", VOICE), turn("q002", VOICE)],
                headers=local_key.headers_for(server.url),
            )
        )
        await within(30, answered)
        os.kill(server.pid, signal.SIGKILL)
        result = await call
    assert result.turns[1].answered is False
    (path,) = folder.glob("*.jsonl")
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert path.read_bytes().endswith(b"\n")
    assert kinds(events) == [
        "call_started", "ready", "desk", "said", "reply_started", "reply_ended", "verdict",
        "reply_started",
    ]  # fmt: skip
    verdict = events[6]
    assert verdict["citations"] == ["kb-hours#2"]
    assert verdict["say"] == "On Saturday the clinic is open from 9 a.m. to 1 p.m."


def web(server):
    """What a program of this machine asks the server with."""
    return httpx.AsyncClient(base_url=server.url, headers=server.headers)


async def refused(phone):
    """Dial; the status of the handshake that was not accepted."""
    with pytest.raises(InvalidStatus) as error:
        await phone.__aenter__()
    return error.value.response.status_code


async def still_answers(server):
    """Another caller is greeted."""
    async with Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.send({"event": "stop", "stop": {}})
        await phone.closed()
    await server.idle()


async def test_a_webhook_takes_forms_and_nothing_larger(settings, call_engines, lines):
    form = "application/x-www-form-urlencoded"
    async with serving(settings(), call_engines, lines) as server, web(server) as client:
        cases = [
            ("multipart/form-data; boundary=x", b"--x--"),
            (form, b"From=" + b"1" * 70_000),
            (form, b"From=\xff\xfe"),
            (form, b"&".join(b"a%d=1" % n for n in range(200))),
        ]
        for kind, body in cases:
            answer = await client.post(
                "/twilio/voice", content=body, headers={"content-type": kind}
            )
            assert answer.status_code == 413, (kind, body[:20])
        assert (await client.post("/twilio/voice", json={})).status_code == 400
        form = {"CallSid": "CA1", "From": "+15555550100", "To": ""}
        good = await client.post("/twilio/voice", data=form)
        assert '<Parameter name="caller" value="+15555550100"/>' in good.text


async def test_what_is_loaded_is_not_walked_during_calls(settings, call_engines):
    gc.unfreeze()
    async with serving(settings(), call_engines) as server:
        await still_answers(server)
        assert gc.get_freeze_count() > 0
        assert all(thing is not call_engines for thing in gc.get_objects())


async def test_sockets_that_say_nothing_do_not_pile_up(settings, call_engines, lines):
    chosen = settings(server={"max_calls": 1, "start_timeout_s": 30})
    async with serving(chosen, call_engines, lines) as server, Phone(server), Phone(server):
        assert await refused(Phone(server)) == 403
