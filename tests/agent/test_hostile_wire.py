"""Requests that prove nothing reach no pipeline, whichever provider they claim to come from."""

import asyncio
import time

import pytest

from telephony.providers import PROVIDERS
from telephony.tokens import Tokens
from tests.agent import knocking
from tests.agent.knocking import SOCKETS, WEBHOOKS, announced, dial, post, status
from tests.agent.live import serving


def test_every_provider_is_tried():
    assert sorted((*WEBHOOKS, *SOCKETS)) == sorted(PROVIDERS)


def nothing_began(server, lines):
    """No pipeline, no record, not a word of a call."""
    assert server.switchboard.calls == set()
    assert server.records() == []
    assert not [line for _, line in lines.all if "started" in line]


@pytest.mark.parametrize("name", WEBHOOKS)
async def test_no_forged_webhook_gets_a_token(settings, call_engines, lines, monkeypatch, name):
    chosen = settings(**knocking.enabled(monkeypatch, name))
    async with serving(chosen, call_engines, lines) as server:
        for what, hook in knocking.attacks(name).items():
            answer = await post(server, hook)
            assert (answer.status_code, answer.content) == (403, b""), what
        for wrong in ("", "fdk_" + "x" * 43, server.headers["x-frontdesk-local-key"][:-1]):
            answer = await post(
                server, knocking.attacks(name)["unsigned"], {"x-frontdesk-local-key": wrong}
            )
            assert answer.status_code == 403, wrong
        nothing_began(server, lines)
        good = announced(name)
        assert (await post(server, good)).status_code == 200
        assert (await post(server, good)).status_code == 403, "the same again"
        nothing_began(server, lines)
    assert not [line for line in lines.bad if "5555" in line]


@pytest.mark.parametrize("name", WEBHOOKS)
async def test_no_socket_is_accepted_without_its_token(
    settings, call_engines, lines, monkeypatch, name
):
    other = "plivo" if name == "twilio" else "twilio"
    chosen = settings(**knocking.enabled(monkeypatch, name, other))
    async with serving(chosen, call_engines, lines) as server:
        tokens = server.doorman.tokens
        late = Tokens(tokens._secret, clock=lambda: time.time() - 120)
        spent = tokens.mint(name, "CA1")
        tokens.spend(spent, name)
        wrong = {
            "none": "",
            "empty": "/",
            "nonsense": "/fdt_AAAA",
            "expired": f"/{late.mint(name, 'CA1')}",
            "of another server": f"/{Tokens(b'x' * 32).mint(name, 'CA1')}",
            "of another provider": f"/{tokens.mint(other, 'CA1')}",
            "of another purpose": f"/{tokens.mint(name, 'CA1', purpose='return')}",
            "spent": f"/{spent}",
            "altered": f"/{tokens.mint(name, 'CA1')[:-2]}",
            "twice": f"/{tokens.mint(name, 'CA1')}/{tokens.mint(name, 'CA1')}",
            "upwards": f"/../../{name}/media/x",
            "upwards, escaped": "/%2e%2e%2f%2e%2e%2fhealthz",
            "a null": "/%00",
            "long": "/" + "A" * 7000,
        }
        for what, rest in wrong.items():
            assert await status(dial(server, f"/{name}/media{rest}")) == 403, what
        token = tokens.mint(name, "CA1")
        origin = {"origin": "https://evil.example.com"}
        assert await status(dial(server, f"/{name}/media/{token}", origin)) == 403
        assert await status(dial(server, f"/{name}/media/{token}")) == 101, "not spent by that"
        nothing_began(server, lines)


@pytest.mark.parametrize("name", SOCKETS)
async def test_no_socket_proves_itself_wrongly(settings, call_engines, lines, monkeypatch, name):
    chosen = settings(**knocking.enabled(monkeypatch, name))
    wrong = {
        "unsigned": {},
        "another secret": knocking.handshake(name, secret="b3RoZXIgc2VjcmV0IG9mIDMyIGJ5dGVzLg=="),
        "empty": dict.fromkeys(knocking.handshake(name), ""),
    }
    if name == "genesys":
        wrong |= {
            "an hour old": knocking.handshake(name, now=time.time() - 3600),
            "of another key": knocking.handshake(name, key="another-key"),
            "of another path": dict(
                knocking.signing_json.genesys(f"{knocking.PUBLIC}/genesys/other").headers
            ),
        }
    else:
        wrong["another user"] = knocking.handshake(name, user="root")
    async with serving(chosen, call_engines, lines) as server:
        for what, headers in wrong.items():
            assert await status(dial(server, f"/{name}/media", headers)) == 403, what
        good = knocking.handshake(name)
        origin = {**good, "origin": "https://evil.example.com"}
        assert await status(dial(server, f"/{name}/media", origin)) == 403
        assert await status(dial(server, f"/{name}/media", good)) == 101
        if name == "genesys":
            assert await status(dial(server, f"/{name}/media", good)) == 403, "the same again"
        nothing_began(server, lines)


@pytest.mark.parametrize("name", [*WEBHOOKS, *SOCKETS])
async def test_a_provider_that_is_not_enabled_is_not_there(
    settings, call_engines, lines, monkeypatch, name
):
    chosen = settings(**knocking.enabled(monkeypatch))
    async with serving(chosen, call_engines, lines) as server:
        if name in WEBHOOKS:
            assert (await post(server, announced(name))).status_code == 404
        token = server.doorman.tokens.mint(name, "CA1")
        assert await status(dial(server, f"/{name}/media/{token}")) == 403
        headers = knocking.handshake(name) if name in SOCKETS else {}
        assert await status(dial(server, f"/{name}/media", headers)) == 403
        nothing_began(server, lines)


@pytest.mark.parametrize("name", WEBHOOKS)
async def test_a_good_token_opens_the_call_that_it_was_made_for_and_no_other(
    settings, call_engines, lines, monkeypatch, name
):
    chosen = settings(**knocking.enabled(monkeypatch, name))
    async with serving(chosen, call_engines, lines) as server:
        call_id = knocking.new_id(name)
        answer = await post(server, announced(name, call_id))
        where = knocking.where(server, name, answer)
        other = knocking.far_end(name, knocking.new_id(name))
        async with dial(server, where) as socket:
            told = {k: other.call_id if v == call_id else v for k, v in where.parameters.items()}
            for message in other.begin(told):
                await socket.send(message)
            await asyncio.wait_for(socket.wait_closed(), 10)
        nothing_began(server, lines)
        assert await status(dial(server, where)) == 403, "spent"
        answer = await post(server, announced(name, own := knocking.new_id(name)))
        where = knocking.where(server, name, answer)
        caller = knocking.far_end(name, own)
        async with dial(server, where) as socket:
            for message in caller.begin(where.parameters):
                await socket.send(message)
            await asyncio.wait_for(socket.recv(), 20)  # the greeting
            assert len(server.switchboard.calls) == 1
        events = await server.record()
    assert events[-1]["event"] == "call_ended"
    assert any("another call than the token" in line for line in lines.bad)
