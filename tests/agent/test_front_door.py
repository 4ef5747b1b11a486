"""Providers' calls through the front door: whole ones, too many, handed over and brought back."""

import asyncio
import json

import pytest

from agent import server as agent_server
from agent.front_door import check_door
from agent.provider_settings import ProvidersSettings
from agent.time_limit import TIME_IS_UP, limited
from frontdesk import ConfigError
from telephony import local_key
from telephony.providers import PROVIDERS
from tests.agent import knocking
from tests.agent.knocking import PUBLIC, announced, dial, new_id, post, status, where
from tests.agent.live import Phone, serving
from tests.agent.test_arrivals import come
from tests.telephony import signing


@pytest.fixture
def calls(settings, monkeypatch):
    """Settings with Twilio enabled."""

    def make(**server):
        return settings(**knocking.enabled(monkeypatch, "twilio", **server))

    return make


def test_the_settings_know_every_provider():
    assert sorted(ProvidersSettings.model_fields) == sorted(PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_an_enabled_provider_without_its_secret_is_found_at_the_start(
    settings, monkeypatch, name, command
):
    variable = PROVIDERS[name].secrets.secret
    monkeypatch.delenv(variable, raising=False)
    chosen = settings(providers={name: {"enabled": True}})
    with pytest.raises(ConfigError, match=rf"providers\.{name} is enabled: set {variable}"):
        check_door(chosen)
    check_door(settings(providers={name: {"enabled": False}}))
    monkeypatch.setenv(f"FRONTDESK_PROVIDERS__{name.upper()}__ENABLED", "true")
    code, _, err = command("serve", "--port", "0")
    assert (code, variable in err) == (2, True)


def test_a_secret_may_have_a_variable_of_its_own(settings, monkeypatch):
    chosen = settings(
        providers={"twilio": {"enabled": True, "secret_variable": "DESK_TWILIO"}},
    )
    with pytest.raises(ConfigError, match="set DESK_TWILIO"):
        check_door(chosen)
    monkeypatch.setenv("DESK_TWILIO", "12345")
    check_door(chosen)


async def test_a_whole_call_leaves_neither_its_number_nor_its_token_behind(
    calls, call_engines, lines
):
    chosen = calls()
    call_id = new_id("twilio")
    async with serving(chosen, call_engines, lines) as server:
        answer = await post(server, announced("twilio", call_id))
        there = where(server, "twilio", answer)
        token = there.url.rpartition("/")[2]
        assert token.startswith("fdt_")
        caller = knocking.far_end("twilio", call_id)
        async with dial(server, there) as socket:
            for message in caller.begin(there.parameters):
                await socket.send(message)
            await asyncio.wait_for(socket.recv(), 20)
            for message in caller.hang_up():
                await socket.send(message)
            await asyncio.wait_for(socket.wait_closed(), 10)
        assert await status(dial(server, there)) == 403
        events = await server.record()
    assert (events[0]["caller"], events[0]["called"]) == ("…00", "…99")
    assert "fdt_" in token
    for text in (*(line for _, line in lines.all), json.dumps(events)):
        assert token not in text
        assert "55555501" not in text


async def test_numbers_are_kept_where_that_is_asked_for(settings, call_engines):
    chosen = settings(records={"folder": settings().records.folder, "keep_numbers": True})
    async with serving(chosen, call_engines) as server:
        await server.call([], max_s=1)
        (events,) = server.records()
    assert events[0]["caller"] == "+15555550100"


async def test_one_number_that_calls_and_calls_hears_that_the_lines_are_busy(
    calls, call_engines, lines
):
    async with serving(calls(calls_per_number=2), call_engines, lines) as server:

        async def ask(**how):
            return (await post(server, announced("twilio", **how))).text

        assert "<Stream" in await ask()
        assert "<Stream" in await ask()
        for _ in range(3):
            assert "<Say>All our lines are busy." in await ask()
        assert "<Stream" in await ask(caller="+15555550101")
        for _ in range(3):  # many withhold theirs
            assert "<Stream" in await ask(caller="anonymous")
    assert lines.bad == ["call refused: too many calls from one number"]


async def test_calls_that_we_placed_all_come_from_our_number(calls, call_engines, monkeypatch):
    async with serving(calls(calls_per_number=1), call_engines) as server:
        expected = {new_id("twilio") for _ in range(3)}
        outbound = server.switchboard.outbound
        monkeypatch.setattr(outbound, "is_expected", lambda call_id, *_: call_id in expected)
        for call_id in expected:
            assert "<Stream" in (await post(server, announced("twilio", call_id))).text


async def test_one_address_that_calls_and_calls_too(calls, call_engines):
    async with serving(calls(calls_per_address=2), call_engines) as server:
        answers = [
            (await post(server, announced("twilio", caller=f"+1555555010{n}"))).text
            for n in range(4)
        ]
    assert ["<Stream" in answer for answer in answers] == [True, True, False, False]


async def test_an_address_that_was_refused_too_often_is_not_looked_at(calls, call_engines, lines):
    forged = knocking.attacks("twilio")["another secret"]
    async with serving(calls(refusals_per_address=5), call_engines, lines) as server:
        found = [(await post(server, forged)).status_code for _ in range(8)]
        assert found == [403] * 5 + [429] * 3
        # Whoever is behind a proxy on this machine that we were not told of pays for no other.
        behind = {"x-forwarded-for": "203.0.113.9"}
        assert (await post(server, announced("twilio"), behind)).status_code == 200
    assert len(lines.bad) == 2, "one line a burst"


async def test_insecure_lets_this_machine_in_and_nobody_through_a_proxy(
    settings, call_engines, lines
):
    chosen = settings(server={"insecure": True})
    unsigned = knocking.attacks("twilio")["unsigned"]
    async with serving(chosen, call_engines, lines) as server:
        assert (await post(server, unsigned)).status_code == 200
        proxied = {"x-forwarded-for": "203.0.113.9"}
        assert (await post(server, unsigned, proxied)).status_code == 404
        page = {"origin": "http://127.0.0.1:8080"}
        assert (await post(server, unsigned, page)).status_code == 403
        assert await status(dial(server, "/twilio/media")) == 101
        assert await status(dial(server, "/twilio/media", proxied)) == 403
        assert await status(dial(server, "/twilio/media/fdt_AAAA")) == 403


@pytest.mark.parametrize(
    "arguments", [("--host", "0.0.0.0"), ("--host", "192.0.2.1")], ids=lambda one: one[1]
)
def test_serve_insecure_does_not_start_where_others_could_call(command, arguments):
    code, _, err = command("serve", "--insecure", "--port", "0", *arguments)
    assert code == 2
    assert "would let anyone call" in err


def test_serve_insecure_says_so(command, monkeypatch):
    monkeypatch.setattr(agent_server, "listen", lambda *_: 1 / 0)  # it goes no further
    with pytest.raises(ZeroDivisionError):
        command("serve", "--insecure", "--port", "0")


def dial_ended(call_id, how, token):
    """What Twilio asks when the dial of a transfer has ended."""
    form = {"CallSid": call_id, "DialCallStatus": how}
    return signing.signed("twilio", f"{PUBLIC}/twilio/return/{token}", form)


@pytest.mark.parametrize(
    ("how", "problem"), [("busy", "busy"), ("no-answer", "no answer"), ("failed", "unreachable")]
)
async def test_a_transfer_that_fails_brings_the_call_back(
    calls, call_engines, lines, how, problem, monkeypatch
):
    async with serving(calls(), call_engines, lines) as server:
        held = []

        async def hold(start, open_line, *, returned=""):
            held.append((start.call_id, returned))

        monkeypatch.setattr(server.switchboard, "hold", hold)
        call_id = new_id("twilio")
        await post(server, announced("twilio", call_id))
        token = server.doorman.tokens.mint("twilio", call_id, 3600, purpose="return")
        hook = dial_ended(call_id, how, token)
        assert (await post(server, knocking.replace(hook, headers={}))).status_code == 403
        answer = await post(server, hook)
        assert (await post(server, hook)).status_code == 403, "the same again"
        there = where(server, "twilio", answer)
        async with dial(server, there) as socket:
            for message in knocking.far_end("twilio", call_id).begin(there.parameters):
                await socket.send(message)
            await asyncio.wait_for(socket.wait_closed(), 10)
    assert held == [(call_id, problem)]


async def test_a_transfer_that_was_answered_ends_the_call(calls, call_engines):
    async with serving(calls(), call_engines) as server:
        call_id = new_id("twilio")
        token = server.doorman.tokens.mint("twilio", call_id, 3600, purpose="return")
        answer = await post(server, dial_ended(call_id, "completed", token))
        assert "<Hangup/>" in answer.text
        media = server.doorman.tokens.mint("twilio", call_id)
        assert (await post(server, dial_ended(call_id, "busy", media))).status_code == 403


async def test_a_summary_is_whispered_once_to_whoever_has_its_token(
    calls, call_engines, monkeypatch
):
    async with serving(calls(), call_engines) as server:
        urls = []

        async def hold(start, open_line, *, returned=""):
            urls.append(open_line(None)._returns(start, "Asks for <Dr. Lee>"))

        monkeypatch.setattr(server.switchboard, "hold", hold)
        call_id = new_id("twilio")
        there = where(server, "twilio", await post(server, announced("twilio", call_id)))
        async with dial(server, there) as socket:
            for message in knocking.far_end("twilio", call_id).begin(there.parameters):
                await socket.send(message)
            await asyncio.wait_for(socket.wait_closed(), 10)
        ((whisper, then),) = urls
        assert whisper.startswith(f"{PUBLIC}/twilio/whisper/fdt_")
        assert then.startswith(f"{PUBLIC}/twilio/return/fdt_")
        hook = signing.signed("twilio", whisper, {"CallSid": new_id("twilio")})
        assert "<Say>Asks for &lt;Dr. Lee&gt;</Say>" in (await post(server, hook)).text
        assert (await post(server, hook)).status_code == 403


async def test_one_call_at_a_time_has_an_id(settings, call_engines, lines):
    async with serving(settings(), call_engines, lines) as server:
        async with Phone(server) as first, Phone(server) as second:
            second.number = first.number
            await first.start()
            await first.greeted()
            await second.start()
            await second.closed()
            assert len(server.switchboard.calls) == 1
        await server.idle()
    assert "media socket refused: a second socket for a call in progress" in lines.bad


async def test_a_call_that_lasts_too_long_is_told_so_and_ended(settings, call_engines):
    chosen = settings(server={"max_call_minutes": 0.02}, voice={"greeting": "Hello."})
    async with serving(chosen, call_engines) as server:
        result = await server.call([], linger_ms=20_000)
        events = await server.record()
    assert result.ended_by == "agent"
    assert [e["say"] for e in events if e["event"] == "said"] == ["Hello.", TIME_IS_UP.text]
    assert events[-1]["reason"] == "time limit"


async def test_a_call_that_does_not_end_by_a_goodbye_is_ended_without():
    class Stuck:
        def __init__(self):
            self.ended = asyncio.Event()
            self.said = []

        async def say_goodbye(self, words, why):
            self.said.append(words)

        async def end(self, why):
            self.ended.set()
            return True

    call = Stuck()
    async with limited(call, 0, goodbye_s=0):
        await asyncio.wait_for(call.ended.wait(), 5)
    assert call.said == [TIME_IS_UP]


@pytest.mark.parametrize("trusted", [True, False])
async def test_behind_a_proxy_that_is_named_the_url_is_the_one_it_was_asked_by(
    calls, call_engines, trusted
):
    chosen = calls(public_url="", trust_proxy=["127.0.0.1" if trusted else "192.0.2.1"])
    hook = announced("twilio", url="https://via.example.com/twilio/voice")
    via = {"x-forwarded-proto": "https", "x-forwarded-host": "via.example.com"}
    async with serving(chosen, call_engines) as server:
        answer = await post(server, hook, via)
    assert answer.status_code == (200 if trusted else 403)
    assert ("wss://via.example.com/twilio/media/fdt_" in answer.text) is trusted


async def test_the_local_key_counts_from_this_machine_only(settings, call_engines):
    async with serving(settings(), call_engines) as server:
        doorman = server.doorman
        key = {local_key.HEADER: doorman.local_key}
        assert doorman.is_local(come(peer="127.0.0.1"), key)
        assert not doorman.is_local(come(peer="203.0.113.9"), key)
        assert not doorman.is_local(come(peer="127.0.0.1"), {})
        assert not doorman.is_local(come(peer="127.0.0.1"), {local_key.HEADER: "fdk_é"})
