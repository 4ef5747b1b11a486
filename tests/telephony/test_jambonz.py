"""jambonz: signed webhooks, verbs, the socket's first message, marks, REST."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)

from frontdesk import ForbiddenError, TransferError, WireError
from telephony.far_end import Clear, Mark
from telephony.far_ends.jambonz import JambonzFarEnd
from telephony.provider import Account, Incoming, Webhook
from telephony.providers.jambonz import Jambonz
from telephony.providers.jambonz_serializer import JambonzSerializer
from telephony.start import CallStart
from tests.telephony.listening import Heard
from tests.telephony.open_wire import open_wire
from tests.telephony.rest_server import RestServer
from tests.telephony.signing_json import ACCOUNTS, SECRET, jambonz

URL = "https://agent.example/jambonz/voice"
NOW = 1_800_000_000
CALL = {
    "call_sid": "c-1",
    "account_sid": "acc-1",
    "from": "+15555550100",
    "to": "+15555550199",
    "call_status": "trying",
}


def provider(**fields):
    return Jambonz(replace(ACCOUNTS["jambonz"], **fields), clock=lambda: NOW)


def signed(fields=CALL, **options):
    return jambonz(URL, fields, **{"now": NOW, **options})


def refused(hook, **fields):
    with pytest.raises(ForbiddenError) as caught:
        provider(**fields).check(hook)
    return str(caught.value)


def with_header(value):
    return replace(signed(), headers={"jambonz-signature": value})


# Signatures


def test_a_signed_webhook_is_taken_and_names_its_call():
    hook = signed()
    provider().check(hook)
    assert provider().incoming(hook) == Incoming("c-1", "+15555550100", "+15555550199")


def test_one_right_code_of_several_is_enough():
    stamp, _, code = signed().headers["jambonz-signature"].partition(",")
    provider().check(with_header(f"{stamp}, v1={'0' * 64}, {code}, v0=old"))


FORGED = {
    "another secret": signed(secret="another"),
    "an empty secret": signed(secret=""),
    "too old": signed(now=NOW - 301),
    "from the future": signed(now=NOW + 301),
    "another account": signed({**CALL, "account_sid": "acc-2"}),
    "no account": signed({"call_sid": "c-1"}),
    "another body": replace(signed(), body=json.dumps({**CALL, "from": "1"}).encode()),
    "no body": replace(signed(), body=b""),
    "no header": replace(signed(), headers={}),
    "an empty header": with_header(""),
    "no time": with_header("v1=" + "0" * 64),
    "two times": with_header(f"t={NOW},t={NOW},v1=" + "0" * 64),
    "no code": with_header(f"t={NOW}"),
    "another scheme": with_header(signed().headers["jambonz-signature"].replace("v1", "v0")),
    "time moved on": with_header(
        signed(now=NOW - 400).headers["jambonz-signature"].replace(str(NOW - 400), str(NOW))
    ),
    "time is text": with_header("t=now,v1=00"),
    "time is negative": with_header("t=-1,v1=00"),
    "time is another's digits": with_header("t=٣,v1=00"),
    "time is endless": with_header("t=" + "9" * 500 + ",v1=00"),
    "code of other letters": with_header(f"t={NOW},v1=é"),
    "very long": with_header("t=1," * 1000),
}


@pytest.mark.parametrize("how", FORGED)
def test_what_jambonz_did_not_sign_is_refused(how):
    line = refused(FORGED[how])
    assert "\n" not in line
    assert SECRET not in line


def test_a_signature_counts_once():
    door, hook = provider(), signed()
    door.check(hook)
    for url in (URL, "https://agent.example/jambonz/return/token"):
        with pytest.raises(ForbiddenError, match="second time"):
            door.check(replace(hook, url=url))


def test_no_secret_lets_nobody_in():
    refused(signed(secret=""), secret="")


# Verbs


def verbs(answer):
    assert answer.media_type == "application/json"
    return json.loads(answer.body)


def test_the_answer_streams_both_ways_and_hangs_up_behind_that():
    stream, last = verbs(provider().connect("wss://h/m", Incoming("c-1", "", "")))
    assert stream == {
        "verb": "listen",
        "url": "wss://h/m",
        "mixType": "mono",
        "sampleRate": 8000,
        "passDtmf": True,
        "bidirectionalAudio": {"enabled": True, "streaming": True, "sampleRate": 8000},
    }
    assert last == {"verb": "hangup"}


def test_refusals_whispers_and_ends():
    hangup = {"verb": "hangup"}
    assert verbs(provider().refuse("Busy.")) == [{"verb": "say", "text": "Busy."}, hangup]
    assert verbs(provider().whisper("Ann asks.")) == [{"verb": "say", "text": "Ann asks."}]
    assert verbs(provider().hung_up()) == [hangup]


def test_a_far_end_takes_no_stream_that_jambonz_would_not_play():
    for verb in (
        {"verb": "hangup"},
        {"verb": "listen", "url": "wss://h"},
        {"verb": "listen", "url": "wss://h", "bidirectionalAudio": {"streaming": True}},
    ):
        with pytest.raises(WireError):
            JambonzFarEnd("c-1").dialled(json.dumps([verb]))


# The socket


@pytest.mark.parametrize(
    ("name", "value"), [("sampleRate", 16000), ("sampleRate", None), ("mixType", "stereo")]
)
async def test_a_stream_of_another_kind_is_refused(serve, name, value):
    first = json.loads(JambonzFarEnd("c-1").begin({})[0])
    async with open_wire(serve, provider(), [json.dumps({**first, name: value})]) as wire:
        assert str(wire.refused).startswith(f"a first message whose {name} is not")


async def test_the_subprotocol_is_agreed_on(serve):
    far_end = JambonzFarEnd("c-1")
    async with open_wire(serve, provider(), far_end.begin({})) as wire:
        assert wire._client.subprotocol == "audio.jambonz.org"
        assert far_end.socket("ws://h").subprotocols == ("audio.jambonz.org",)


def serializer():
    return JambonzSerializer(CallStart("c-1", "c-1"), Heard())


async def test_audio_passes_both_ways_as_it_is():
    made, samples = serializer(), np.arange(-160, 160, dtype=np.int16)
    frame = await made.deserialize(samples.astype("<i2").tobytes())
    assert isinstance(frame, InputAudioRawFrame)
    assert frame.audio == samples.tobytes()
    out = OutputAudioRawFrame(samples.tobytes(), 8000, 1)
    assert await made.serialize(out) == samples.astype("<i2").tobytes()
    assert await made.serialize(EndFrame()) is None
    for data in (b"odd", bytes(16002)):
        made = serializer()
        assert await made.deserialize(data) is None
        assert made.error is not None


async def test_an_interruption_drops_the_audio_and_then_the_marks():
    made, far_end, sent = serializer(), JambonzFarEnd("c-1"), []

    async def send(message):
        sent.append(message)

    made.send = send
    sent.append(await made.serialize(OutputTransportMessageFrame(made.mark("m1"))))
    sent.append(await made.serialize(InterruptionFrame()))
    assert [asked for one in sent for asked in far_end.read(one)] == [Mark("m1"), Clear()]
    assert [json.loads(one)["type"] for one in sent] == ["mark", "killAudio", "clearMarks"]
    for message in (*far_end.cleared(["m1"]), *far_end.played(["m2"])):
        await made.deserialize(message)
    assert made.listener.marks == ["m1", "m2"]


# REST


@pytest.fixture
async def rest():
    async with RestServer() as server:
        yield server


def account(rest):
    return Account(id="acc-1", api_key="key", api_url=rest.url, number="+15555550199")


async def test_a_transfer_asks_us_whom_to_dial_and_tells_us_its_end(rest):
    at, then = Jambonz(account(rest)), "https://h/jambonz/return/token"
    rest.answer = (202, {})
    await at.transfer(
        CallStart("c-1", "c-1"), "+15555550150", summary="s", whisper="https://h/w?a=1", then=then
    )
    (asked,) = rest.asked
    assert (asked.method, asked.path) == ("PUT", "/v1/Accounts/acc-1/Calls/c-1")
    assert asked.headers["authorization"] == "Bearer key"
    hook = asked.json["call_hook"]
    assert hook["method"] == "POST"
    assert urlsplit(hook["url"])._replace(query="").geturl() == then

    query = {name: values[0] for name, values in parse_qs(urlsplit(hook["url"]).query).items()}
    first = Webhook("POST", hook["url"], {}, form=query, json=CALL)
    assert verbs(at.meanwhile(first)) == [
        {
            "verb": "dial",
            "target": [{"type": "phone", "number": "+15555550150"}],
            "timeout": 20,
            "actionHook": then,
            "callerId": "+15555550199",
            "confirmHook": "https://h/w?a=1",
        }
    ]
    for status, through in (("completed", True), ("busy", False), ("no-answer", False)):
        last = Webhook("POST", then, {}, json={**CALL, "dial_call_status": status})
        assert at.meanwhile(last) is None
        assert at.transferred(last) is through


@pytest.mark.parametrize(
    ("status", "code", "problem"),
    [
        ("busy", 486, "busy"),
        ("no-answer", 487, "no answer"),
        ("failed", 603, "refused"),
        ("failed", 404, "unreachable"),
        ("failed", [], "unreachable"),
        ({}, None, "no answer"),
    ],
)
def test_why_nobody_was_reached(status, code, problem):
    told = {"dial_call_status": status, "dial_sip_status": code}
    assert provider().transfer_problem(Webhook("POST", URL, {}, json=told)) == problem


async def test_sip_addresses_and_no_whisper(rest):
    at = Jambonz(account(rest))
    await at.transfer(
        CallStart("c-1", "c-1"), "sip:desk@pbx.example", summary="", whisper="", then="https://h/t"
    )
    hook = Webhook("POST", rest.asked[0].json["call_hook"]["url"], {})
    (dial,) = verbs(at.meanwhile(hook))
    assert dial["target"] == [{"type": "sip", "sipUri": "sip:desk@pbx.example"}]
    assert "confirmHook" not in dial


async def test_hang_up_and_dial_by_rest(rest):
    at = Jambonz(account(rest))
    for status in (202, 404):
        rest.answer = (status, {})
        await at.hang_up(CallStart("c-1", "c-1"))
    rest.answer = (201, {"sid": "new-1"})
    assert await at.dial("+15555550150", answered="https://h/a") == "new-1"
    hung, again, dialled = rest.asked
    assert hung.json == again.json == {"call_status": "completed"}
    assert dialled.path == "/v1/Accounts/acc-1/Calls"
    assert dialled.json["to"] == {"type": "phone", "number": "+15555550150"}
    assert dialled.json["call_hook"] == {"url": "https://h/a", "method": "POST"}


@pytest.mark.parametrize(
    ("status", "problem"), [(404, "failed"), (400, "refused"), (500, "refused")]
)
async def test_a_transfer_that_jambonz_does_not_take_on(rest, status, problem):
    rest.answer = (status, {})
    with pytest.raises(TransferError) as caught:
        await Jambonz(account(rest)).transfer(
            CallStart("c-1", "c-1"), "+15555550150", summary="", whisper="", then="https://h/t"
        )
    assert caught.value.problem == problem


async def test_without_a_key_nothing_is_asked(rest):
    at = Jambonz(Account(id="acc-1", api_url=rest.url))
    await at.hang_up(CallStart("c-1", "c-1"))
    with pytest.raises(TransferError, match="no account or API key"):
        await at.transfer(CallStart("c-1", "c-1"), "1", summary="", whisper="", then="t")
    assert rest.asked == []
