"""A server under test: its own process, its address, its CPU time and memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from frontdesk import ConfigError

_START_TIMEOUT_S = 120.0


class ServerProcess:
    """A running server; ``url`` is its http address."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.url = url
        self._process = process
        self._ps = psutil.Process(process.pid)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def cpu_s(self) -> float:
        """CPU seconds used so far, user and system."""
        times = self._ps.cpu_times()
        return float(times.user + times.system)

    def rss_mb(self) -> float:
        """Resident memory in megabytes."""
        return float(self._ps.memory_info().rss) / 1e6


@contextmanager
def serving(module: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """Start ``python -m MODULE…``, wait for its “listening on URL” line, stop it at the end.

    Raises:
        ConfigError: if it ends or says nothing useful before it listens.
    """
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", *module],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **(env or {})},
        )
        try:
            url = _wait_for_url(process)
            if url is None:
                errors.seek(0)
                last = (errors.read().strip().splitlines() or ["no message"])[-1]
                raise ConfigError(f"{' '.join(module)} did not start: {last}")
            yield ServerProcess(process, url)
        finally:
            _stop(process)


def _wait_for_url(process: subprocess.Popen[str]) -> str | None:
    watchdog = threading.Timer(_START_TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                # Keep the pipe drained, or a chatty server would block on it.
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return found.group(1)
        return None
    finally:
        watchdog.cancel()


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text(encoding="utf-8"))
        model = found.group(1).strip() if found else ""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=False,
    ).stdout.strip()
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "python": sys.version.split()[0],
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit or "unknown",
    }
