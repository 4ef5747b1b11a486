"""A private PulseAudio: a microphone and a speaker that are none, and what goes between them."""

import asyncio
import os
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

PLUGIN = "alsa-lib/libasound_module_pcm_pulse.so"
needs_pulseaudio = pytest.mark.skipif(
    shutil.which("pulseaudio") is None or not any(Path("/usr/lib").glob(f"*/{PLUGIN}")),
    reason="run: apt-get install pulseaudio pulseaudio-utils libasound2-plugins",
)
_ALSA = """
pcm.null { type null }
pcm.!default { type pulse }
ctl.!default { type pulse }
"""


class Pulse:
    """``environment`` makes a program use it; sinks are ``speaker`` and ``microphone``."""

    def __init__(self, folder):
        self.folder = folder
        self.socket = folder / "native"
        alsa = folder / "asound.conf"
        alsa.write_text(_ALSA)
        self.environment = os.environ | {
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_STATE_PATH": str(folder),
            "PULSE_SERVER": f"unix:{self.socket}",
            "ALSA_CONFIG_PATH": str(alsa),
        }

    def vanish(self):
        """Kill the daemon: both devices are gone."""

    def control(self, *arguments):
        command = ["pactl", *arguments]
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, text=True, timeout=10
        ).stdout

    def echo(self, delay_ms, gain_db):
        """From now on the microphone hears the speaker, that late and at that level."""
        self.control(
            "load-module", "module-loopback", "source=speaker.monitor", "sink=microphone",
            f"latency_msec={delay_ms}", "adjust_time=0",
        )  # fmt: skip
        inputs = self.control("list", "short", "sink-inputs").splitlines()
        number = inputs[-1].split()[0]
        self.control("set-sink-input-volume", number, f"{gain_db}dB")

    async def speak(self, file):
        """Play ``file`` to the microphone, to its end."""
        process = await asyncio.create_subprocess_exec(
            "paplay", "--device=microphone", str(file), env=self.environment
        )
        assert await process.wait() == 0

    @asynccontextmanager
    async def recording(self, file):
        """Write what the speaker plays to ``file``, a WAV at 16 kHz."""
        process = await asyncio.create_subprocess_exec(
            "parecord", "--device=speaker.monitor", "--latency-msec=50", "--rate=16000",
            "--channels=1",
            "--format=s16le", "--file-format=wav", str(file), env=self.environment,
        )  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def pulseaudio(folder):
    """The daemon, for as long as the test runs."""
    pulse = Pulse(folder)
    process = await asyncio.create_subprocess_exec(
        "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
        "--high-priority=no", "--log-target=stderr", "--log-level=info", "--disable-shm=yes",
        "-L", "module-null-sink sink_name=speaker rate=48000",
        "-L", "module-null-sink sink_name=microphone rate=48000",
        "-L", f"module-native-protocol-unix socket={pulse.socket} auth-anonymous=1",
        env=pulse.environment, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    pulse.vanish = process.kill
    try:
        async for line in process.stderr:
            if b"Daemon startup complete" in line:
                break
        else:
            raise AssertionError("PulseAudio did not start")
        drain = asyncio.create_task(_drain(process.stderr))
        pulse.control("set-default-sink", "speaker")
        pulse.control("set-default-source", "microphone.monitor")
        yield pulse
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
    await drain


async def _drain(stream):
    async for _ in stream:
        pass
