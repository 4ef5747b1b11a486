"""Handing a caller over through each provider's REST interface and back, on the product's server.

Every webhook is signed as the provider signs it, every media socket has its token, and nothing is
let in by the local key: what is tried is the whole way that a real call takes.
"""

import asyncio
import json
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.etree import ElementTree

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from telephony.far_end import Mark, Media, Reply
from telephony.far_ends import FAR_ENDS
from telephony.g711 import ulaw_decode
from tests.agent.live import serving
from tests.agent.one_processor import within
from tests.telephony import signing, signing_json
from tests.telephony.fake_rest import fake_rest

pytestmark = pytest.mark.slow

DESK = "+15555550123"
BY_REST = ("jambonz", "plivo", "telnyx", "twilio", "vonage")
JSON = ("jambonz", "vonage")


class Caller:
    """A caller on the media socket that the agent's answer names."""

    def __init__(self, far_end, where):
        self.far_end, self._where = far_end, where
        self.heard, self._got = b"", asyncio.Condition()

    async def __aenter__(self):
        self._socket = await connect(
            self._where.url,
            additional_headers=self._where.headers,
            subprotocols=self._where.subprotocols or None,
            compression=None,
            proxy=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self.send(self.far_end.begin(self._where.parameters))
        return self

    async def __aexit__(self, *exc):
        await self._socket.close()
        await self._reader

    async def send(self, messages):
        for message in messages:
            await self._socket.send(message)

    async def _read(self):
        try:
            async for data in self._socket:
                for asked in self.far_end.read(data):
                    await self._take(asked)
        except ConnectionClosed:
            return

    async def _take(self, asked):
        if isinstance(asked, Media):
            async with self._got:
                self.heard += asked.payload
                self._got.notify_all()
        elif isinstance(asked, Mark):
            await self.send(self.far_end.played([asked.name]))
        elif isinstance(asked, Reply):
            await self.send(asked.messages)

    async def greeted(self):
        async with asyncio.timeout(10), self._got:
            await self._got.wait_for(lambda: any(abs(ulaw_decode(self.heard)) > 300))


class Cloud:
    """The provider: it posts signed webhooks, and does what its REST interface was asked to."""

    def __init__(self, name, server, rest):
        self.name, self.server, self.rest = name, server, rest
        self.call_id = FAR_ENDS[name].id_prefix + "1234567890abcdef1234567890abcdef"

    def far_end(self):
        return FAR_ENDS[self.name](self.call_id, caller="+15555550100", called="+15555550101")

    async def post(self, url, fields):
        """A signed webhook's answer."""
        if self.name in JSON:
            hook = getattr(signing_json, self.name)(url, fields)
            headers = {**hook.headers, "content-type": "application/json"}
        else:
            hook = signing.signed(self.name, url, fields)
            headers = {**hook.headers, "content-type": "application/x-www-form-urlencoded"}
        async with httpx.AsyncClient(trust_env=False) as client:
            body = hook.body or urlencode(fields).encode()
            return await client.request(hook.method, hook.url, content=body, headers=headers)

    async def calls(self):
        """A call comes in; the caller."""
        request = self.far_end().request()
        path, _, query = request.path.partition("?")
        fields = {**(request.form or request.json or dict(parse_qsl(query)))}
        ours = {"AccountSid": "AC1", "account_sid": "acc-1"}
        fields |= {key: value for key, value in ours.items() if key in fields}
        answer = await self.post(self.server.url + path, fields)
        assert answer.status_code == 200, answer.text
        return self.connected(answer)

    def connected(self, answer):
        far_end = self.far_end()
        return Caller(far_end, far_end.dialled(answer.text))

    async def dials(self):
        """What it was asked to dial: the number, and whom to ask what to whisper and what next."""
        body = self.rest.asked[-1].body
        if self.name in ("telnyx", "twilio"):
            return self._xml(body["Texml" if self.name == "telnyx" else "Twiml"], "url")
        if self.name == "plivo":
            answer = await self.post(body["aleg_url"], {"CallUUID": self.call_id})
            return self._xml(answer.text, "confirmSound")
        if self.name == "jambonz":
            answer = await self.post(body["call_hook"]["url"], self.fields())
            (verb,) = answer.json()
            return SimpleNamespace(
                to=verb["target"][0]["number"],
                whisper=verb.get("confirmHook", ""),
                then=verb["actionHook"],
            )
        (action,) = body["destination"]["ncco"]
        (endpoint,) = action["endpoint"]
        return SimpleNamespace(
            to="+" + endpoint["number"],
            whisper=endpoint.get("onAnswer", {}).get("url", ""),
            then=action["eventUrl"][0],
        )

    def _xml(self, text, whisper):
        dial = ElementTree.fromstring(text).find("Dial")
        url = dial.get(whisper) or dial[0].get(whisper) or ""
        return SimpleNamespace(to=dial[0].text, whisper=url, then=dial.get("action"))

    def fields(self, status=""):
        """Of a webhook during the dial, or at its end."""
        account = {"AccountSid": "AC1", "CallSid": self.call_id}
        jambonz = {"call_sid": self.call_id, "account_sid": "acc-1"}
        return {
            "twilio": account | ({"DialCallStatus": status} if status else {}),
            "telnyx": account | ({"DialCallStatus": status} if status else {}),
            "plivo": {"CallUUID": self.call_id} | ({"DialStatus": status} if status else {}),
            "jambonz": jambonz | ({"dial_call_status": status} if status else {}),
            "vonage": {"uuid": self.call_id, "status": status or "ringing"},
        }[self.name]


def account_of(name, rest):
    """Its settings."""
    own = {
        "jambonz": {"account": "acc-1"},
        "vonage": {"account": "app-1", "options": {"api_key": "abcd1234"}},
    }
    return {"enabled": True, "account": "AC1", "api_url": rest.url, **own.get(name, {})}


@pytest.fixture(params=BY_REST)
async def cloud(request, settings, call_engines, monkeypatch):
    name = request.param
    for variable, value in {
        "TWILIO_AUTH_TOKEN": signing.TOKEN,
        "PLIVO_AUTH_TOKEN": signing.TOKEN,
        "TELNYX_PUBLIC_KEY": signing.public_key(signing.TELNYX_KEY),
        "TELNYX_API_KEY": "key",
        "VONAGE_SIGNATURE_SECRET": signing_json.SECRET,
        "VONAGE_PRIVATE_KEY": signing_json.private_key() if name == "vonage" else "",
        "JAMBONZ_WEBHOOK_SECRET": signing_json.SECRET,
        "JAMBONZ_API_KEY": "key",
    }.items():
        monkeypatch.setenv(variable, value)
    async with fake_rest() as rest:
        chosen = settings(
            providers={name: account_of(name, rest)},
            handover={"to": DESK},
            keys={"numbers": False},
        )
        async with serving(chosen, call_engines) as server:
            yield Cloud(name, server, rest)
    opened = [vars(one)["_rest"] for one in server.providers if "_rest" in vars(one)]
    assert [rest._client for rest in opened] == [None], "connections end with the server"


def asked_for(cloud, what):
    return [one for one in cloud.rest.asked if one.what == what]


async def asks_for_a_person(cloud, caller, times=1):
    await caller.greeted()
    await caller.send(caller.far_end.press("0"))
    await within(20, lambda: len(asked_for(cloud, "transfer")) == times)


async def test_a_caller_is_handed_over_comes_back_and_is_handed_over_again(cloud):
    async with await cloud.calls() as caller:
        await asks_for_a_person(cloud, caller)
        dial = await cloud.dials()
        assert dial.to == DESK
        assert urlsplit(dial.then).path.startswith(f"/{cloud.name}/return/")
    await cloud.server.idle()
    answer = await cloud.post(dial.then, cloud.fields("busy"))
    async with cloud.connected(answer) as caller:
        await asks_for_a_person(cloud, caller, times=2)
        dial = await cloud.dials()
    await cloud.server.idle()
    ended = await cloud.post(dial.then, cloud.fields("completed"))
    assert ended.status_code == 200
    said = ended.text if cloud.name not in JSON else json.dumps(ended.json())
    assert "Stream" not in said
    assert "listen" not in said
    assert "websocket" not in said
    first, second = cloud.server.records()
    assert [first[-1]["reason"], second[-1]["reason"]] == ["transferred", "transferred"]
    assert [one["problem"] for one in second if one["event"] == "returned"] == ["busy"]
    assert asked_for(cloud, "hangup") == [], "a caller who was handed over is not hung up"
    assert cloud.rest.strange == []


async def test_whoever_picks_up_hears_a_summary_once(cloud):
    async with await cloud.calls() as caller:
        await asks_for_a_person(cloud, caller)
        dial = await cloud.dials()
    assert dial.whisper, "no summary, where the wire can whisper"
    said = await cloud.post(dial.whisper, cloud.fields("in-progress"))
    assert said.status_code == 200
    assert "call" in said.text.lower()
    again = await cloud.post(dial.whisper, cloud.fields("in-progress"))
    assert again.status_code == 403


async def test_a_transfer_that_the_provider_refuses_leaves_the_caller_with_the_agent(cloud):
    cloud.rest.mode = "500"
    async with await cloud.calls() as caller:
        await asks_for_a_person(cloud, caller)

        def events():
            return [one["event"] for one in cloud.server.records()[0]]

        await within(20, lambda: "handover_failed" in events())
        await within(20, lambda: events().count("said") == 2)
    await cloud.server.idle()
    (record,) = cloud.server.records()
    assert [one["problem"] for one in record if one["event"] == "handover_failed"] == ["refused"]


async def test_the_agent_hangs_up_by_rest_once(cloud):
    async with await cloud.calls() as caller:
        await caller.greeted()
        await cloud.server.switchboard.stop()
    await cloud.server.idle()
    assert len(asked_for(cloud, "hangup")) == 1
    assert cloud.rest.strange == []
