"""Real calls, recorded: what is in the file lies where the caller's own recording has it."""

import base64
import os

import numpy as np
import pytest

from agent.recording import check_recording, read_recording
from agent.settings import load_settings
from bench.recordings import AUDIO, turn
from frontdesk import Spoken
from telephony.caller import CallerTurn, load_audio, place_call
from telephony.g711 import ulaw_encode
from tests.agent.live import Phone, serving
from tests.agent.one_processor import within
from tests.agent.recording.taped import RATE, as_heard, noise, place_of
from tests.agent.test_sip import free_port

WITHIN = 0.04 * RATE
WINDOW = round(0.3 * RATE)


def recorded(tmp_path, more=None, **records):
    """Settings of a server that records."""
    folder = tmp_path / "calls"
    return load_settings(records={"folder": folder, "recording": "on", **records}, **more or {})


def recording_of(events, tmp_path):
    """Both sides of the only call, at 8 kHz, once its record has vouched for them."""
    (path,) = (tmp_path / "calls").glob("*.wav")
    assert check_recording(path, events) == ""
    samples, rate = read_recording(path)
    assert rate == RATE
    return samples[:, 0], samples[:, 1]


def loud_parts(samples, least_s=0.5):
    """Where something is to be heard for half a second or more, pauses of a quarter included."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 300)
    breaks = np.flatnonzero(np.diff(loud) > RATE // 4)
    starts = [loud[0], *loud[breaks + 1]]
    ends = [*loud[breaks], loud[-1]]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if b - a > least_s * RATE]


def offsets(theirs, ours):
    """How much later in ``ours`` each 0.3 s of sound in ``theirs`` lies, in samples.

    Some is like nothing else there: speech that is drawn out, or was held up in its middle.
    """
    found, windows = [], 0
    for begin, end in loud_parts(theirs):
        for at in range(begin, end - WINDOW, WINDOW):
            place, alike = place_of(theirs[at : at + WINDOW], ours)
            windows += 1
            if alike > 0.95:
                found.append(place - at)
    assert len(found) > windows / 4
    return found


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["twilio", "audiosocket"])
async def test_a_call_is_recorded_as_it_was_heard(wire, tmp_path, call_engines):
    """Two questions, the second in the middle of an answer; on a line that queues and on one that
    the agent paces.
    """
    port = free_port()
    listen = {"audiosocket": {"listen": f"127.0.0.1:{port}", "expected_only": False}}
    settings = recorded(tmp_path, redact=False, more=listen if wire == "audiosocket" else {})
    cut = CallerTurn(load_audio(AUDIO / "rms" / "q002.flac"), "q002", interrupt_after_ms=1000)
    async with serving(settings, call_engines) as server:
        url = f"tcp://127.0.0.1:{port}" if wire == "audiosocket" else server.url
        headers = None if wire == "audiosocket" else server.headers
        result = await place_call(url, [turn("q001", "rms"), cut], wire=wire, headers=headers)
        events = await server.record()
    assert result.error is None
    assert "interrupted" in [event["event"] for event in events]
    left, right = recording_of(events, tmp_path)
    caller = offsets(as_heard(result.recording[:, 0]), left)
    agent = offsets(result.recording[:, 1], right)
    assert np.ptp([*caller, *agent]) <= WITHIN
    # What the barge-in dropped: nothing is loud for longer than it was to the caller.
    ours = np.count_nonzero(np.abs(right.astype(int)) > 300)
    theirs = np.count_nonzero(np.abs(result.recording[:, 1].astype(int)) > 300)
    assert abs(ours - theirs) <= WITHIN
    spoken = next(event for event in events if event["event"] == "reply_started")
    replied = right[round(spoken["t_ms"] * 8) :][: RATE // 2]
    assert np.abs(replied.astype(int)).max() > 300


@pytest.mark.slow
async def test_what_is_personal_is_silent_in_it(tmp_path, call_engines):
    """The first turn has a telephone number in it, the second nothing."""
    number = call_engines.voice.render(
        Spoken("My number is six one two, five five five, eight seven zero three.")
    )
    turns = [CallerTurn(np.asarray(number, np.int16), "number"), turn("q001", "rms")]
    async with serving(recorded(tmp_path), call_engines) as server:
        result = await server.call(turns)
        events = await server.record()
    first, second = [event for event in events if event["event"] == "verdict"]
    assert "phone number" in first["redacted"]
    assert "redacted" not in second
    (silenced,) = [event for event in events if event["event"] == "silenced"]
    left, right = recording_of(events, tmp_path)
    assert silenced["from"] // 2 / 8 < first["t_ms"] < second["t_ms"]
    heard = loud_parts(left, 0.3)
    assert len(heard) == 1
    at, alike = place_of(as_heard(turns[1].audio), left)
    assert alike > 0.9
    assert abs(at - heard[0][0]) <= RATE // 2
    assert len(loud_parts(right)) >= len(loud_parts(result.recording[:, 1]))


@pytest.mark.slow
async def test_nothing_is_recorded_unless_it_is_asked_for(settings, tmp_path, call_engines):
    async with serving(settings(), call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        await phone.socket.close()
        events = await server.record()
    assert not list(tmp_path.rglob("*.wav"))
    assert not {"recording", "silenced"} & {event["event"] for event in events}
    assert not any("audio" in event for event in events)
    said = next(event for event in events if event["event"] == "said")
    assert "recorded" not in said["say"]


@pytest.mark.slow
async def test_the_caller_is_told_before_anything_else(tmp_path, call_engines):
    settings = recorded(tmp_path, recording="announced", announcement="We keep what is said.")
    async with serving(settings, call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.until(lambda: phone.audio().size > 2 * RATE)
        await phone.socket.close()
        events = await server.record()
    said = next(event for event in events if event["event"] == "said")
    assert said["say"] == f"We keep what is said. {settings.voice.greeting}"
    assert next(event for event in events if event["event"] == "recording")["announced"]
    told = call_engines.voice.render(Spoken("We keep what is said."))
    _, right = recording_of(events, tmp_path)
    at, alike = place_of(as_heard(np.asarray(told))[: RATE // 2], right)
    assert alike > 0.8
    assert at <= loud_parts(right, 0)[0][0]


@pytest.mark.slow
async def test_a_disk_that_is_full_ends_no_call(tmp_path, call_engines, monkeypatch, lines):
    """From the first second of sound on nothing more can be written to it."""

    real = os.pwrite

    def write(fd, data, at):
        if at + len(data) > 58 + 2 * RATE:
            raise OSError(28, "No space left on device")
        return real(fd, data, at)

    monkeypatch.setattr("agent.recording.recording.os.pwrite", write)
    async with serving(recorded(tmp_path), call_engines, lines) as server, Phone(server) as phone:
        await phone.start()
        await phone.speak(ulaw_encode(noise(2.0, level=100)))
        await phone.until(lambda: phone.audio().size > 3 * RATE // 2)
        await within(5, lambda: lines.bad)
        await phone.socket.close()
        events = await server.record()
    (stopped,) = [event for event in events if event["event"] == "recording_stopped"]
    assert stopped["problem"] == "No space left on device"
    assert events[-1]["reason"] == "caller hung up"
    left, _ = recording_of(events, tmp_path)
    assert 0 < left.size <= RATE
    assert len([line for line in lines.bad if "No space left" in line]) == 1


@pytest.mark.slow
async def test_a_folder_that_is_gone_ends_no_call(tmp_path, call_engines, monkeypatch):
    real = os.open

    def no_file(path, *how):
        if str(path).endswith(".wav"):
            raise OSError(13, "Permission denied")
        return real(path, *how)

    async with serving(recorded(tmp_path), call_engines) as server:
        monkeypatch.setattr("agent.recording.recording.os.open", no_file)
        async with Phone(server) as phone:
            await phone.start()
            await phone.greeted()
            await phone.socket.close()
        events = await server.record()
    assert "recording_stopped" in [event["event"] for event in events]
    assert events[-1]["reason"] == "caller hung up"


async def test_media_that_is_no_audio_is_not_recorded(tmp_path, call_engines):
    """Sent in one burst, half a second of sound is half a second of the recording."""
    async with serving(recorded(tmp_path), call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        payload = base64.b64encode(bytes([0x10]) * RATE).decode()
        await phone.send({"event": "media", "media": {"payload": payload[: RATE // 2]}})
        await phone.socket.close()
        events = await server.record()
    left, _ = recording_of(events, tmp_path)
    assert np.count_nonzero(left) <= RATE
