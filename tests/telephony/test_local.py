"""The devices: clear lines without one. A call on real ones is in tests/agent/test_mic.py."""

import importlib.util
import os
import subprocess
import sys
import types

import pytest

from frontdesk import ConfigError
from telephony.devices import AudioDevice, check_devices, list_devices


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


@pytest.mark.parametrize("ask", [list_devices, check_devices])
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


def test_a_name_that_may_mean_several_is_asked_about(sound):
    sound(device(0, "USB 1", 1, 0), device(1, "USB 10", 1, 0), device(2, "Out", 0, 2))
    with pytest.raises(ConfigError, match="'usb' may be any of: 0 USB 1, 1 USB 10; give its"):
        check_devices("usb")
    assert check_devices("USB 1")[0].index == 0


def test_a_rate_the_device_cannot_do(sound):
    sound(*LAPTOP, rates=(44100,))
    with pytest.raises(ConfigError, match="0 HDA Intel cannot do 16-bit mono input at 16000 Hz"):
        check_devices()


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
def test_a_real_portaudio_without_devices(tmp_path):
    code = """
from frontdesk import ConfigError
from telephony.devices import check_devices, list_devices
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
