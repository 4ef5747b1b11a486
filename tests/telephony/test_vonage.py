"""Vonage: signed webhooks, NCCOs, the socket's first message, marks, REST."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
)
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)

from frontdesk import ConfigError, ForbiddenError, TransferError
from telephony.far_end import Media
from telephony.far_ends.vonage import VonageFarEnd
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.jwt import rs256_writer
from telephony.provider import Account, Incoming, Webhook
from telephony.providers.vonage import Vonage
from telephony.providers.vonage_serializer import VonageSerializer
from telephony.start import CallStart
from tests.telephony.listening import Heard
from tests.telephony.on_a_line import on_a_line
from tests.telephony.open_wire import open_wire
from tests.telephony.rest_server import RestServer
from tests.telephony.signing_json import ACCOUNTS, SECRET, jwt, private_key, vonage, vonage_claims

URL = "https://agent.example/vonage/voice"
NOW = 1_800_000_000
CALL = {"uuid": "aaaa-bbbb", "from": "15555550100", "to": "15555550199"}


def provider(**fields):
    return Vonage(replace(ACCOUNTS["vonage"], **fields), clock=lambda: NOW)


def signed(fields=CALL, **options):
    return vonage(URL, fields, **{"now": NOW, **options})


def refused(hook, **fields):
    with pytest.raises(ForbiddenError) as caught:
        provider(**fields).check(hook)
    return str(caught.value)


# Signatures


def test_a_signed_webhook_is_taken_and_names_its_call():
    hook = signed()
    provider().check(hook)
    assert provider().incoming(hook) == Incoming("aaaa-bbbb", "15555550100", "15555550199")


FORGED = {
    "another secret": signed(secret="another"),
    "an empty secret": signed(secret=""),
    "no algorithm": signed(header={"alg": "none"}),
    "another algorithm": signed(header={"alg": "HS512"}),
    "no issuer": signed(iss=...),
    "another application": signed(application_id="app-2"),
    "another account": signed(api_key="other"),
    "too old": signed(now=NOW - 301),
    "from the future": signed(now=NOW + 31),
    "expired": signed(exp=NOW - 31),
    "no time": signed(iat=...),
    "time is text": signed(iat="now"),
    "time is true": signed(iat=True),
    "time is endless": signed(iat=float("nan")),
    "no payload": signed(payload_hash=...),
    "payload of another kind": signed(payload_hash=[]),
    "another payload": signed(payload_hash="0" * 64),
    "no token": Webhook("POST", URL, {}, b"{}"),
    "another scheme": replace(signed(), headers={"authorization": "Basic YTpi"}),
}


@pytest.mark.parametrize("how", FORGED)
def test_what_vonage_did_not_sign_is_refused(how):
    line = refused(FORGED[how])
    assert "\n" not in line
    assert SECRET not in line


def test_a_signature_is_for_its_own_body():
    hook = signed()
    other = json.dumps({**CALL, "from": "15555550101"}).encode()
    assert refused(replace(hook, body=other)) == "a token for another payload"


def test_a_signature_counts_once():
    door, hook = provider(), signed()
    door.check(hook)
    with pytest.raises(ForbiddenError, match="second time"):
        door.check(hook)


def test_a_signature_counts_once_however_it_is_written():
    """The last letter of base64 has bits that stand for nothing."""
    door, hook = provider(), signed()
    token = hook.headers["authorization"]
    door.check(hook)
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        for again in (token[:-1] + letter, token + "=", token + " "):
            with pytest.raises(ForbiddenError):
                door.check(replace(hook, headers={"authorization": again}))


def test_no_secret_lets_nobody_in():
    refused(signed(secret=""), secret="")


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b.c", "é.é.é", "=.=.=", "a" * 9000, jwt({}), jwt([])]
)
def test_tokens_of_any_text_are_refused(token):
    refused(Webhook("POST", URL, {"authorization": f"Bearer {token}"}, b"{}"))


def test_a_get_is_bound_to_its_query():
    fields = {"from": "15555550100", "to": "15555550199", "uuid": "aaaa-bbbb"}
    payload = json.dumps(fields, separators=(",", ":")).encode()
    token = jwt(vonage_claims(payload, NOW))
    hook = Webhook("GET", URL, {"authorization": f"Bearer {token}"}, form=fields)
    provider().check(hook)
    assert provider().incoming(hook).caller == "15555550100"
    refused(replace(hook, form={**fields, "from": "15555550101"}))


# Answers


def test_the_answer_connects_the_socket_and_passes_the_numbers_on():
    answer = provider().connect("wss://h/vonage/media/t", Incoming("c-1", "15555550100", "1"))
    (action,) = json.loads(answer.body)
    assert action == {
        "action": "connect",
        "endpoint": [
            {
                "type": "websocket",
                "uri": "wss://h/vonage/media/t",
                "content-type": "audio/l16;rate=16000",
                "headers": {"call_id": "c-1", "caller": "15555550100", "called": "1"},
            }
        ],
    }
    assert answer.media_type == "application/json"


def test_sentences_are_said_as_they_are_and_never_as_markup():
    for answer in (provider().refuse("<speak>Busy</speak>"), provider().whisper("<b>")):
        (action,) = json.loads(answer.body)
        assert action["action"] == "talk"
        assert "<" not in action["text"]
    assert json.loads(provider().hung_up().body) == []


def test_a_transfer_goes_on_until_its_last_event():
    for status in ("started", "ringing", "answered", None):
        answer = provider().meanwhile(Webhook("POST", URL, {}, json={"status": status}))
        assert (answer.status, answer.body) == (204, "")
    for status, through in (("completed", True), ("busy", False), ("unanswered", False)):
        hook = Webhook("POST", URL, {}, json={"status": status})
        assert provider().meanwhile(hook) is None
        assert provider().transferred(hook) is through
    for status, problem in (("busy", "busy"), ("timeout", "no answer"), ([], "no answer")):
        hook = Webhook("POST", URL, {}, json={"status": status})
        assert provider().transfer_problem(hook) == problem


# The socket


async def test_a_stream_of_another_kind_is_refused(serve):
    far_end = VonageFarEnd("c-1")
    (first,) = far_end.begin({"content-type": "audio/l16;rate=8000"})
    async with open_wire(serve, provider(), [first]) as wire:
        assert str(wire.refused) == "a stream that is not audio/l16;rate=16000"


def serializer():
    return VonageSerializer(CallStart("c-1", "c-1"), Heard())


def sixteen(milliseconds):
    return np.arange(16 * milliseconds, dtype=np.int16)


async def test_messages_are_of_20_ms_whatever_comes():
    made = serializer()
    for milliseconds, due in ((20, 640), (40, 1280), (7, 640)):
        samples = sixteen(milliseconds)
        message = await made.serialize(OutputAudioRawFrame(samples.tobytes(), 16000, 1))
        assert len(message) == due
        assert message[: samples.nbytes] == samples.astype("<i2").tobytes()
        assert not any(message[samples.nbytes :])


async def test_audio_in_comes_as_it_is():
    made, samples = serializer(), sixteen(20)
    frame = await made.deserialize(samples.astype("<i2").tobytes())
    assert isinstance(frame, InputAudioRawFrame)
    assert (frame.audio, frame.sample_rate) == (samples.tobytes(), 16000)
    assert await made.deserialize(b"") is None
    for data, line in ((b"odd", "within a sample"), (bytes(32002), "of over 32000 bytes")):
        made = serializer()
        assert await made.deserialize(data) is None
        assert line in str(made.listener.errors[0])


async def sent(made, *names):
    for name in names:
        await made.serialize(OutputTransportMessageFrame(made.mark(name)))


async def notified(made, name):
    await made.deserialize(json.dumps({"event": "websocket:notify", "payload": {"mark": name}}))


async def test_a_clear_settles_the_marks_before_it_and_no_others():
    made = serializer()
    await sent(made, "one", "two")
    await notified(made, "one")
    assert json.loads(await made.serialize(InterruptionFrame())) == {"action": "clear"}
    await sent(made, "three")
    await made.deserialize('{"event":"websocket:cleared"}')
    assert made.listener.marks == ["one", "two"]
    await notified(made, "two")  # should Vonage return dropped ones after all
    await notified(made, "three")
    await made.deserialize('{"event":"websocket:cleared"}')  # one that we did not ask for
    assert made.listener.marks == ["one", "two", "three"]


async def test_every_message_of_a_call_is_of_20_ms(serve):
    """The far end takes no other, the silence at the end among them."""
    async with on_a_line(serve, provider(), VonageFarEnd("c-1")) as session:
        await session.worker.queue_frame(TTSAudioRawFrame(bytes(9000), 16000, 1))
        await session.worker.queue_frame(TTSStoppedFrame())
        await session.worker.queue_frame(EndFrame())
    assert session.client.close_code == 1000
    assert len(session.of(Media)) == 15 + 50


def test_the_far_end_carries_the_callers_band_both_ways():
    """A tone through both filters comes back 30 dB above what they add."""
    far_end, rate = VonageFarEnd("c-1"), 8000
    tone = 12000 * np.sin(np.arange(rate) * 2 * np.pi * 1000 / rate)
    back = b""
    for frame in range(rate // 160):
        payload = ulaw_encode(tone[frame * 160 : (frame + 1) * 160].astype(np.int16))
        (message,) = far_end.media(frame, payload)
        assert len(message) == 640
        (heard,) = far_end.read(message)
        assert isinstance(heard, Media)
        back += heard.payload
    heard = ulaw_decode(back).astype(float)[100:]
    at = np.arange(heard.size) * 2 * np.pi * 1000 / rate
    basis = np.stack([np.sin(at), np.cos(at)])
    fitted = (2 / heard.size * basis @ heard) @ basis
    assert 10 * np.log10(np.mean(fitted**2) / np.mean((heard - fitted) ** 2)) > 30


# REST


@pytest.fixture
async def rest():
    async with RestServer() as server:
        yield server


@pytest.fixture(scope="module")
def pem():
    return private_key()


def account(rest, pem):
    return Account(id="app-1", api_key=pem, api_url=rest.url, number="+15555550199")


def is_signed(request, pem):
    """Whether a request's token is ours: RS256 with the application's key."""
    token = request.headers["authorization"].removeprefix("Bearer ")
    signed, _, mac = token.rpartition(".")
    raw = [base64.urlsafe_b64decode(part + "==") for part in (*signed.split("."), mac)]
    load_pem_private_key(pem.encode(), None).public_key().verify(
        raw[2], signed.encode(), PKCS1v15(), SHA256()
    )
    claims = json.loads(raw[1])
    return json.loads(raw[0])["alg"] == "RS256" and claims["application_id"] == "app-1"


async def test_hang_up_transfer_and_dial_by_rest(rest, pem):
    at, start = Vonage(account(rest, pem)), CallStart("c-1", "c-1")
    await at.hang_up(start)
    await at.transfer(start, "+15555550150", summary="s", whisper="https://h/w", then="https://h/t")
    await at.press(start, "19#")
    rest.answer = (201, {"uuid": "new-1"})
    assert await at.dial("sip:desk@pbx.example", answered="https://h/a") == "new-1"
    hung, moved, pressed, dialled = rest.asked
    assert (pressed.path, pressed.json) == ("/v1/calls/c-1/dtmf", {"digits": "19#"})
    assert (hung.method, hung.path, hung.json) == ("PUT", "/v1/calls/c-1", {"action": "hangup"})
    assert all(is_signed(one, pem) for one in rest.asked)
    assert moved.json["action"] == "transfer"
    (action,) = moved.json["destination"]["ncco"]
    assert action["endpoint"] == [
        {"type": "phone", "number": "15555550150", "onAnswer": {"url": "https://h/w"}}
    ]
    assert (action["eventType"], action["eventUrl"]) == ("synchronous", ["https://h/t"])
    assert dialled.json["to"] == [{"type": "sip", "uri": "sip:desk@pbx.example"}]
    assert dialled.json["answer_url"] == ["https://h/a"]


@pytest.mark.parametrize(
    ("status", "problem"), [(404, "failed"), (400, "refused"), (500, "refused")]
)
async def test_a_transfer_that_vonage_does_not_take_on(rest, pem, status, problem):
    rest.answer = (status, {})
    with pytest.raises(TransferError) as caught:
        await Vonage(account(rest, pem)).transfer(
            CallStart("c-1", "c-1"), "+15555550150", summary="", whisper="", then="https://h/t"
        )
    assert caught.value.problem == problem


async def test_a_call_that_is_over_is_hung_up_all_the_same(rest, pem):
    rest.answer = (404, {})
    await Vonage(account(rest, pem)).hang_up(CallStart("c-1", "c-1"))
    assert len(rest.asked) == 1


def test_a_key_in_one_line_is_taken_and_nonsense_is_not(pem):
    write = rs256_writer(pem.replace("\n", "\\n"), "the key")
    assert write({"a": 1}).count(".") == 2
    for odd in ("", "nonsense", pem[:100]):
        with pytest.raises(ConfigError, match="the key is not a private key"):
            rs256_writer(odd, "the key")
