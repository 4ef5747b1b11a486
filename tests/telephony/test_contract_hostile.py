"""Messages that no provider sends: each ends its own call, in one line without its text."""

import base64
import json
import math
import random

import pytest
from pipecat.frames.frames import InterruptionFrame

from tests.telephony.contract import (
    MARKER,
    ULAW,
    every_provider,
    far_end_of,
    is_text,
    provider_of,
    samples_in,
    sent_frames,
    wire_of,
)
from tests.telephony.open_wire import wires


def hostile(far_end):
    """Messages that end the call, by what is wrong with them; media ones where audio is text."""
    said = {
        "not JSON": MARKER,
        "deep": "[" * 30_000,
        "deep object": '{"a":' * 10_000,
        "null": "null",
        "a list": f'["{MARKER}"]',
        "a long number": "9" * 5000,
        "huge": json.dumps({"event": "media", "x": MARKER * 8000}),
        "huge in bytes": json.dumps({"event": "é" * 40_000}, ensure_ascii=False),
        "event is an object": json.dumps({"event": {MARKER: 1}}),
    }
    begin = far_end.begin({})[-1]
    if isinstance(begin, str):
        said["second start"] = begin
    if not is_text(far_end):
        return said
    (good, *_) = sent_frames(far_end, range(5))
    said["binary"] = MARKER.encode()

    def media(payload):
        message = json.loads(good)
        message["media"]["payload"] = payload
        return json.dumps(message)

    message = json.loads(good)
    stream = next(key for key in message if key.lower().startswith("stream"))
    said["another stream"] = json.dumps({**message, stream: MARKER})
    said["no media"] = json.dumps({**message, "media": None})
    said["payload is null"] = media(None)
    said["payload is a list"] = media([MARKER])
    said["payload is not base64"] = media("!!" + MARKER)
    said["payload cut short"] = media("abc")
    said["payload of surrogates"] = media("\ud800" * 8)
    said["long payload"] = media(base64.b64encode(bytes(40_000)).decode())
    return said


@every_provider
async def test_a_hostile_message_ends_its_call_in_one_line(name, serve):
    async with wires(serve, provider_of(name)) as opened:
        for what in hostile(far_end_of(name)):
            far_end = far_end_of(name)
            async with opened(far_end.begin({})) as wire:
                data = hostile(far_end)[what]
                await wire.tell(data)
                assert len(wire.heard.errors) == 1, what
                line = str(wire.heard.errors[0])
                assert "\n" not in line
                assert len(line) < 100, what
                assert "EVIL" not in line, what
                await wire.tell(data, *sent_frames(far_end, range(5)))
                assert len(wire.heard.errors) == 1, what
                assert wire.frames == [], what
                assert await wire.said(InterruptionFrame()) == [], what


@every_provider
async def test_times_that_are_no_times_are_no_times(name, serve):
    if not is_text(far_end_of(name)):
        pytest.skip("audio in binary messages, which say nothing of time")
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        (good, *_) = sent_frames(far_end, range(5))
        for odd in (math.nan, "NaN", math.inf, "1e999", -1e300, [], {}, None, "soon", True):
            message = json.loads(good)
            message["media"]["timestamp"] = odd
            before = samples_in(wire.frames)
            await wire.tell(json.dumps(message))
            assert wire.heard.errors == []
            size = samples_in(wire.frames) - before
            assert 0 < size <= samples_in(wire.frames[:1]) + 60 * wire.serializer.rate_hz // 1000


@every_provider
async def test_a_socket_that_does_not_begin_is_refused(name, serve):
    async with wires(serve, provider_of(name)) as opened:
        for first in (MARKER, "[]", "[" * 30_000, f'{{"event": "{MARKER}"}}', '{"event": "stop"}'):
            async with opened([first]) as wire:
                assert wire.start is None
                line = str(wire.refused)
                assert line
                assert "EVIL" not in line
                assert len(line) < 120


@every_provider
async def test_a_start_with_an_odd_field_is_refused_in_one_line(name, serve):
    (*opening, start) = far_end_of(name).begin({})
    if not isinstance(start, str) or not start.startswith("{"):
        pytest.skip("the start is no JSON")
    whole = json.loads(start)
    inner = next((key for key, value in whole.items() if isinstance(value, dict)), None)
    async with wires(serve, provider_of(name)) as opened:
        for odd in ([MARKER], "\ud800" + MARKER, "x" * 70_000):
            for key in whole[inner] if inner else whole:
                broken = json.loads(start)
                (broken[inner] if inner else broken)[key] = odd
                async with opened([*opening, json.dumps(broken)]) as wire:
                    if wire.refused is None:  # a field that may hold anything
                        assert "EVIL" not in wire.start.call_id + wire.start.stream_id
                    else:
                        assert "EVIL" not in str(wire.refused)
                        assert len(str(wire.refused)) < 120


def words_of(far_end):
    """The names and strings in the provider's own messages."""
    messages = [*far_end.begin({}), *sent_frames(far_end, range(5)), *far_end.press("1")]
    messages += [*far_end.played(['"m"']), *far_end.cleared(['"m"']), *far_end.hang_up()]
    found = {"inbound", "m", "1"}

    def look(value):
        if isinstance(value, dict):
            found.update(value)
            for inner in value.values():
                look(inner)
        elif isinstance(value, str):
            found.add(value[:200])

    for message in messages:
        if isinstance(message, str) and message.startswith("{"):
            look(json.loads(message))
    return sorted(found)


def anything(rng, words, depth=0):
    """A random JSON value, often with the provider's own words in it."""
    kind = rng.choice(["null", "number", "text", "word", "word", "list", "dict", "dict", "dict"])
    if kind == "list" and depth < 4:
        return [anything(rng, words, depth + 1) for _ in range(rng.randrange(4))]
    if kind == "dict" and depth < 4:
        keys = rng.sample(words, min(len(words), rng.randrange(6)))
        return {key: anything(rng, words, depth + 1) for key in keys}
    if kind == "number":
        return rng.choice([0, -1, 10**20, 1.5, math.inf, math.nan, True])
    if kind == "text":
        return "".join(chr(rng.choice([0, 34, 92, 233, 0x2028, 0xD800, 0x1F600])) for _ in "abc")
    return None if kind == "null" else rng.choice(words)


def mutated(rng, words, message):
    """The provider's own message with one value replaced."""
    whole = json.loads(message)
    place = whole
    while True:
        key = rng.choice(sorted(place))
        if not isinstance(place[key], dict) or not place[key] or rng.random() < 0.3:
            place[key] = anything(rng, words)
            return json.dumps(whole)
        place = place[key]


@every_provider
async def test_random_messages_are_understood_or_one_wire_error(name, serve):
    rng = random.Random(name)
    words = words_of(far_end_of(name))
    far_end = far_end_of(name)
    own = [*sent_frames(far_end, range(5)), *far_end.press("1"), *far_end.played(['"m"'])]
    own = [one for one in own if isinstance(one, str) and one.startswith("{")]
    async with wire_of(name, serve, far_end_of(name)) as wire:
        for _ in range(400):
            made = wire.provider.serializer(wire.start, wire.heard, max_bytes=65536)
            wire.heard.errors.clear()
            data = json.dumps(anything(rng, words))
            if own and rng.random() < 0.6:
                data = mutated(rng, words, rng.choice(own))
            await made.deserialize(data)
            assert len(wire.heard.errors) <= 1
            for error in wire.heard.errors:
                assert "\n" not in str(error)
                assert len(str(error)) < 120


@every_provider
async def test_audio_faster_than_anyone_speaks_ends_its_call(name, serve):
    """A second in each message, at once: what nobody takes out of a queue would fill it."""
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        said, frame = [], 0
        while not wire.heard.errors and frame < 50 * 60:
            said = [one for i in range(frame, frame + 50) for one in far_end.media(i, ULAW[:160])]
            frame += 50
            for message in said:
                await wire.serializer.deserialize(message)
        assert 30 <= frame / 50 <= 33
        (error,) = wire.heard.errors
        assert "faster" in str(error)
