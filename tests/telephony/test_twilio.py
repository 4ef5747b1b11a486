"""TwiML and the strict serializer, without a socket."""

import base64
import json
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)

from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.provider import Account
from telephony.providers.twilio import Twilio
from telephony.providers.twilio_serializer import TwilioSerializer
from telephony.providers.xml_calls import stream, xml
from telephony.start import CallStart
from tests.telephony.listening import Heard

CALL = CallStart("CA1", "MZ1", "AC1")


def serializer():
    return TwilioSerializer(CALL, Heard())


def media(payload="/38=", **fields):
    return json.dumps(
        {"event": "media", "streamSid": "MZ1", "media": {"payload": payload, **fields}}
    )


# TwiML


def test_twiml_survives_what_a_caller_sends():
    odd = {'na"me': "a\"b<c>&'d\n\x00\x0b\ufffe\ud800é", "caller": "+15555550100"}
    root = ElementTree.fromstring(xml(stream("wss://h.example/m?a=1&b=<2>", odd)).body)
    assert root.tag == "Response"
    (found,) = root.findall("./Connect/Stream")
    assert found.get("url") == "wss://h.example/m?a=1&b=<2>"
    given = {p.get("name"): p.get("value") for p in found}
    assert given == {'na"me': "a\"b<c>&'d\né", "caller": "+15555550100"}


def test_twiml_without_parameters():
    root = ElementTree.fromstring(xml(stream("ws://h/m", {})).body)
    assert len(root.find("./Connect/Stream")) == 0


def test_a_refusal_says_its_sentence_and_hangs_up():
    root = ElementTree.fromstring(Twilio(Account()).refuse("Busy <now> & then.").body)
    assert [(e.tag, e.text) for e in root] == [("Say", "Busy <now> & then."), ("Hangup", None)]


def test_parameters_stay_out_of_repr():
    assert "secret" not in repr(CallStart("CA1", "MZ1", parameters={"token": "secret"}))


# In


async def test_media_becomes_linear_audio():
    pcm = np.array([0, 1000, -1000, 32000], np.int16)
    frame = await serializer().deserialize(media(base64.b64encode(ulaw_encode(pcm)).decode()))
    assert isinstance(frame, InputAudioRawFrame)
    assert (frame.sample_rate, frame.num_channels) == (8000, 1)
    assert frame.audio == ulaw_decode(ulaw_encode(pcm)).tobytes()


async def test_lost_frames_are_made_up_for():
    made, frame = serializer(), np.arange(-80, 80, dtype=np.int16) * 100
    payload = base64.b64encode(ulaw_encode(frame)).decode()
    lengths, heard = [], b""
    for stamp in ("0", "20", 60, "1060", None, "soon", "NaN", "1e999", [], "1080"):
        fields = {} if stamp is None else {"timestamp": stamp}
        frame = await made.deserialize(media(payload, **fields))
        lengths.append(len(frame.audio) // 16)
        heard = heard or (frame.audio if lengths[-1] == 40 else b"")
    assert lengths == [20, 20, 40, 80, 20, 20, 20, 20, 20, 20]
    assert heard == 2 * ulaw_decode(base64.b64decode(payload)).tobytes()


async def test_keys_and_what_is_ignored():
    made = serializer()
    dtmf = {"event": "dtmf", "streamSid": "MZ1", "dtmf": {"digit": "#"}}
    frame = await made.deserialize(json.dumps(dtmf))
    assert isinstance(frame, InputDTMFFrame)
    assert frame.button == "#"
    dtmf["dtmf"]["digit"] = "A"
    assert await made.deserialize(json.dumps(dtmf)) is None
    assert await made.deserialize('{"event":"something new"}') is None
    assert await made.deserialize(media(track="outbound")) is None
    assert await made.deserialize(media(payload="")) is None
    assert made.error is None


async def test_marks_and_stop_reach_the_listener():
    made = serializer()
    await made.deserialize(json.dumps(made.mark("greeting")))
    assert not made.stopped
    await made.deserialize('{"event":"stop","streamSid":"MZ1","stop":{}}')
    assert made.stopped
    assert await made.deserialize(media()) is None
    assert made.listener.marks == ["greeting"]
    assert made.listener.gone_cleanly == [True]


BROKEN = {
    "binary": (b"\xff" * 160, "binary message where text is due"),
    "empty": ("", "malformed JSON message"),
    "cut short": (media()[:-1], "malformed JSON message"),
    "deep": ("[" * 60_000, "malformed JSON message"),
    "long number": ("9" * 5000, "malformed JSON message"),
    "null": ("null", "JSON message is not an object"),
    "number": ("3", "JSON message is not an object"),
    "list": ("[]", "JSON message is not an object"),
    "no event": ("{}", "message without an event name"),
    "event is a list": ('{"event":["media"]}', "message without an event name"),
    "second start": ('{"event":"start","streamSid":"MZ1"}', "second start message"),
    "second connected": ('{"event":"connected"}', "second connected message"),
    "oversized": (media("A" * 65_536), "oversized message (the limit is 65536 bytes)"),
    "oversized in bytes": ("é" * 40_000, "oversized message (the limit is 65536 bytes)"),
    "other stream": ('{"event":"media","streamSid":"MZ2"}', "media message of another stream"),
    "no stream": ('{"event":"stop"}', "stop message of another stream"),
    "no media": (
        '{"event":"media","streamSid":"MZ1"}',
        "media message without its media object",
    ),
    "media is null": (
        '{"event":"media","streamSid":"MZ1","media":null}',
        "media message without its media object",
    ),
    "payload is null": (media(None), "media message without a payload"),
    "payload is a list": (media([1]), "media message without a payload"),
    "not base64": (media("ab!d"), "media payload is not base64"),
    "not base64 but whole without it": (media("/!/!8!=!"), "media payload is not base64"),
    "bad padding": (media("abc"), "media payload is not base64"),
    "not ascii": (media("éééé"), "media payload is not base64"),
    "long payload": (
        media(base64.b64encode(b"\xff" * 8001).decode()),
        "media payload of over 8000 bytes",
    ),
    "digit is a dict": (
        '{"event":"dtmf","streamSid":"MZ1","dtmf":{"digit":{}}}',
        "dtmf message without a digit",
    ),
    "mark is a string": (
        '{"event":"mark","streamSid":"MZ1","mark":"m"}',
        "mark message without its mark object",
    ),
    "mark name is a number": (
        '{"event":"mark","streamSid":"MZ1","mark":{"name":1}}',
        "mark message without a name",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_what_breaks_the_protocol_is_one_wire_error(case):
    data, line = BROKEN[case]
    made = serializer()
    assert await made.deserialize(data) is None
    assert str(made.error) == line
    await made.deserialize(data)
    assert made.listener.errors == [made.error], "a second error is not reported"
    assert await made.deserialize(media()) is None, "nothing is heard after an error"


def _anything(rng, depth=0):
    """A random JSON value, often with the protocol's own words in it."""
    kinds = ["null", "bool", "int", "float", "str", "word"]
    kind = rng.choice(kinds if depth > 3 else [*kinds, "list", "dict", "dict"])
    words = ["media", "payload", "event", "streamSid", "MZ1", "start", "stop", "mark", "name",
             "dtmf", "digit", "track", "inbound", "//8=", "connected"]  # fmt: skip
    if kind == "list":
        return [_anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == "dict":
        return {rng.choice(words): _anything(rng, depth + 1) for _ in range(rng.randrange(5))}
    return {
        "null": None,
        "bool": rng.random() < 0.5,
        "int": rng.randrange(-(10**20), 10**20),
        "float": rng.choice([0.0, -1.5, float("inf"), float("nan")]),
        "str": "".join(chr(rng.choice([0, 34, 92, 233, 0x2028, 0xD800, 0x1F600])) for _ in "abc"),
        "word": rng.choice(words),
    }[kind]


def _mutated(rng, text):
    """``text`` with a few characters dropped, doubled or changed."""
    for _ in range(rng.randrange(1, 4)):
        i = rng.randrange(len(text))
        text = text[:i] + rng.choice(["", text[i] * 2, chr(rng.randrange(128))]) + text[i + 1 :]
    return text


async def test_no_json_at_all_gets_past_as_another_exception():
    rng = random.Random(20)
    outcomes = {"frame": 0, "ignored": 0, "refused": 0}
    made = serializer()
    for _ in range(6000):
        if rng.random() < 0.5:
            data = _mutated(rng, media(track="inbound"))
        else:
            message = {"event": rng.choice(["media", "mark", "dtmf", "x"]), "streamSid": "MZ1"}
            noise = _anything(rng)
            message |= noise if isinstance(noise, dict) else {message["event"]: noise}
            data = json.dumps(message)
        frame = await made.deserialize(data)
        if made.error:
            outcomes["refused"] += 1
            made = serializer()
        else:
            outcomes["frame" if frame else "ignored"] += 1
            made.stopped = False
    assert min(outcomes.values()) > 100, outcomes


# Out


async def test_audio_goes_out_as_twilio_expects():
    pcm = np.arange(-3200, 3200, 20).astype(np.int16)
    frame = OutputAudioRawFrame(audio=pcm.tobytes(), sample_rate=8000, num_channels=1)
    message = json.loads(await serializer().serialize(frame))
    payload = base64.b64encode(ulaw_encode(pcm)).decode()
    assert message == {"event": "media", "streamSid": "MZ1", "media": {"payload": payload}}


async def test_clear_marks_and_nothing_for_the_rest():
    made = serializer()
    assert json.loads(await made.serialize(InterruptionFrame())) == {
        "event": "clear",
        "streamSid": "MZ1",
    }
    mark = OutputTransportMessageFrame(message=made.mark("m"))
    assert json.loads(await made.serialize(mark)) == {
        "event": "mark",
        "streamSid": "MZ1",
        "mark": {"name": "m"},
    }
    assert await made.serialize(EndFrame()) is None
    assert await made.serialize(OutputAudioRawFrame(b"", 8000, 1)) is None
