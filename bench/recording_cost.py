"""What a recording and somebody who watches cost a call in CPU.

  python -m bench.recording_cost                    # 1 and 8 calls, 6 pairs each: ten minutes
  python -m bench.recording_cost --pairs 2 --no-write

Two servers of ours hold the same calls in turn, one with a recording and one without: neighbours
share what the machine does at that time. The one that records is watched too: a program is logged
in to its console and reads every live event. The figure is the server's CPU time (user and
system) over the calls, and the median over the pairs of how much more the second takes. ``alone``
is what the recording's own code takes, timed by itself on one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np
from tqdm import tqdm
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from agent.recording import Recording
from bench.calls import agent_serving, measure, script
from bench.process import ServerProcess
from bench.results import write_result

_TOKEN = "fdk_of-the-benchmark-and-nobody-else-0123456789"
_TURNS = 3
_MOST_PERCENT = 3.0
_PACKET_S = 0.02


def main(argv: list[str] | None = None) -> int:
    """Run it; 1 if it costs more than 3 % of a call's CPU time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=6, help="of runs (default: 6)")
    parser.add_argument("--no-write", action="store_true", help="leave bench/results as it is")
    args = parser.parse_args(argv)
    figures: dict[str, Any] = {"most_percent": _MOST_PERCENT, "alone": alone()}
    print(f"alone: {figures['alone']['ms_per_call_second']} ms of CPU a second of a call")
    for calls in (1, 8):
        figures[f"calls_{calls}"] = found = pairs(calls, args.pairs)
        print(
            f"{calls} calls: {found['without_cpu_s']} s of CPU without, {found['with_cpu_s']} s "
            f"with: {found['more_percent']} % more ({found['more_percent_each']})"
        )
    if not args.no_write:
        print(write_result("recording", figures))
    worst = max(figures[f"calls_{calls}"]["more_percent"] for calls in (1, 8))
    return int(worst > _MOST_PERCENT)


def pairs(calls: int, count: int) -> dict[str, Any]:
    """``count`` pairs of ``calls`` calls each, recorded and watched or not, in changing order.

    A pair in which a turn was not answered is left out: the machine was too busy for its calls.
    """
    taken: list[tuple[float, float]] = []
    scripts = [script(number, _TURNS) for number in range(calls)]
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(_serving(calls, "off", _free_port()))
        port = _free_port()
        recording = stack.enter_context(_serving(calls, "on", port))
        for server in (plain, recording):
            measure(server, [script(0, 2)])  # it is warm
        stack.enter_context(_watched(port))
        for number in tqdm(range(count), f"{calls} calls", disable=not sys.stderr.isatty()):
            order = (plain, recording) if number % 2 else (recording, plain)
            figures = {server: measure(server, scripts) for server in order}
            if all(one["answered"] == one["turns"] for one in figures.values()):
                taken.append((figures[plain]["cpu_s"], figures[recording]["cpu_s"]))
    if not taken:
        raise SystemExit("no calls went well: the machine is too busy to measure anything")
    more = [(after / before - 1) * 100 for before, after in taken]
    return {
        "pairs": len(taken),
        "left_out": count - len(taken),
        "turns": _TURNS,
        "without_cpu_s": round(median(before for before, _ in taken), 3),
        "with_cpu_s": round(median(after for _, after in taken), 3),
        "more_percent": round(median(more), 2),
        "more_percent_each": [round(one, 1) for one in more],
    }


@contextlib.contextmanager
def _serving(calls: int, recording: str, port: int) -> Iterator[ServerProcess]:
    settings = {
        "FRONTDESK_RECORDS__RECORDING": recording,
        "FRONTDESK_CONSOLE__PORT": str(port),
        "FRONTDESK_CONSOLE__TOKEN_VARIABLE": "BENCH_CONSOLE_TOKEN",
        "FRONTDESK_RECOGNISER__SECOND_OPINION": "false",  # who gets one is a matter of load
        "BENCH_CONSOLE_TOKEN": _TOKEN,
    }
    with agent_serving(calls, **settings) as (server, _):
        yield server


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def _watched(port: int) -> Iterator[None]:
    """Somebody has the console's live page open."""
    over = threading.Event()
    ready = threading.Event()
    seen: list[int] = []

    async def watch() -> None:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, headers={"origin": url}) as client:
            (await client.post("/api/login", json={"token": _TOKEN})).raise_for_status()
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        headers = {"cookie": cookie, "origin": url}
        async with connect(
            f"ws://127.0.0.1:{port}/api/live", additional_headers=headers, proxy=None
        ) as live:
            ready.set()
            while not over.is_set():
                with contextlib.suppress(TimeoutError, ConnectionClosed):
                    seen.append(len(await asyncio.wait_for(live.recv(), 0.5)))

    thread = threading.Thread(target=lambda: asyncio.run(watch()))
    thread.start()
    try:
        if not ready.wait(20):
            raise SystemExit("the console's live page is not to be had")
        yield
    finally:
        over.set()
        thread.join()
    if len(seen) < _TURNS:
        raise SystemExit("the console showed nothing of the calls")


def alone(seconds: int = 60) -> dict[str, float]:
    """CPU time of the recording's own code for ``seconds`` of a call on both sides."""
    noise = np.random.default_rng(1).integers(-9000, 9000, 160 * 50, np.int16)
    packets = [noise[at : at + 160].tobytes() for at in range(0, noise.size, 160)]
    now = 0.0
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(Path(folder) / "call.wav", 8000, lambda: now)
        for number in range(int(seconds / _PACKET_S)):
            now += _PACKET_S * 1000
            began = time.thread_time_ns()
            recording.played(packets[number % len(packets)])
            recording.heard(packets[number % len(packets)])
            if number % 100 == 0:
                recording.so_far()
                recording.taken()
            taken.append((time.thread_time_ns() - began) / 1e6)
        recording.close()
    return {
        "ms_per_call_second": round(sum(taken) / seconds, 3),
        "packet_p50_ms": round(median(taken), 4),
        "packet_p99_ms": round(float(np.percentile(taken, 99, method="lower")), 4),
    }


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    raise SystemExit(main())
