"""The machine's microphones and speakers, by PortAudio (PyAudio).

PyAudio is the ``mic`` extra: it is imported only when something here is called.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from frontdesk import ConfigError
from telephony.capabilities import Capabilities

MICROPHONE = Capabilities(
    name="Microphone",
    audio="16-bit linear 16 kHz",
    clear="at once",
    marks=True,
    hang_up="closing the devices",
    tested="the real peer",
)
"""Here and not beside the line, which cannot be imported without PyAudio."""

_MEND = "run: apt-get install portaudio19-dev && .venv/bin/pip install -e '.[mic]'"


@dataclass(frozen=True, slots=True)
class AudioDevice:
    """A sound device: PortAudio's ``index`` and ``name``, its channels, its own rate."""

    index: int
    name: str
    inputs: int
    outputs: int
    rate_hz: int
    default_input: bool = False
    default_output: bool = False


def list_devices() -> list[AudioDevice]:
    """Every sound device; empty on a machine without one.

    Raises:
        ConfigError: if PyAudio or PortAudio is missing.
    """
    with _portaudio() as audio:
        return _devices(audio)


def check_devices(
    input_device: int | str | None = None,
    output_device: int | str | None = None,
    *,
    input_rate_hz: int = 16000,
    output_rate_hz: int = 16000,
) -> tuple[AudioDevice, AudioDevice]:
    """The microphone and the speaker to use: by index, by a part of the name, or the defaults.

    Raises:
        ConfigError: if PyAudio or PortAudio is missing, if there is no such device, or if it
            cannot do 16-bit mono at the rate.
    """
    with _portaudio() as audio:
        devices = _devices(audio)
        source = _choose(devices, input_device, "microphone")
        sink = _choose(devices, output_device, "speaker")
        _check_rate(audio, source, input_rate_hz, "input")
        _check_rate(audio, sink, output_rate_hz, "output")
    return source, sink


@contextlib.contextmanager
def _portaudio() -> Iterator[Any]:
    """An initialised PyAudio, its probing kept off the terminal."""
    with quiet_stderr():
        try:
            import pyaudio
        except ImportError as error:  # PyAudio itself, or the library it is linked to
            raise ConfigError(f"the microphone needs PortAudio and PyAudio; {_MEND}") from error
        try:
            audio = pyaudio.PyAudio()
        except OSError as error:
            raise ConfigError(f"PortAudio does not start ({error}); {_MEND}") from error
        try:
            yield audio
        finally:
            audio.terminate()


_ALSA_HANDLER = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p
)
_SAYS_NOTHING = _ALSA_HANDLER(lambda *_: None)  # kept for as long as C may call it


def quiet_alsa() -> None:
    """Keep ALSA's own lines ("underrun occurred") off the terminal from now on.

    https://www.alsa-project.org/alsa-doc/alsa-lib/group___error.html
    """
    try:
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_SAYS_NOTHING)
    except OSError:  # not Linux
        return


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Send file descriptor 2 to nowhere.

    ALSA and JACK print about 100 lines there from C while PortAudio tries every configured
    device; Python's ``sys.stderr`` cannot catch them.
    """
    sys.stderr.flush()
    try:
        saved = os.dup(2)
    except OSError:  # no stderr at all: nothing to keep quiet
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def _devices(audio: Any) -> list[AudioDevice]:
    default_input = _default(audio.get_default_input_device_info)
    default_output = _default(audio.get_default_output_device_info)
    found = (audio.get_device_info_by_index(i) for i in range(audio.get_device_count()))
    return [
        AudioDevice(
            index=int(info["index"]),
            name=_name(info["name"]),
            inputs=int(info["maxInputChannels"]),
            outputs=int(info["maxOutputChannels"]),
            rate_hz=int(info["defaultSampleRate"]),
            default_input=info["index"] == default_input,
            default_output=info["index"] == default_output,
        )
        for info in found
    ]


def _default(ask: Any) -> int | None:
    try:
        return int(ask()["index"])
    except OSError:  # PyAudio's way to say that there is none
        return None


def _name(name: str | bytes) -> str:
    """PyAudio gives bytes for a name that is not UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def _choose(devices: list[AudioDevice], wanted: int | str | None, kind: str) -> AudioDevice:
    """The device meant by ``wanted``; ``kind`` is ``microphone`` or ``speaker``."""
    listening = kind == "microphone"
    usable = [d for d in devices if (d.inputs if listening else d.outputs) > 0]
    if not usable:
        raise ConfigError(
            f"no {kind} found; plug one in, or call with recorded audio: frontdesk call"
        )
    if wanted is None:
        default = [d for d in usable if (d.default_input if listening else d.default_output)]
        return (default or usable)[0]
    if isinstance(wanted, int) or wanted.isdecimal():
        matching = [d for d in usable if d.index == int(wanted)]
    else:
        matching = [d for d in usable if wanted.casefold() in d.name.casefold()]
    exact = [d for d in matching if d.name == wanted]
    if len(exact) == 1:
        return exact[0]
    if len(matching) > 1:
        names = ", ".join(f"{d.index} {d.name}" for d in matching)
        raise ConfigError(f"{kind} {wanted!r} may be any of: {names}; give its number")
    if not matching:
        names = ", ".join(f"{d.index} {d.name}" for d in usable)
        raise ConfigError(f"no {kind} {wanted!r}; there are: {names}")
    return matching[0]


def _check_rate(audio: Any, device: AudioDevice, rate_hz: int, way: str) -> None:
    import pyaudio

    wanted = {f"{way}_device": device.index, f"{way}_channels": 1}
    try:
        audio.is_format_supported(rate_hz, **wanted, **{f"{way}_format": pyaudio.paInt16})
    except ValueError as error:
        raise ConfigError(
            f"sound device {device.index} {device.name} cannot do 16-bit mono {way} at "
            f"{rate_hz} Hz; choose another with frontdesk mic --devices"
        ) from error
