import asyncio
import gc
import json
import sys
from contextlib import asynccontextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from agent.commands import mic
from agent.garbage import set_aside
from agent.records import read_record
from bench.recordings import AUDIO
from speech.audio import to_float32
from speech.moonshine import Moonshine
from telephony.devices import AudioDevice
from tests.agent.one_processor import within
from tests.pulse import needs_pulseaudio, pulseaudio
from tests.telephony.test_local import needs_pyaudio


@pytest.fixture
def collector():
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_full_collections_are_rare_once_all_is_loaded(collector):
    young, middle, _ = gc.get_threshold()
    set_aside()
    assert gc.get_threshold() == (young, middle, 100)


def test_what_is_loaded_is_set_aside_before_the_call(command, monkeypatch, collector):
    seen = []

    class Switchboard:
        def __init__(self, *_):
            self.calls = set()

        async def hold(self, start, open_line):
            assert start.call_id.startswith("mic-")
            seen.append(("call", gc.get_freeze_count() > 0))

    def prepare(*_):
        gc.unfreeze()
        seen.append(("prepared", gc.get_freeze_count() > 0))

    device = AudioDevice(0, "none", 1, 1, 16000)  # no sound device here
    monkeypatch.setattr(mic, "check_devices", lambda *_: (device, device))

    async def close():
        seen.append(("closed", True))

    engines = SimpleNamespace(
        voice=None, index=None, policy=SimpleNamespace(refusal=""), close=close
    )
    monkeypatch.setattr("agent.prerender.prepare_own_words", prepare)
    monkeypatch.setattr("agent.prerender.Prerenderer.running", lambda _: nullcontext())
    monkeypatch.setattr("agent.engines.Engines", lambda _: engines)
    monkeypatch.setattr("agent.switchboard.Switchboard", Switchboard)
    code, out, _ = command("mic")
    assert (code, out.startswith("microphone none; speaker none")) == (0, True)
    assert seen == [("prepared", False), ("call", True), ("closed", True)]


LAPTOP = [
    AudioDevice(0, "HDA Intel PCH", 2, 2, 44100, default_output=True),
    AudioDevice(12, "USB", 1, 0, 48000, default_input=True),
]


def test_the_list_of_devices_is_a_table(command, monkeypatch):
    monkeypatch.setattr(mic, "list_devices", lambda: LAPTOP)
    assert command("mic", "--devices")[1].splitlines() == [
        " no  name            in  out    rate  default",
        "  0  HDA Intel PCH    2    2   44100  output",
        " 12  USB              1    0   48000  input",
    ]
    listed = json.loads(command("mic", "--devices", "--json")[1])
    assert [(one["index"], one["default_input"]) for one in listed] == [(0, False), (12, True)]
    monkeypatch.setattr(mic, "list_devices", list)
    assert command("mic", "--devices")[1] == "no audio device found\n"


def test_json_is_for_the_list_alone(command):
    code, out, err = command("mic", "--json")
    assert (code, out) == (2, "")
    assert "--json goes with --devices" in err


class Talk:
    """``frontdesk mic`` in a process of its own, and what it prints."""

    def __init__(self, process):
        self._process = process
        self.said = []

    async def until(self, words, timeout_s=30):
        async with asyncio.timeout(timeout_s):
            async for line in self._process.stdout:
                self.said.append(line.decode().rstrip())
                if words in self.said[-1]:
                    return
        raise AssertionError(f"no {words!r} in {self.said}")

    async def ends(self):
        """Wait until it has ended by itself."""
        await asyncio.wait_for(self._process.wait(), 30)


@asynccontextmanager
async def frontdesk_mic(pulse, *options):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "ignore", "-m", "agent.cli", "mic", *options,
        cwd=pulse.folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=pulse.environment | {"FRONTDESK_LOG_LEVEL": "error"},
    )  # fmt: skip
    talk = Talk(process)
    try:
        yield talk
    finally:
        if process.returncode is None:
            process.send_signal(2)
        rest, talk.errors = await asyncio.wait_for(process.communicate(), 30)
        talk.said += rest.decode().splitlines()
        talk.code = process.returncode


def clip(folder, name, after_s=0):
    audio, rate_hz = soundfile.read(AUDIO / f"{name}.flac", dtype="int16")
    audio = np.concatenate((np.zeros(round(after_s * rate_hz), np.int16), audio))
    path = folder / f"{name.replace('/', '-')}.wav"
    soundfile.write(str(path), audio, rate_hz, subtype="PCM_16")
    return path


def events(pulse):
    (path,) = (pulse.folder / "calls").glob("*.jsonl")
    return read_record(path)


def kinds(pulse):
    return [event["event"] for event in events(pulse)]


@pytest.mark.slow
@needs_pulseaudio
@needs_pyaudio
async def test_a_question_is_answered_through_real_sound_devices(tmp_path):
    """PulseAudio's null sinks are the devices: a question into one, the answer out of the other."""
    async with pulseaudio(tmp_path) as pulse:
        async with frontdesk_mic(pulse) as talk:
            await talk.until("agent: Thanks for calling")
            async with pulse.recording(tmp_path / "speaker.wav"):
                await pulse.speak(clip(tmp_path, "slt/q001"))
                await talk.until("agent: On Saturday the clinic is open from 9 a.m. to 1 p.m.")
                await within(20, lambda: kinds(pulse)[-1] == "reply_ended")
        record = events(pulse)
    assert talk.errors.decode() == "", "nothing of ALSA's or PortAudio's on the terminal"
    assert any("[kb-hours#2]" in line for line in talk.said)
    assert (talk.code, talk.said[-1]) == (0, "call ended: caller hung up")
    assert record[-1]["reason"] == "caller hung up"
    played, rate_hz = soundfile.read(tmp_path / "speaker.wav", dtype="int16")
    assert rate_hz == 16000
    heard = Moonshine([]).transcribe(to_float32(np.trim_zeros(played))).text
    assert len({"Saturday", "clinic", "open", "from"} & set(heard.split())) >= 2, heard


@pytest.mark.slow
@needs_pulseaudio
@needs_pyaudio
async def test_the_speakers_echo_neither_stops_the_agent_nor_hides_the_caller(tmp_path):
    """The speaker is heard by the microphone, 100 ms late and 10 dB down, as in a room."""
    async with pulseaudio(tmp_path) as pulse:
        pulse.echo(100, -10)
        async with frontdesk_mic(pulse) as talk:
            await talk.until("agent: Thanks for calling")
            await within(20, lambda: "reply_ended" in kinds(pulse))
            await pulse.speak(clip(tmp_path, "slt/q001"))
            await talk.until("agent: On Saturday")
            await pulse.speak(clip(tmp_path, "rms/q003", after_s=1))
            await talk.until("refill")
        record = events(pulse)
    heard = [event["heard"] for event in record if event["event"] == "verdict"]
    assert heard[0] == "What time do you guys open on Saturday?"
    cuts = [event["say"] for event in record if event["event"] == "interrupted"]
    assert cuts[0] == "On Saturday the clinic is open from 9 a.m. to 1 p.m.", "by the caller"


@pytest.mark.slow
@needs_pulseaudio
@needs_pyaudio
async def test_devices_that_vanish_end_the_call_in_plain_words(tmp_path):
    async with pulseaudio(tmp_path) as pulse:
        async with frontdesk_mic(pulse) as talk:
            await talk.until("agent: Thanks for calling")
            pulse.vanish()
            await talk.until("the microphone is gone, and the call with it")
            await talk.ends()
        record = events(pulse)
    assert talk.code == 0, talk.errors.decode()
    assert record[-1]["reason"] == "no media"
