"""Real SIP programs of Debian's: sipp (``sip-tester``) and baresip (``baresip-core``)."""

import asyncio
import os
import shutil
import socket
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parent / "scenarios"

needs_sipp = pytest.mark.skipif(
    not shutil.which("sipp"), reason="needs sipp: apt-get install sip-tester"
)
needs_baresip = pytest.mark.skipif(
    not shutil.which("baresip"), reason="needs baresip: apt-get install baresip-core"
)
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="sipp plays captured packets as root only"
)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


async def sipp(scenario, folder, to, *more, timeout_s=50):
    """Run a scenario against port ``to``; sipp's exit code and what it complained of."""
    process = await asyncio.create_subprocess_exec(
        "sipp",
        "-sf",
        str(SCENARIOS / scenario),
        "-i",
        "127.0.0.1",
        "-p",
        str(free_port()),
        "-mp",
        str(free_port() // 2 * 2),
        "-nostdin",
        "-trace_err",
        "-m",
        "1",
        *more,
        *([f"127.0.0.1:{to}"] if to else []),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(timeout_s):
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return code, "".join(p.read_text("latin-1")[:2000] for p in Path(folder).glob("*_errors.log"))


_CONFIG = """
sip_listen 127.0.0.1:{port}
{extra}
net_interface 127.0.0.1
audio_player aubridge,none
audio_source aufile,{said}
audio_alert aufile,{said}
ausrc_srate 8000
auplay_srate 8000
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module aufile.so
module aubridge.so
module sndfile.so
module srtp.so
module_app account.so
module_app menu.so
module_app debug_cmd.so
snd_path {folder}
"""


@asynccontextmanager
async def baresip(folder, uri, said, *, account="", extra=""):
    """A real baresip that calls ``uri`` and says the WAV file ``said``."""
    home = Path(folder) / "baresip"
    home.mkdir()
    port = free_port()
    (home / "config").write_text(
        _CONFIG.format(port=port, said=said, folder=home, extra=extra).lstrip()
    )
    (home / "accounts").write_text(f"<sip:phone@127.0.0.1:{port}>;regint=0{account}\n")
    with (home / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            "baresip", "-f", str(home), "-e", f"d {uri}",
            stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            yield home
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                async with asyncio.timeout(8):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
