"""Genesys AudioHook: signed handshakes, the opening, marks by silence, the end of a session."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import websockets
from fastapi import FastAPI, WebSocket
from pipecat.frames.frames import (
    EndFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
)

from frontdesk import ForbiddenError
from telephony.far_end import Clear, HandOver, HangUp, Mark, Media, Reply
from telephony.far_ends.genesys import GenesysFarEnd
from telephony.provider import Account, Webhook
from telephony.providers import genesys_serializer
from telephony.providers.genesys import Genesys
from telephony.providers.genesys_serializer import GenesysSerializer
from telephony.start import CallStart
from tests.telephony.listening import Heard
from tests.telephony.on_a_line import on_a_line
from tests.telephony.open_wire import open_wire
from tests.telephony.signing_json import ACCOUNTS, SECRET, genesys

URL = "wss://agent.example/genesys/media?bot=clinic&x=%20"
NOW = 1_800_000_000


def provider(now=NOW, **fields):
    return Genesys(replace(ACCOUNTS["genesys"], **fields), clock=lambda: now)


def signed(**options):
    return genesys(URL, **{"now": NOW, **options})


def changed(hook, **headers):
    kept = {**hook.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return replace(hook, headers={name: value for name, value in kept.items() if value is not ...})


def refused(hook, **fields):
    with pytest.raises(ForbiddenError) as caught:
        provider(**fields).check(hook)
    return str(caught.value)


# Signatures

# https://developer.genesys.cloud/devapps/audiohook/session-walkthrough#establishing-connection
DOCUMENTED = Webhook(
    "GET",
    "wss://audiohook.example.com/api/v1/voicebiometrics/ws",
    {
        "audiohook-organization-id": "d7934305-0972-4844-938e-9060eef73d05",
        "audiohook-session-id": "30b0e395-84d3-4570-ac13-9a62d8f514c0",
        "audiohook-correlation-id": "e160e428-53e2-487c-977d-96989bf5c99d",
        "x-api-key": "SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh",
        "signature": "sig1=:NZBwyBHRRyRoeLqy1IzOa9VYBuI8TgMFt2GRDkDuJh4=:",
        "signature-input": 'sig1=("@request-target" "@authority" "audiohook-organization-id" '
        '"audiohook-session-id" "audiohook-correlation-id" "x-api-key");'
        'keyid="SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh";nonce="VGhpc0lzQVVuaXF1ZU5vbmNl";'
        'alg="hmac-sha256";created=1641013200;expires=3282026430',
    },
)
DOCUMENTED_ACCOUNT = Account(
    secret="TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=",
    api_key="SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh",
)


def test_the_documented_handshake_is_taken():
    Genesys(DOCUMENTED_ACCOUNT, clock=lambda: 1641013205).check(DOCUMENTED)


@pytest.mark.parametrize(
    "url",
    [
        "wss://audiohook.example.com/api/v1/voicebiometrics/ws?x=1",
        "wss://audiohook.example.com/api/v1/voicebiometrics",
        "wss://other.example.com/api/v1/voicebiometrics/ws",
    ],
)
def test_it_is_for_its_own_url(url):
    with pytest.raises(ForbiddenError, match="public_url"):
        Genesys(DOCUMENTED_ACCOUNT, clock=lambda: 1641013205).check(replace(DOCUMENTED, url=url))


@pytest.mark.parametrize("url", [URL, URL.replace("/genesys", ":443/genesys")])
def test_the_port_may_be_written_or_not(url):
    provider().check(replace(signed(), url=url))


FORGED = {
    "another secret": signed(secret=base64.b64encode(b"another").decode()),
    "another key": signed(key="another"),
    "key id of another": signed(keyid="another"),
    "another organization": signed(organization="org-2"),
    "too old": signed(now=NOW - 31),
    "from the future": signed(now=NOW + 6),
    "expired": signed(expires=NOW - 6),
    "no time": signed(created=...),
    "no expiry": signed(expires=...),
    "time is text": signed(created="1800000000"),
    "no nonce": signed(nonce=...),
    "a short nonce": signed(nonce="abc"),
    "another algorithm": signed(alg="rsa-pss-sha512"),
    "no algorithm": signed(alg=...),
    "the session is not covered": signed(
        covers=["@request-target", "@authority", "audiohook-organization-id", "x-api-key"]
    ),
    "nothing is covered": signed(covers=[]),
    "another session": changed(signed(), audiohook_session_id="30b0e395"),
    "no signature": changed(signed(), signature=...),
    "no input": changed(signed(), signature_input=...),
    "nothing": Webhook("GET", URL, {}),
    "an empty signature": changed(signed(), signature="sig1=::"),
    "not base64": changed(signed(), signature="sig1=:a:"),
    "another label": changed(signed(), signature="sig2=:AAAA:"),
    "letters of all kinds": changed(signed(), signature_input="sig1=é", x_api_key="é"),
    "two signatures": changed(signed(), signature_input='sig1=();a="b", sig2=()'),
    "very long": changed(signed(), signature_input="sig1=(" + '"a" ' * 5000 + ")"),
    "said twice": signed(covers=["@authority"]),
}


@pytest.mark.parametrize("how", FORGED)
def test_what_genesys_did_not_sign_is_refused(how):
    line = refused(FORGED[how])
    assert "\n" not in line
    assert SECRET not in line


def test_a_parameter_or_component_that_is_said_twice_is_refused():
    given = signed().headers["signature-input"]
    for twice in (given + ";created=1", given.replace('("', '("x-api-key" "')):
        assert "twice" in refused(changed(signed(), signature_input=twice))


def test_a_nonce_counts_once():
    door, hook = provider(), signed(nonce="a nonce of enough letters")
    door.check(hook)
    for again in (hook, signed(nonce="a nonce of enough letters", now=NOW - 1)):
        with pytest.raises(ForbiddenError, match="second time"):
            door.check(again)


def test_a_wrong_signature_spends_no_nonce():
    door, nonce = provider(), "a nonce of enough letters"
    with pytest.raises(ForbiddenError):
        door.check(changed(signed(nonce=nonce), audiohook_session_id="other"))
    door.check(signed(nonce=nonce))


@pytest.mark.parametrize(
    "fields", [{"secret": ""}, {"secret": "not base64!"}, {"api_key": ""}], ids=str
)
def test_an_account_without_its_secrets_lets_nobody_in(fields):
    refused(signed(key=fields.get("api_key", "the-api-key")), **fields)


# The opening


def opening(far_end, **changes):
    (message,) = far_end.begin({})
    message = json.loads(message)
    return json.dumps({**message, "parameters": {**message["parameters"], **changes}})


def far_end_of(call_id="conversation-1", **options):
    return GenesysFarEnd(call_id, caller="+15555550100", called="+15555550199", **options)


async def test_the_flow_passes_variables_on(serve):
    far_end = far_end_of(variables={"returned": "busy"})
    async with open_wire(serve, provider(), far_end.begin({})) as wire:
        assert wire.start.parameters["returned"] == "busy"
        assert (wire.start.caller, wire.start.called) == ("+15555550100", "+15555550199")
        assert far_end.read(await wire._client.recv()) == []  # it takes our "opened"


STEREO = {"type": "audio", "format": "PCMU", "channels": ["external", "internal"], "rate": 8000}


@pytest.mark.parametrize(
    "media", [[], None, [STEREO], [{**STEREO, "channels": ["external"], "format": "L16"}]]
)
async def test_media_that_we_cannot_use_is_refused(serve, media):
    async with open_wire(serve, provider(), [opening(far_end_of(), media=media)]) as wire:
        assert str(wire.refused).startswith("open message that offers no")


@asynccontextmanager
async def reading(serve):
    """A server that only reads the start; it yields the port and what came of it."""
    app, came = FastAPI(), asyncio.Queue()

    @app.websocket("/media")
    async def media(socket: WebSocket):
        await socket.accept()
        try:
            came.put_nowait(await provider().read_start(socket, timeout_s=5, max_bytes=65536))
        except Exception as error:  # noqa: BLE001 - the test looks at what came
            came.put_nowait(error)

    async with serve(app) as port:
        yield f"ws://127.0.0.1:{port}/media", came


async def test_the_session_is_the_handshakes(serve):
    async with reading(serve) as (url, came):
        for header, what in (("session", "session"), ("organization", "organization")):
            far_end = far_end_of()
            headers = {**far_end.socket(url).headers, f"audiohook-{header}-id": "another"}
            async with websockets.connect(url, additional_headers=headers) as client:
                await client.send(far_end.begin({})[0])
                assert f"another {what}" in str(await asyncio.wait_for(came.get(), 5))


async def test_a_connection_probe_is_answered_and_is_no_call(serve):
    far_end = far_end_of("00000000-0000-0000-0000-000000000000")
    async with reading(serve) as (url, came), websockets.connect(url) as client:
        await client.send(far_end.begin({})[0])
        assert far_end.read(await client.recv()) == []
        await client.send(far_end._message("ping", {}))
        assert far_end.read(await client.recv()) == []
        await client.send(far_end.hang_up()[0])
        assert far_end.read(await client.recv()) == [HangUp()]
        assert str(await asyncio.wait_for(came.get(), 5)) == "connection probe: answered"


# In a session


def serializer(far_end):
    """A serializer behind the opening of ``far_end``, whose replies are kept."""
    made, sent = GenesysSerializer(CallStart("conversation-1", far_end.session), Heard()), []
    far_end.begin({})
    far_end._received = 1  # "opened"

    async def send(message):
        sent.append(message)

    made.send = send
    return made, sent


async def test_marks_come_back_when_genesys_has_played_everything():
    far_end = far_end_of()
    made, _ = serializer(far_end)
    audio = OutputAudioRawFrame(bytes(3200), 8000, 1)
    media, mark, started = far_end.read(await made.serialize(audio))
    assert media == Media(b"\xff" * 1600)
    assert isinstance(started, Reply)
    assert await made.serialize(OutputTransportMessageFrame(made.mark("m1"))) is None
    await made.deserialize(*started.messages)
    assert made.listener.marks == []
    await made.deserialize(*far_end.played([mark.name]))
    assert made.listener.marks == ["m1"]
    await made.serialize(OutputTransportMessageFrame(made.mark("m2")))
    assert made.listener.marks == ["m1", "m2"], "behind silence there is nothing to wait for"


async def test_a_barge_in_drops_the_marks():
    far_end = far_end_of()
    made, _ = serializer(far_end)
    far_end.read(await made.serialize(OutputAudioRawFrame(bytes(3200), 8000, 1)))
    await made.serialize(OutputTransportMessageFrame(made.mark("m1")))
    assert far_end.read(await made.serialize(InterruptionFrame())) == [Clear()]
    assert made.listener.marks == ["m1"]


async def test_pings_and_updates_are_answered_in_order():
    far_end = far_end_of()
    made, sent = serializer(far_end)
    for kind, answer in (("ping", "pong"), ("update", "updated"), ("ping", "pong")):
        await made.deserialize(far_end._message(kind, {}))
        assert far_end.read(sent[-1]) == []
        assert json.loads(sent[-1])["type"] == answer


async def test_a_pause_is_a_hold():
    far_end = far_end_of()
    made, _ = serializer(far_end)
    for kind in ("paused", "resumed"):
        await made.deserialize(far_end._message(kind, {}))
    assert made.listener.holds == [True, False]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"seq": 3}, "message out of sequence"),
        ({"seq": 1}, "message out of sequence"),
        ({"seq": True}, "message out of sequence"),
        ({"seq": "2"}, "message out of sequence"),
        ({"id": "other"}, "message of another session"),
        ({"type": None}, "message without a type"),
        ({"type": "open"}, "second open message"),
        ({"type": "dtmf", "parameters": []}, "parameters message without its parameters object"),
    ],
)
async def test_a_session_that_breaks_the_protocol_ends(change, line):
    far_end = far_end_of()
    made, _ = serializer(far_end)
    message = json.loads(far_end._message("ping", {}))
    assert await made.deserialize(json.dumps({**message, **change})) is None
    assert [str(error) for error in made.listener.errors] == [line]


async def test_the_callers_hang_up_is_confirmed():
    far_end = far_end_of()
    made, sent = serializer(far_end)
    await made.deserialize(far_end.hang_up()[0])
    assert far_end.read(sent[-1]) == [HangUp()]
    assert made.listener.gone_cleanly == [True]


# The end of a session, over a real socket through the product's line


@pytest.mark.parametrize("how", ["ends", "is cancelled"])
async def test_the_agents_end_is_a_disconnect_and_the_close_is_answered(serve, how):
    async with on_a_line(serve, provider(), far_end_of()) as session:
        if how == "ends":
            await session.worker.queue_frame(EndFrame())
        else:  # of a pipeline that has not begun, Pipecat only lets go
            await session.worker.queue_frame(TTSAudioRawFrame(bytes(3200), 8000, 1))
            await session.first(Media)
            await session.worker.cancel()
    assert session.of(HangUp) == [HangUp()], "close was answered by closed"
    assert session.of(HandOver) == []
    assert session.client.close_code == 1000
    assert session.heard.gone_cleanly == [], "it was us"


async def test_a_transfer_tells_the_flow_whom_to_call(serve):
    async with on_a_line(serve, provider(), far_end_of()) as session:
        await session.line.transfer("+15555550150", summary="Asks about opening hours.")
        await session.worker.queue_frame(EndFrame())
    assert session.of(HandOver) == [HandOver("+15555550150")]
    assert session.of(HangUp) == [HangUp()]
    await session.line.hang_up()  # nothing more to do


async def test_audio_goes_out_in_messages_of_200_ms(serve):
    async with on_a_line(serve, provider(), far_end_of()) as session:
        await session.worker.queue_frame(TTSAudioRawFrame(bytes(16000), 8000, 1))
        await session.worker.queue_frame(EndFrame())
    sizes = [len(one.payload) for one in session.of(Media)]
    assert sizes == [1600] * 5 + [8000], "the last is Pipecat's second of silence"
    assert len(session.of(Mark)) == len(sizes)


async def test_a_genesys_that_does_not_close_is_left(serve, monkeypatch):
    monkeypatch.setattr(genesys_serializer, "_CLOSE_WITHIN_S", 0.1)
    far_end = far_end_of()
    far_end._disconnect = lambda _: []
    async with on_a_line(serve, provider(), far_end) as session:
        await session.worker.queue_frame(EndFrame())
    assert session.of(HangUp) == []
    assert session.client.close_code == 1000
