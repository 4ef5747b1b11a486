"""What strangers learn and hold up at the front door: nothing, and nobody."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from agent import provider_door
from agent.records import CallRecord
from agent.server import listen
from frontdesk import ConfigError
from telephony import local_key
from tests.agent import knocking
from tests.agent.knocking import PUBLIC, announced, dial, new_id, post, status, where
from tests.agent.live import serving
from tests.agent.one_processor import within
from tests.agent.test_hostile_floods import answer, knock
from tests.telephony import signing
from tests.telephony.fake_rest import fake_rest

ACCOUNT = knocking.far_end("twilio").account_id
RECORDING = Path(__file__).resolve().parents[1] / "audio" / "joe" / "q001.flac"


@pytest.fixture
def calls(settings, monkeypatch):
    """Settings with Twilio enabled."""

    def make(**server):
        return settings(**knocking.enabled(monkeypatch, "twilio", **server))

    return make


async def test_the_local_key_does_not_count_through_a_proxy(calls, call_engines):
    async with serving(calls(), call_engines) as server:
        unsigned = knocking.attacks("twilio")["unsigned"]
        key = {local_key.HEADER: server.doorman.local_key}
        assert (await post(server, unsigned, key)).status_code == 200
        through = key | {"x-forwarded-for": "203.0.113.9"}
        assert (await post(server, knocking.attacks("twilio")["unsigned"], through)).is_error


async def test_a_stranger_learns_only_that_it_is_well(settings, call_engines):
    async with serving(settings(), call_engines) as server, httpx.AsyncClient() as client:
        health = await client.get(f"{server.url}/healthz")
        assert health.json() == {"status": "ok"}
        known = await client.get(f"{server.url}/healthz", headers=server.headers)
        assert known.json().items() >= {"status": "ok", "calls": 0}.items()
        assert "kb" in known.json()
        elsewhere = await client.get(f"{server.url}/twilio/voice/", headers={"host": "evil"})
        assert elsewhere.status_code == 404, "it is sent to no host that a request names"


async def test_bodies_that_do_not_arrive_keep_no_other_out(calls, call_engines, lines, monkeypatch):
    monkeypatch.setattr(provider_door, "_MAX_READING", 3)
    head = (
        b"POST /twilio/voice HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    chosen = calls(request_timeout_s=600)
    async with serving(chosen, call_engines, lines) as server, AsyncExitStack() as open_ones:
        readers = []
        for _ in range(3):
            reader, writer = await knock(server.port, head)
            readers.append(reader)
            open_ones.callback(writer.close)
        _, leaving = await knock(server.port, head)
        assert (await answer(readers[0])).startswith(b"HTTP/1.1 408"), "the oldest makes room"
        leaving.close()
        assert (await post(server, announced("twilio"))).status_code == 200
        await within(5, lambda: len(lines.bad) == 2)
    assert sorted(lines.bad) == [
        "webhook refused: a body that does not arrive",
        "webhook refused: its sender left before its end",
    ]


async def test_a_call_with_a_record_is_not_announced_again_after_a_restart(calls, call_engines):
    chosen = calls()
    old, new = new_id("twilio"), new_id("twilio")
    CallRecord(chosen.records.folder, old).close("caller hung up")
    async with serving(chosen, call_engines) as server:
        assert (await post(server, announced("twilio", old))).status_code == 403
        assert (await post(server, announced("twilio", new))).status_code == 200


async def test_a_call_that_comes_in_does_not_take_the_line_of_one_that_rings(
    settings, call_engines, lines, monkeypatch
):
    chosen = knocking.enabled(monkeypatch, "twilio", max_calls=1)
    async with fake_rest() as rest:
        ours = {"account": ACCOUNT, "number": "+15555550100", "api_url": rest.url}
        chosen["providers"]["twilio"] |= ours
        allowed = {"enabled": True, "allow": ["+1555555*"], "hours": []}
        async with serving(settings(**chosen, outbound=allowed), call_engines, lines) as server:
            outbound = server.switchboard.outbound
            placed = await outbound.place("+15555550199")
            stranger = await post(server, announced("twilio", caller="+15555550142"))
            assert "<Say>All our lines are busy." in stranger.text
            answered = await post(server, announced("twilio", placed.call_id))
            async with dial(server, where(server, "twilio", answered)) as socket:
                await socket.send(json.dumps({"event": "connected"}))
                start = {"streamSid": "MZ1", "callSid": placed.call_id}
                await socket.send(
                    json.dumps({"event": "start", "streamSid": "MZ1", "start": start})
                )
                await within(5, lambda: server.switchboard.calls)
            assert outbound.find(placed.id).state == "answered"
            await server.idle()
    assert "call refused: 0 in progress" in lines.bad


async def test_a_call_that_is_not_let_in_says_how(
    settings, call_engines, command, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    async with serving(settings(), call_engines) as server:
        code, out, _ = await asyncio.to_thread(command, "call", "--to", server.url, str(RECORDING))
    assert code == 1
    assert "call on the agent's machine, as the user who runs the agent" in out


async def test_the_same_at_once_is_let_in_once(calls, call_engines):
    async with serving(calls(), call_engines) as server:
        hook = announced("twilio")
        answers = await asyncio.gather(*(post(server, hook) for _ in range(10)))
        assert sorted(one.status_code for one in answers) == [200] + [403] * 9
        (good,) = (one for one in answers if one.status_code == 200)
        told = where(server, "twilio", good)
        found = await asyncio.gather(*(status(dial(server, told)) for _ in range(10)))
        assert sorted(found) == [101] + [403] * 9


async def test_a_token_opens_no_other_door(settings, call_engines, monkeypatch):
    chosen = settings(**knocking.enabled(monkeypatch, "twilio", "plivo"))
    async with serving(chosen, call_engines) as server:
        told = where(server, "twilio", await post(server, announced("twilio")))
        token = told.url.rpartition("/")[2]
        for door in ("return", "whisper"):
            url = f"{PUBLIC}/twilio/{door}/{token}"
            fields = {"CallSid": new_id("twilio"), "AccountSid": ACCOUNT}
            asked = signing.signed("twilio", url, fields)
            assert (await post(server, asked)).status_code == 403
        assert await status(dial(server, f"/plivo/media/{token}")) == 403
        assert await status(dial(server, f"/talk/socket/{token}")) == 403
        assert await status(dial(server, told)) == 101, "none of it has spent the token"


def test_an_address_that_is_not_ours_is_not_taken_for_a_busy_port():
    with pytest.raises(ConfigError, match=r"set server\.host to an address of this machine"):
        listen("192.0.2.1", 0)
    with listen("127.0.0.1", 0) as taken, pytest.raises(ConfigError, match="stop the other prog"):
        listen("127.0.0.1", taken.getsockname()[1])
