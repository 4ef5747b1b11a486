"""The microphone: clear lines without one, and a real PortAudio over ALSA's file device."""

import importlib.util
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from frontdesk import ConfigError
from telephony.local import AudioDevice, check_devices, list_devices, local_transport


def device(index, name, inputs, outputs):
    return {
        "index": index,
        "name": name,
        "maxInputChannels": inputs,
        "maxOutputChannels": outputs,
        "defaultSampleRate": 44100.0,
    }


class FakePyAudio:
    """What PyAudio reports of ``devices``; the noise its C libraries make goes to fd 2."""

    devices = ()
    default_in = None
    default_out = None
    rates = (8000, 16000)

    def __init__(self):
        os.write(2, b"ALSA lib confmisc.c:855:(parse_card) cannot find card '0'\n")

    def get_device_count(self):
        return len(self.devices)

    def get_device_info_by_index(self, index):
        if index is None:
            raise OSError("No Default Device Available")
        return self.devices[index]

    def get_default_input_device_info(self):
        return self.get_device_info_by_index(self.default_in)

    def get_default_output_device_info(self):
        return self.get_device_info_by_index(self.default_out)

    def is_format_supported(self, rate, **_):
        if rate not in self.rates:
            raise ValueError("Invalid sample rate", -9997)
        return True

    def terminate(self):
        os.write(2, b"JackShmReadWritePtr::~JackShmReadWritePtr\n")


@pytest.fixture
def sound(monkeypatch):
    """Put a PyAudio in place that knows the given devices."""

    def install(*devices, **options):
        fake = type("PyAudio", (FakePyAudio,), {"devices": devices, **options})
        module = types.SimpleNamespace(PyAudio=fake, paInt16=8)
        monkeypatch.setitem(sys.modules, "pyaudio", module)

    return install


LAPTOP = (device(0, "HDA Intel", 2, 2), device(1, "Headset", 1, 0), device(2, "HDMI", 0, 8))


@pytest.mark.parametrize("ask", [list_devices, check_devices, local_transport])
def test_without_pyaudio_one_line_names_the_command(monkeypatch, ask):
    monkeypatch.setitem(sys.modules, "pyaudio", None)
    with pytest.raises(ConfigError) as caught:
        ask()
    assert str(caught.value) == (
        "the microphone needs PortAudio and PyAudio; "
        "run: apt-get install portaudio19-dev && .venv/bin/pip install -e '.[mic]'"
    )


def test_no_device_at_all(sound):
    sound()
    assert list_devices() == []
    with pytest.raises(ConfigError, match=r"^no microphone found; plug one in"):
        check_devices()


def test_a_microphone_but_no_speaker(sound):
    sound(device(0, "mic", 1, 0), default_in=0)
    with pytest.raises(ConfigError, match=r"^no speaker found; plug one in"):
        check_devices()


def test_the_list_and_the_defaults(sound, capfd):
    sound(*LAPTOP, default_in=1, default_out=0)
    assert list_devices() == [
        AudioDevice(0, "HDA Intel", 2, 2, 44100, default_output=True),
        AudioDevice(1, "Headset", 1, 0, 44100, default_input=True),
        AudioDevice(2, "HDMI", 0, 8, 44100),
    ]
    source, sink = check_devices()
    assert (source.name, sink.name) == ("Headset", "HDA Intel")
    assert capfd.readouterr().err == "", "what C libraries print stays off the terminal"
    print("still there", file=sys.stderr)
    assert capfd.readouterr().err == "still there\n"


def test_devices_by_index_and_by_name(sound):
    sound(*LAPTOP)
    assert check_devices(0, 2)[1].name == "HDMI"
    assert check_devices("1", "hda")[0].name == "Headset"
    with pytest.raises(ConfigError, match="no microphone 2; there are: 0 HDA Intel, 1 Headset"):
        check_devices(2)
    with pytest.raises(ConfigError, match="no speaker 'usb'; there are: 0 HDA Intel, 2 HDMI"):
        check_devices(None, "usb")


def test_a_rate_the_device_cannot_do(sound):
    sound(*LAPTOP, rates=(44100,))
    with pytest.raises(ConfigError, match="0 HDA Intel cannot do 16-bit mono input at 16000 Hz"):
        check_devices()


ALSA = """
pcm.null {{ type null }}
pcm.!default {{ type plug slave.pcm "desk" }}
pcm.desk {{ type asym playback.pcm "desk_out" capture.pcm "desk_in" }}
pcm.desk_out {{ type file slave.pcm "null" file "{out}" format "raw" }}
pcm.desk_in {{ type file slave.pcm "null" file "/dev/null" infile "{given}" format "raw" }}
"""

TALK = """
import asyncio, json
import numpy as np
from loguru import logger
logger.remove()
from pipecat.frames.frames import EndFrame, InputAudioRawFrame, TTSAudioRawFrame, TTSStoppedFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.workers.runner import WorkerRunner
from telephony.local import check_devices, local_transport

class Ear(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.loud, self.heard = 0, asyncio.Event()
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self.loud += int(np.count_nonzero(np.abs(np.frombuffer(frame.audio, np.int16)) > 5000))
            if self.loud > 1000:
                self.heard.set()
        else:
            await self.push_frame(frame, direction)

async def main():
    source, sink = check_devices("default", "default")
    transport, ear = local_transport("default", "default"), Ear()
    worker = PipelineWorker(
        Pipeline([transport.input(), ear, transport.output()]),
        params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=16000),
        enable_rtvi=False,
    )
    async def talk():
        await asyncio.wait_for(ear.heard.wait(), 20)
        wave = np.full(8000, 7000, np.int16)
        await worker.queue_frames(
            [TTSAudioRawFrame(wave.tobytes(), 16000, 1), TTSStoppedFrame(), EndFrame()]
        )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), talk())
    print(json.dumps({"source": source.name, "sink": sink.name}))
asyncio.run(main())
"""

needs_pyaudio = pytest.mark.skipif(
    importlib.util.find_spec("pyaudio") is None,
    reason="PyAudio is not installed; run: apt-get install portaudio19-dev && "
    "pip install -e '.[mic]'",
)


def run_with_alsa(tmp_path, config, code):
    path = tmp_path / "asound.conf"
    path.write_text(config)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | {"ALSA_CONFIG_PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.slow
@needs_pyaudio
@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
def test_audio_goes_both_ways_through_a_real_portaudio(tmp_path):
    given, out = tmp_path / "given.raw", tmp_path / "out.raw"
    np.full(44100 * 20, 8000, np.int16).tofile(given)
    done = run_with_alsa(tmp_path, ALSA.format(given=given, out=out), TALK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == '{"source": "default", "sink": "default"}'
    assert done.stderr == "", "nothing on the user's terminal"
    played = np.fromfile(out, np.int16)
    assert np.count_nonzero(played > 6000) >= 7000


@pytest.mark.slow
@needs_pyaudio
@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
def test_a_real_portaudio_without_devices(tmp_path):
    code = """
from frontdesk import ConfigError
from telephony.local import check_devices, list_devices
print(list_devices())
try:
    check_devices()
except ConfigError as error:
    print(error)
"""
    done = run_with_alsa(tmp_path, "pcm.gone { type hw card 77 }", code)
    assert done.stdout.splitlines() == [
        "[]",
        "no microphone found; plug one in, or call with recorded audio: frontdesk call",
    ]
    assert done.stderr == ""
