"""One contract for every provider's socket: recorded frames in, the far end's reading out."""

import base64
import json
import math
from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.frames import InputAudioRawFrame, InputDTMFFrame, InterruptionFrame

from telephony.far_end import Clear, Mark, Media, Reply
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.provider import Incoming
from tests.telephony.contract import (
    ULAW,
    every_provider,
    far_end_of,
    is_text,
    provider_of,
    samples_in,
    sent_frames,
    wire_of,
)
from tests.telephony.open_wire import open_wire

FRAMES = Path(__file__).parent / "frames"


# Frames as the provider's documentation shows them


def recorded(name):
    lines = [json.loads(line) for line in (FRAMES / f"{name}.jsonl").read_text().splitlines()]
    assert lines[0]["source"].startswith("https://")
    return lines[1:]


def message_of(line):
    if "bytes" in line:
        return base64.b64decode(line["bytes"])
    return line["text"] if isinstance(line["text"], str) else json.dumps(line["text"])


def check_start(start, due):
    for field, value in due.items():
        found = getattr(start, field)
        assert (dict(found) if field == "parameters" else found) == value, field


@every_provider
async def test_documented_frames_mean_what_they_say(name, serve):
    lines = recorded(name)
    began = next(i for i, line in enumerate(lines) if "start" in line["means"])
    opening = [message_of(line) for line in lines[: began + 1]]
    async with open_wire(serve, provider_of(name), opening) as wire:
        assert wire.refused is None
        check_start(wire.start, lines[began]["means"]["start"])
        for line in lines[began + 1 :]:
            frames, marks = len(wire.frames), len(wire.heard.marks)
            await wire.tell(message_of(line))
            new, means = wire.frames[frames:], line["means"]
            assert not wire.heard.errors, line
            if means == "stop":
                assert wire.serializer.stopped
                assert wire.heard.gone_cleanly == [True]
            elif means == "nothing":
                assert not new
            elif "samples" in means:
                (frame,) = new
                assert isinstance(frame, InputAudioRawFrame)
                assert frame.sample_rate == wire.serializer.rate_hz
                assert len(frame.audio) // 2 == means["samples"]
            elif "digit" in means:
                (frame,) = new
                assert isinstance(frame, InputDTMFFrame)
                assert frame.button == means["digit"]
            elif "played" in means:
                assert wire.heard.marks[marks:] == [means["played"]]
            else:
                pytest.fail(f"an unknown meaning: {means}")


# What the far end sends


@every_provider
async def test_the_start_names_the_call_and_the_caller(name, serve):
    far_end = far_end_of(name)
    provider = provider_of(name)
    parameters = {}
    if far_end.request() is not None:
        call = Incoming("CA1", far_end.caller, far_end.called)
        where = far_end.dialled(provider.connect("wss://agent.example/media/token", call).body)
        assert where.url == "wss://agent.example/media/token"
        parameters = where.parameters
    async with open_wire(serve, provider, far_end.begin(parameters)) as wire:
        assert wire.refused is None
        assert wire.start.call_id
        if provider.capabilities.caller_number:
            assert wire.start.caller.removeprefix("+") == "15555550100"


@every_provider
async def test_audio_arrives_whole(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        messages = []
        for frame in range(10):
            messages += far_end.media(frame, ULAW[frame * 160 : (frame + 1) * 160])
        await wire.tell(*messages)
        audio = b"".join(one.audio for one in wire.frames if isinstance(one, InputAudioRawFrame))
        rate = wire.serializer.rate_hz
        if rate == 8000:
            assert np.array_equal(np.frombuffer(audio, np.int16), ulaw_decode(ULAW))
        else:
            assert len(audio) == 2 * 1600 * rate // 8000
        assert wire.serializer.error is None


@every_provider
async def test_what_is_lost_is_filled_by_timestamps(name, serve):
    if not is_text(far_end_of(name)):
        pytest.skip("audio in binary messages, which say nothing of time")
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        await wire.tell(*sent_frames(far_end, [*range(25), *range(26, 31)]))
        assert samples_in(wire.frames) == 31 * 160 * wire.serializer.rate_hz // 8000


@every_provider
async def test_keys_arrive_once_each(name, serve):
    far_end = far_end_of(name)
    assert bool(far_end.press("1")) == bool(provider_of(name).capabilities.digits_in)
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        keys = "159*#0"
        for key in keys:
            await wire.tell(*far_end.press(key))
        pressed = [one.button.value for one in wire.frames if isinstance(one, InputDTMFFrame)]
        assert "".join(pressed) == keys


@every_provider
async def test_a_hang_up_is_heard_once_and_nothing_is_sent_after_it(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        goodbye = far_end.hang_up()
        if not goodbye:
            assert wire.serializer.close_is_stop
            return
        await wire.tell(*goodbye)
        assert wire.heard.gone_cleanly == [True]
        assert wire.serializer.stopped
        frames = len(wire.frames)
        await wire.tell(*sent_frames(far_end, range(5)))
        assert len(wire.frames) == frames
        samples = np.zeros(wire.serializer.rate_hz * 2, np.int16)
        assert await wire.said(wire.audio(samples)) == []
        assert await wire.said(InterruptionFrame()) == []
        assert await wire.mark("late") == []


# What the far end reads


def read(far_end, messages):
    return [asked for message in messages for asked in far_end.read(message)]


def chunks(wire, seconds=1.0):
    """A tone in frames as the pipeline makes them for this wire."""
    rate, size = wire.serializer.rate_hz, wire.provider.chunk_ms * wire.serializer.rate_hz // 1000
    count = round(seconds * rate / size)
    tone = 8000 * np.sin(np.arange(count * size) * 2 * np.pi * 440 / rate)
    samples = ulaw_decode(ulaw_encode(tone.astype(np.int16)))  # so that µ-law loses nothing more
    return [samples[i * size : (i + 1) * size] for i in range(count)]


@every_provider
async def test_the_far_end_hears_what_the_agent_says(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        spoken, heard = [], b""
        for chunk in chunks(wire):
            spoken.append(chunk)
            asked = read(far_end, await wire.said(wire.audio(chunk)))
            heard += b"".join(one.payload for one in asked if isinstance(one, Media))
        spoken = np.concatenate(spoken)
        if wire.serializer.rate_hz == 8000:
            assert heard == ulaw_encode(spoken)
        else:
            assert math.isclose(len(heard), spoken.size * 8000 / wire.serializer.rate_hz, abs_tol=8)
            assert np.sqrt(np.mean(ulaw_decode(heard).astype(float) ** 2)) > 5000


@every_provider
async def test_an_interruption_clears_the_far_end(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        asked = read(far_end, await wire.said(InterruptionFrame()))
        assert asked.count(Clear()) == bool(wire.provider.capabilities.clear)


async def marked(wire, far_end, name):
    """The names by which the far end marks the end of some audio: ours, or its own."""
    audio = await wire.said(wire.audio(chunks(wire, 0.2)[0]))
    asked = read(far_end, [*audio, *await wire.mark(name)])
    await wire.tell(*(reply for one in asked if isinstance(one, Reply) for reply in one.messages))
    return [one.name for one in asked if isinstance(one, Mark)]


@every_provider
async def test_marks_come_back_when_played(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        names = await marked(wire, far_end, "greeting")
        assert bool(names) == wire.provider.capabilities.marks
        await wire.tell(*far_end.played(names))
        assert wire.heard.marks == (["greeting"] if names else [])


@every_provider
async def test_a_clear_gives_its_marks_back_once(name, serve):
    far_end = far_end_of(name)
    async with wire_of(name, serve, far_end) as wire:
        if not wire.provider.capabilities.marks or not wire.provider.capabilities.clear:
            return
        first, second = [await marked(wire, far_end, mark) for mark in ("one", "two")]
        await wire.tell(*far_end.played(first))
        assert Clear() in read(far_end, await wire.said(InterruptionFrame()))
        await wire.tell(*far_end.cleared(second))
        assert wire.heard.marks == ["one", "two"]
