"""The browser page: who may open it, and calls from a real Chromium."""

import json

import httpx
import numpy as np
import pytest
import soundfile
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agent.browser import is_our_origin
from agent.browser_settings import BrowserSettings, has_page
from agent.browser_shown import Shown
from agent.records import CallRecord, read_record
from agent.server_settings import ServerSettings
from bench.recordings import AUDIO
from frontdesk import ConfigError, Spoken
from speech.audio import resample
from tests.agent.chromium import chromium, microphone_file, needs_chromium
from tests.agent.live import serving

PUBLIC = {"host": "0.0.0.0", "public_url": "https://desk.example.com/talk-to-us"}


@pytest.mark.parametrize(
    ("server", "origin", "host", "ours"),
    [
        ({}, "http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ({}, "http://localhost:8080", "localhost:8080", True),
        ({}, "http://[::1]:8080", "[::1]:8080", True),
        ({}, "http://127.0.0.1:9999", "127.0.0.1:8080", False),
        ({}, "http://rebound.example.com:8080", "rebound.example.com:8080", False),
        ({}, "", "127.0.0.1:8080", False),
        ({}, "null", "127.0.0.1:8080", False),
        ({}, "http://[", "[", False),
        (PUBLIC, "https://desk.example.com", "desk.example.com", True),
        (PUBLIC, "http://desk.example.com", "desk.example.com", False),
        (PUBLIC, "https://desk.example.com.evil.example", "desk.example.com", False),
        (PUBLIC, "http://127.0.0.1:8080", "127.0.0.1:8080", False),
        (PUBLIC, "http://192.0.2.7:8080", "192.0.2.7:8080", False),
        ({"public_url": "https://Desk.example.com:443"}, "https://desk.example.com", "x", True),
        ({"public_url": "https://a.example:8443"}, "https://a.example", "a.example", False),
        ({"allowed_origins": ("https://a.example",)}, "https://a.example", "b.example", True),
    ],
)
def test_whose_page_it_is(server, origin, host, ours):
    assert is_our_origin(origin, host, ServerSettings(**server)) is ours


@pytest.mark.parametrize(
    ("page", "server", "served"),
    [
        ("auto", {}, True),
        ("auto", {"host": "0.0.0.0"}, False),
        ("auto", {"public_url": "https://desk.example.com"}, False),
        ("auto", {"trust_proxy": ("127.0.0.1",)}, False),
        ("on", PUBLIC, True),
        ("on", {"host": "0.0.0.0", "allowed_origins": ("http://localhost:8080",)}, True),
        ("off", {}, False),
    ],
)
def test_the_page_is_off_where_others_could_reach_it(page, server, served):
    assert has_page(BrowserSettings(page=page), ServerSettings(**server)) is served


def test_a_page_that_no_browser_could_call_from_is_not_served():
    with pytest.raises(ConfigError, match=r"set server\.public_url to https://YOUR-HOST"):
        has_page(BrowserSettings(page="on"), ServerSettings(host="0.0.0.0"))


def test_of_an_event_only_what_is_meant_for_the_caller_is_shown(clinic):
    shown = Shown(lambda: clinic)
    verdict = {
        "event": "verdict", "t_ms": 1.0, "turn": 1, "heard": "h", "say": "s", "reason": "answered",
        "score": 0.9, "decision": "answered", "citations": ["kb-hours#2", "gone#1"],
    }  # fmt: skip
    message = shown(verdict)
    assert set(message) == {"type", "heard", "say", "decision", "citations"}
    assert message["citations"][0]["heading"] == "Weekend"
    assert message["citations"][0]["text"].startswith("On Saturday the clinic is open")
    assert message["citations"][1] == {"id": "gone#1"}
    assert Shown(None)(verdict)["citations"] == [{"id": "kb-hours#2"}, {"id": "gone#1"}]
    assert shown({"event": "call_started", "t_ms": 0.0, "caller": "…00"}) is None
    said = {"event": "said", "t_ms": 1.0, "turn": 0, "say": "hello"}
    assert shown(said) == {"type": "said", "say": "hello"}


def test_a_listener_is_told_of_events_and_of_what_passes(tmp_path):
    record, told = CallRecord(tmp_path, "web-1"), []
    record.listener = told.append
    record.passing("hearing", heard="what ti")
    record.event("said", say="Hello.")
    record.close("caller hung up")
    record.passing("hearing", heard="too late")
    assert [one["event"] for one in told] == ["hearing", "said", "call_ended"]
    written = [event["event"] for event in read_record(record.path)]
    assert written == ["call_started", "said", "call_ended"], "what passes is not kept"


@pytest.fixture
async def server(settings, call_engines):
    title = "Ask <the> desk"
    async with serving(settings(browser={"title": title}), call_engines) as running:
        running.origin = {"Origin": running.url}
        yield running


async def test_the_page_and_its_files_may_do_nothing_but_call(server):
    async with httpx.AsyncClient(base_url=server.url) as client:
        page = await client.get("/talk")
        assert "<h1>Ask &lt;the&gt; desk</h1>" in page.text
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["permissions-policy"].startswith("microphone=(self)")
        script = await client.get("/talk/talk.js")
        assert script.headers["content-type"].startswith("text/javascript")
        for name in ("talk.html", "..%2fbrowser.py", "gone.js"):
            assert (await client.get(f"/talk/{name}")).status_code == 404


async def test_no_token_without_our_origin(server, lines):
    async with httpx.AsyncClient(base_url=server.url) as client:
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
            assert (await client.post("/talk/token", headers=headers)).status_code == 403
        ours = await client.post("/talk/token", headers=server.origin)
    assert ours.status_code == 200
    assert ours.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in ours.headers
    assert not any("evil" in message for message in lines.bad)


async def test_no_socket_without_a_token_of_its_own(server):
    async with httpx.AsyncClient(base_url=server.url) as client:
        answer = await client.post("/talk/token", headers=server.origin)
    token = answer.json()["token"]
    url = server.url.replace("http", "ws") + "/talk/socket/"
    tampered = token[:-2] + ("AA" if token[-2:] != "AA" else "BB")
    for path, headers in (
        (token, {"Origin": "https://evil.example"}),
        (token, {}),
        (tampered, server.origin),
        ("none", server.origin),
    ):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url + path, additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == 403
    async with connect(url + token, additional_headers=server.origin, proxy=None):
        with pytest.raises(InvalidStatus):
            await connect(url + token, additional_headers=server.origin, proxy=None)
    await server.idle()


async def test_a_full_switchboard_says_so_before_the_call(settings, call_engines):
    config = settings(server={"max_calls": 1})
    async with serving(config, call_engines) as server:
        origin = {"Origin": server.url}
        url = server.url.replace("http", "ws") + "/talk/socket/"
        async with httpx.AsyncClient(base_url=server.url) as client:
            token = (await client.post("/talk/token", headers=origin)).json()["token"]
            async with connect(url + token, additional_headers=origin, proxy=None):
                assert (await client.post("/talk/token", headers=origin)).status_code == 503
        await server.idle()


def question(name="slt/q001"):
    audio, rate_hz = soundfile.read(AUDIO / f"{name}.flac", dtype="int16")
    return resample(audio, rate_hz, 16000)


async def spoken(engines, words):
    """``words`` in the agent's own voice, as a caller's."""
    parts = [part async for part in engines.voice.phrases_async(Spoken(words))]
    return resample(np.concatenate(parts), engines.voice.sample_rate_hz, 16000)


def heard(events):
    return [event["heard"] for event in events if event["event"] == "verdict"]


SPEAKS = "document.querySelector('#status').textContent.startsWith('The agent is speaking')"
LISTENS = "document.querySelector('#status').textContent.startsWith('Listening')"


@pytest.mark.slow
@needs_chromium
async def test_a_conversation_in_chromium(settings, call_engines, tmp_path):
    goodbye = await spoken(call_engines, "Thank you, goodbye.")
    hears = microphone_file(tmp_path / "heard.wav", 5, question(), 9, goodbye, 5)
    async with serving(settings(), call_engines) as server, chromium(tmp_path, hears) as page:
        await page.open(f"{server.url}/talk")
        await page.value(
            "globalThis.interims = new Set(); hearing = document.querySelector('#hearing');"
            " new MutationObserver(() => interims.add(hearing.innerText))"
            ".observe(hearing, {childList: true}); 0"
        )
        await page.click("#call")
        await page.until("document.querySelector('.sources')", 30)
        await page.until(SPEAKS)
        await page.until(LISTENS)
        words = "[...document.querySelectorAll('.words')].map((one) => one.textContent)"
        assert (await page.value(words))[1:3] == [
            "What time do you guys open on Saturday?",
            "On Saturday the clinic is open from 9 a.m. to 1 p.m.",
        ]
        cited = "document.querySelector('.sources code').textContent"
        assert await page.value(cited) == "kb-hours#2 · Weekend"
        interims = await page.value("[...interims]")
        assert any(text and text != "What time do you guys open on Saturday?" for text in interims)
        stats = await page.value("frontdeskCall.stats")
        rate_hz = await page.value("frontdeskCall.context.sampleRate")
        assert stats["played"] > 4 * rate_hz, "the greeting and the answer"
        assert stats["marks"] >= 2
        await page.until("document.querySelector('li.note')", 30)
        assert await page.value("document.querySelector('li.note').innerText") == (
            "The agent has said goodbye."
        )
        assert page.errors == []
        events = await server.record()
    ended = [e["played_ms"] for e in events if e["event"] == "reply_ended"]
    assert stats["played"] / rate_hz * 1000 == pytest.approx(sum(ended[:2]), rel=0.1)
    assert events[-1]["reason"] == "agent hung up"


@pytest.mark.slow
@needs_chromium
async def test_hold_to_talk_and_cut_in(settings, call_engines, tmp_path):
    """The microphone hears one question after another; the agent only what is held."""
    talk = [part for _ in range(12) for part in (question(), 0.3)]
    hears = microphone_file(tmp_path / "heard.wav", *talk)
    async with serving(settings(), call_engines) as server, chromium(tmp_path, hears) as page:
        await page.open(f"{server.url}/talk")
        await page.click("input[value=hold]")
        await page.click("#call")
        await page.until(SPEAKS)
        await page.until("frontdeskCall.stats.sent >= 50")
        assert await page.value("frontdeskCall.stats.clears") == 0
        assert await page.value("document.activeElement.id") == "hold"
        await page.key(down=True)
        await page.until("frontdeskCall.stats.clears > 0")
        await page.until("document.querySelector('.unheard')")
        greeting = "document.querySelector('.unheard').parentElement.innerText"
        assert await page.value(greeting) == "Thanks for calling the clinic. How can I help you?"
        assert await page.value("document.querySelector('#hold').ariaPressed") == "true"
        await page.until("document.querySelector('li.caller')", 30)
        await page.key(down=False)
        sent = await page.value("frontdeskCall.stats.sent")
        assert await page.value("frontdeskCall.stats.dropped") > 0
        await page.until(f"frontdeskCall.stats.sent >= {sent} + 200")
        asked = await page.value("document.querySelectorAll('li.caller').length")
        assert asked == 1, "what is not held is not heard"
        await page.mouse("#hold", down=True)
        await page.until("document.querySelectorAll('li.caller').length > 1", 30)
        await page.mouse("#hold", down=False)
        pressed = "document.querySelector('#hold').ariaPressed"
        assert await page.value(pressed) == "false"
        for after in ("true", "false"):
            await page.click("#hold")  # as a screen reader does, or Enter
            assert await page.value(pressed) == after
        await page.click("#call")
        await page.until("document.querySelector('li.note')")
        events = await server.record()
    assert "interrupted" in [event["event"] for event in events]
    assert events[-1]["reason"] == "caller hung up"


EVIL = "<img src=x onerror='globalThis.ran = 1'><script>globalThis.ran = 1</script>"


@pytest.mark.slow
@needs_chromium
async def test_a_long_conversation_is_text_that_can_be_read_in_peace(
    settings, call_engines, tmp_path
):
    async with serving(settings(), call_engines) as server, chromium(tmp_path) as page:
        await page.look(320, 568)
        await page.open(f"{server.url}/talk")
        await page.value("document.querySelector('#call').focus()")
        await page.click("#call")
        await page.until("document.querySelector('#call').innerText === 'End the call'")
        assert await page.value("document.activeElement.id") == "call", "the focus is not lost"
        passage = {"id": EVIL, "heading": EVIL, "text": EVIL}
        answer = {"type": "answer", "heard": EVIL, "say": EVIL, "citations": [passage]}
        await page.value(
            f"frontdeskCall.on({json.dumps(answer)});"
            "for (let n = 0; n < 40; n++) frontdeskCall.on({type: 'said', say: 'x'.repeat(99)});"
            "document.querySelector('.sources').open = true; 0"
        )
        assert await page.value("document.querySelectorAll('#log img, #log script').length") == 0
        assert await page.value("globalThis.ran") is None
        assert await page.value("document.documentElement.scrollWidth") == 320, "nothing sticks out"
        read = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        more = "frontdeskCall.on({type: 'said', say: 'more'}); Math.round(scrollY)"
        await page.value(f"window.scrollTo(0, 100); {read}")
        assert await page.value(more) == 100, "who reads what was said before is left to read"
        await page.value(f"window.scrollTo(0, document.body.scrollHeight); {read}")
        at = await page.value("scrollY")
        assert await page.value(more) > at, "who is at the end is kept there"
        assert page.errors == []


@pytest.mark.slow
@needs_chromium
async def test_what_goes_wrong_is_said_in_words(settings, call_engines, tmp_path):
    problem = "document.querySelector('#problem').innerText"
    (tmp_path / "denied").mkdir()
    async with serving(settings(), call_engines) as server:
        async with chromium(tmp_path / "denied", allow=False) as page:
            token = f"fetch('{server.url}/talk/token', {{method: 'POST'}})"
            foreign = f"{token}.then((reply) => reply.status, () => 'refused')"
            assert await page.value(foreign) == "refused", "about:blank is no page of ours"
            await page.open(f"{server.url}/talk")
            await page.click("#call")
            await page.until(problem)
            assert (await page.value(problem)).startswith("The microphone was not allowed.")
        assert server.records() == []


@pytest.mark.slow
@needs_chromium
async def test_a_call_that_is_lost_is_said_to_be(settings, call_engines, tmp_path):
    problem = "document.querySelector('#problem').innerText"
    async with chromium(tmp_path) as page:
        async with serving(settings(), call_engines) as server:
            await page.open(f"{server.url}/talk")
            await page.click("#call")
            await page.until("document.querySelector('li.agent')")
        await page.until(problem)
        assert (await page.value(problem)).startswith("The connection was lost")
        assert await page.value("document.querySelector('#call').innerText") == "Start the call"
        await page.click("#call")
        await page.until(f"{problem}.startsWith('The server cannot be reached')")
