"""What Telnyx, Plivo and Exotel document in several ways, or not at all."""

import base64
import json

import numpy as np
import pytest

from telephony.g711 import alaw_decode, ulaw_decode
from tests.telephony.contract import (
    ULAW,
    far_end_of,
    provider_of,
    samples_in,
    sent_frames,
    wire_of,
)
from tests.telephony.open_wire import open_wire


@pytest.mark.parametrize("name", ["exotel", "plivo", "telnyx"])
async def test_times_in_another_unit_fill_nothing(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        messages = [json.loads(one) for one in sent_frames(far_end, range(50))]
        for number, message in enumerate(messages):
            message["media"]["timestamp"] = str(number * 800)
        await wire.tell(*map(json.dumps, messages))
        assert samples_in(wire.frames) == 50 * 160


@pytest.mark.parametrize(("encoding", "decode"), [("PCMA", alaw_decode), ("PCMU", ulaw_decode)])
async def test_telnyx_audio_is_read_in_the_calls_own_law(encoding, decode, serve):
    far_end = far_end_of("telnyx", encoding=encoding)
    async with wire_of("telnyx", serve, far_end) as wire:
        assert wire.start.encoding == encoding
        (message,) = far_end.media(0, ULAW[:160])
        await wire.tell(message)
        sent = base64.b64decode(json.loads(message)["media"]["payload"])
        assert wire.frames[0].audio == decode(sent).tobytes()
        difference = decode(sent).astype(int) - ulaw_decode(ULAW[:160])
        assert np.abs(difference).max() <= 512, "the laws differ by less than a step"


async def test_exotel_at_16_khz(serve):
    begin = [json.loads(one) for one in far_end_of("exotel").begin({})]
    begin[1]["start"]["media_format"]["sample_rate"] = "16000"
    opening = [json.dumps(one) for one in begin]
    async with open_wire(serve, provider_of("exotel"), opening) as wire:
        assert wire.serializer.rate_hz == 16000
        linear = np.arange(1600, dtype="<i2")
        media = {"payload": base64.b64encode(linear.tobytes()).decode(), "timestamp": "0"}
        stream = begin[1]["stream_sid"]
        await wire.tell(json.dumps({"event": "media", "stream_sid": stream, "media": media}))
        assert wire.frames[0].audio == linear.tobytes()
        assert wire.frames[0].sample_rate == 16000


@pytest.mark.parametrize(
    ("name", "part", "field", "value"),
    [
        ("exotel", "media_format", "sample_rate", "24000"),
        ("exotel", "media_format", "encoding", "audio/x-mulaw"),
        ("plivo", "mediaFormat", "encoding", "audio/x-l16"),
        ("plivo", "mediaFormat", "sampleRate", 16000),
        ("telnyx", "media_format", "encoding", "G722"),
        ("telnyx", "media_format", "sample_rate", True),
        ("twilio", "mediaFormat", "channels", 2),
    ],
)
async def test_audio_of_another_format_is_refused(name, part, field, value, serve):
    (*opening, start) = far_end_of(name).begin({})
    message = json.loads(start)
    message["start"][part][field] = value
    async with open_wire(serve, provider_of(name), [*opening, json.dumps(message)]) as wire:
        assert wire.start is None
        assert str(wire.refused).startswith("start message")


@pytest.mark.parametrize(
    ("given", "parameters"),
    [
        ("a=1;b=2", {"a": "1", "b": "2"}),
        ("a=1,b=2", {"a": "1", "b": "2"}),
        ('{"a": "1", "X-PH-b": "2"}', {"a": "1", "b": "2"}),
        ("{}", {}),
        ("", {}),
        (None, {}),
        ({"a": "1"}, {"a": "1"}),
    ],
)
async def test_plivos_extra_headers_are_read_in_each_form(given, parameters, serve):
    (start,) = far_end_of("plivo").begin({})
    begin = json.dumps({**json.loads(start), "extra_headers": given})
    async with open_wire(serve, provider_of("plivo"), [begin]) as wire:
        assert dict(wire.start.parameters) == parameters
