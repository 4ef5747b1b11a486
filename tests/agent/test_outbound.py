"""Who may be called, and what is dialled: nothing, unless every check has passed."""

import ast
import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from fastapi import FastAPI

from agent.outbound import Outbound
from agent.outbound_api import outbound_routes
from agent.outbound_rules import OutboundError, Rules, number_of, pattern_of
from agent.provider_accounts import account_of
from frontdesk import ConfigError
from telephony.providers import PROVIDERS
from telephony.start import CallStart
from tests.telephony.fake_rest import fake_rest

OURS, THEIRS = "+15555550199", "+15555550142"
MONDAY_NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
async def rest():
    async with fake_rest() as rest:
        yield rest


class Clock:
    def __init__(self):
        self.s = 0.0
        self.today = MONDAY_NOON


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def outbound(settings, monkeypatch, rest, clock):
    """``outbound(allow=[…], …)``: on Twilio, its REST interface a fake."""
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "secret")

    def make(free=lambda: 10, **chosen):
        twilio = {"enabled": True, "account": "AC1", "number": OURS, "api_url": rest.url}
        return Outbound(
            settings(
                providers={"twilio": twilio},
                server={"public_url": "https://agent.example/"},
                outbound={"enabled": True, "allow": ["+1555555*"], **chosen},
            ),
            free=free,
            seconds=lambda: clock.s,
            today=lambda: clock.today,
        )

    return make


def begun(call_id="CA" + "1" * 32, caller=OURS, called=THEIRS):
    return CallStart(call_id, "MZ1", caller=caller, called=called)


async def refused(outbound, to=THEIRS, say=""):
    with pytest.raises(OutboundError) as error:
        await outbound.place(to, say)
    return error.value


async def test_a_call_is_dialled_and_known_again_when_it_is_answered(outbound, rest):
    outbound = outbound()
    placed = await outbound.place("+1 (555) 555-0142", "Your forms are ready.")
    (asked,) = rest.asked
    assert asked.body == {"To": THEIRS, "From": OURS, "Url": "https://agent.example/twilio/voice"}
    assert placed.call_id == "CA" + "1" * 32
    assert outbound.find(placed.id).state == "ringing"
    outgoing = outbound.answered(begun())
    assert outgoing.greeting.text.endswith("calling you back. Your forms are ready.")
    assert outgoing.message.text.endswith("Your forms are ready. Please call us again when it "
                                          "suits you. Goodbye.")  # fmt: skip
    assert outbound.find(placed.id).state == "answered"
    assert outbound.answered(begun()) is None  # once


DIALS = [name for name, kind in PROVIDERS.items() if kind.capabilities.dials]


@pytest.fixture(scope="module")
def private_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize("name", DIALS)
async def test_every_provider_that_dials_can_call_back(
    settings, monkeypatch, rest, private_key, name
):
    for variable in (PROVIDERS[name].secrets.secret, PROVIDERS[name].secrets.api_key):
        monkeypatch.setenv(variable or "UNUSED", private_key if name == "vonage" else "c2VjcmV0")
    account = {
        "enabled": True,
        "account": "AC1",
        "number": OURS,
        "api_url": rest.url,
        "options": dict.fromkeys(PROVIDERS[name].options, "app"),
    }
    chosen = settings(
        providers={name: account},
        server={"public_url": "https://agent.example"},
        outbound={"enabled": True, "allow": [THEIRS], "wire": name, "hours": []},
    )
    kind = PROVIDERS[name]
    outbound = Outbound(chosen, {name: kind(account_of(chosen, kind))})
    placed = await outbound.place(THEIRS)
    (asked,) = rest.asked
    assert (asked.what, asked.provider, rest.strange) == ("dial", name, [])
    assert placed.call_id
    assert outbound.is_expected(placed.call_id, "", "")


@pytest.mark.parametrize(
    ("start", "ours"),
    [
        (begun(call_id="another-id"), True),  # Plivo gives a call two ids
        (begun(call_id="another-id", called="15555550142"), True),
        (begun(call_id="another-id", caller="+15555550100"), False),
        (begun(call_id="another-id", called="+15555550143"), False),
        (begun(call_id="another-id", caller="", called=""), False),
    ],
)
async def test_only_a_call_that_we_placed_is_taken_for_one(outbound, start, ours):
    outbound = outbound()
    await outbound.place(THEIRS)
    assert outbound.is_expected(start.call_id, start.caller, start.called) is ours
    assert (outbound.answered(start) is not None) is ours


async def test_what_rang_too_long_was_not_answered(outbound, clock):
    outbound = outbound(ring_s=60)
    placed = await outbound.place(THEIRS)
    assert (await refused(outbound)).status == 409
    clock.s = 60
    assert outbound.find(placed.id).state == "not answered"
    assert outbound.answered(begun()) is None


@pytest.mark.parametrize(
    ("chosen", "to", "status", "hint"),
    [
        ({"enabled": False}, THEIRS, 403, "enabled = true"),
        ({"allow": []}, THEIRS, 403, "outbound.allow"),
        ({"allow": ["+15555550143", "+155555502*"]}, THEIRS, 403, "outbound.allow"),
        ({}, OURS, 403, "our own number"),
        ({"hours": ["sat 09:00-18:00"]}, THEIRS, 403, "outbound.hours"),
        ({}, "112", 400, "international form"),
        ({}, "+0123456789", 400, "international form"),
        ({}, "+15555550142;ext=1", 400, "international form"),
        ({}, "sip:+15555550142@elsewhere.example", 400, "international form"),
        ({}, "+1555555014２", 400, "international form"),
        ({"wire": "sip"}, THEIRS, 503, "sip.listen"),
    ],
)
async def test_nothing_is_dialled_that_is_not_allowed(outbound, rest, chosen, to, status, hint):
    error = await refused(outbound(**chosen), to)
    assert error.status == status
    assert hint in str(error)
    assert rest.asked == rest.strange == []


async def test_busy_lines_and_odd_sentences_dial_nothing(outbound, rest):
    assert (await refused(outbound(free=lambda: 0))).status == 503
    assert (await refused(outbound(), say="x" * 301)).status == 400
    assert (await refused(outbound(), say="as [kb-hours] says")).status == 400
    assert rest.asked == []


async def test_a_line_is_kept_for_each_call_that_rings(outbound, rest):
    outbound = outbound(free=lambda: 1)
    await outbound.place(THEIRS)
    assert (await refused(outbound, "+15555550143")).status == 503
    assert len(rest.asked) == 1


async def test_no_more_than_so_many_calls(outbound, rest, clock):
    outbound = outbound(max_per_hour=3, max_attempts=2, ring_s=1)
    for _ in range(2):
        await outbound.place(THEIRS)
        clock.s += 2
    assert "max_attempts" in str(await refused(outbound))
    await outbound.place("+15555550143")
    assert "max_per_hour" in str(await refused(outbound, "+15555550144"))
    clock.s += 3600
    await outbound.place("+15555550144")
    assert "max_attempts" in str(await refused(outbound))
    clock.s += 24 * 3600
    await outbound.place(THEIRS)
    assert len(rest.asked) == 5


@pytest.mark.parametrize("mode", ["500", "over", "closes", "garbage"])
async def test_a_provider_that_refuses_is_one_line_and_counts(outbound, rest, lines, mode):
    rest.mode = mode
    outbound = outbound(max_attempts=1)
    error = await refused(outbound)
    assert error.status == 502
    assert "EVIL" not in str(error)
    assert (await refused(outbound)).status == 429
    assert lines.bad
    assert not any("5555550142" in line or "EVIL" in line for _, line in lines.all)


async def test_a_wire_that_tells_only_of_the_answer_is_not_waited_for(outbound, monkeypatch):
    """SIP: the call's id is known once it is answered, and the call begins there and then."""
    monkeypatch.setattr("agent.outbound.TAKEN_ON_S", 0.0)
    outbound, picked_up, known = outbound(wire="sip"), asyncio.Event(), asyncio.Event()

    async def dial(number):
        await picked_up.wait()
        asyncio.get_running_loop().call_soon(known.set)
        return "SI1"

    outbound.dialers["sip"] = dial
    placed = await outbound.place(THEIRS)
    assert (placed.state, placed.call_id) == ("ringing", "")
    picked_up.set()
    await known.wait()
    assert outbound.answered(begun("SI1", caller="frontdesk")) is not None
    assert outbound.find(placed.id).state == "answered"


@pytest.mark.parametrize(
    ("pattern", "number", "matches"),
    [
        ("+15555550142", "+15555550142", True),
        ("+15555550142", "+155555501420", False),
        ("+1555555*", "+15555550142", True),
        ("+1555555*", "+1555", False),
        ("+155555501??", "+15555550142", True),
        ("+155555501??", "+155555501421", False),
    ],
)
def test_patterns(pattern, number, matches):
    assert bool(pattern_of(pattern).fullmatch(number)) is matches


@pytest.mark.parametrize("pattern", ["*", "+*", "", "5555550142", "+1555*5", "+1.*", "+1" * 30])
def test_a_pattern_that_cannot_be_meant_is_an_error(settings, pattern):
    with pytest.raises(ConfigError, match=r"outbound\.allow"):
        settings(outbound={"allow": [pattern]})


def test_rules_forget_what_is_a_day_old():
    rules = Rules(["+1*"], [], per_hour=100, per_number=1)
    rules.count(THEIRS, 0.0)
    with pytest.raises(OutboundError):
        rules.check(THEIRS, 86_399.0)
    rules.check(THEIRS, 86_400.0)
    assert number_of(" +1-555-555-0142 ") == THEIRS


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"providers": {"twilio": {"enabled": False}}}, "providers.twilio.enabled"),
        ({"providers": {"twilio": {"enabled": True}}}, "providers.twilio.number"),
        ({"server": {"public_url": ""}}, "server.public_url"),
        ({"outbound": {"enabled": True, "wire": "genesys"}}, "another outbound.wire"),
        ({"outbound": {"enabled": True, "wire": "twillio"}}, "no outbound.wire"),
    ],
)
def test_half_a_configuration_is_an_error_at_the_start(settings, monkeypatch, change, hint):
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "secret")
    whole = {
        "providers": {"twilio": {"enabled": True, "account": "AC1", "number": OURS}},
        "server": {"public_url": "https://agent.example"},
        "outbound": {"enabled": True},
    }
    Outbound(settings(**whole))
    with pytest.raises(ConfigError, match=re.escape(hint)):
        Outbound(settings(**{**whole, **change}))


@pytest.fixture
def api(outbound):
    """A client of the routes; requests with the header ``key: ours`` are let in."""

    def make(**chosen):
        app = FastAPI()
        app.include_router(
            outbound_routes(
                outbound(**chosen), lambda request: request.headers.get("key") == "ours"
            )
        )
        transport = httpx.ASGITransport(app=app)
        return httpx.AsyncClient(transport=transport, base_url="http://agent")

    return make


KEY = {"key": "ours"}


async def test_a_call_is_asked_for_with_the_key_only(api, rest):
    async with api() as client:
        asked = {"to": THEIRS}
        for headers in ({}, {"key": "theirs"}):
            assert (await client.post("/outbound", json=asked, headers=headers)).status_code == 403
            assert (await client.get("/outbound/x", headers=headers)).status_code == 403
        assert rest.asked == []
        placed = await client.post("/outbound", json=asked, headers=KEY)
        assert placed.status_code == 202
        found = await client.get(f"/outbound/{placed.json()['id']}", headers=KEY)
        assert found.json() == placed.json()
        assert found.json()["state"] == "ringing"
        assert (await client.get("/outbound/none", headers=KEY)).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[[[[", 400),
        (b"[1]", 400),
        (b'{"to": 15555550142}', 400),
        (b'{"to": "+15555550142", "say": 1}', 400),
        (b'{"to": "' + b"+" * 5000 + b'"}', 413),
        (b'{"to": "\xff"}', 400),
    ],
)
async def test_odd_requests_dial_nothing(api, rest, body, status):
    async with api() as client:
        answer = await client.post("/outbound", content=body, headers=KEY)
    assert answer.status_code == status
    assert "problem" in answer.json()
    assert rest.asked == []


async def test_off_it_says_how_to_turn_it_on(api):
    async with api(enabled=False) as client:
        answer = await client.post("/outbound", json={"to": THEIRS}, headers=KEY)
    assert answer.status_code == 403
    assert "enabled = true" in answer.json()["problem"]


def test_nothing_else_places_a_call():
    """No caller, transcript, document or model leads to a dial: one route alone does."""
    places = [
        path.name
        for path in (ROOT / "agent").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "place"
    ]
    assert places == ["outbound_api.py"]


def test_the_command_without_an_agent_says_what_to_do(command):
    code, out, err = command("callback", THEIRS)
    assert (code, out) == (2, "")
    assert "frontdesk serve" in err
