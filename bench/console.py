"""How fast the console's pages are with many calls stored.

  python -m bench.console                    # 10,000 calls: half a minute to make them, one to ask
  python -m bench.console --calls 1000 --no-write

Every page is asked for over real HTTP from another process, with parameters drawn anew each time;
the time is from the request to the last byte. Meanwhile a task in the server's loop sleeps 5 ms
over and over: by how much it oversleeps is what a call would have waited.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import soundfile
from tqdm import tqdm

from agent.console.listening import console_listening
from agent.console.port import take_port
from agent.records.keeper import Records
from agent.settings import SAMPLE_KB, Settings, load_settings
from bench.made_calls import made_calls, verdicts
from bench.results import percentiles, write_result
from rag import Index, open_index

_SEED = 7
_TICK_S = 0.005
_IDLE_S = 3.0
_WEEK = "since=2026-11-23&until=2026-11-29"  # 775 of the calls
_RECORDING_S = 180
_RATE_HZ = 8000
Ask = Callable[[random.Random], str]


def main(argv: list[str] | None = None) -> int:
    """Run it; 1 if a list or a search took 300 ms or more at its 95th percentile."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000, help="stored (default: 10000)")
    parser.add_argument("--times", type=int, default=40, help="each page is asked (default: 40)")
    parser.add_argument("--no-write", action="store_true", help="leave bench/results as it is")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(Path(folder), args.calls, args.times)
    for name, page in figures["pages"].items():
        print(f"{name:28} p50 {page['p50_ms']:7.1f} ms   p95 {page['p95_ms']:7.1f} ms")
    for when in ("idle", "asked"):
        late = figures[f"loop_late_{when}_ms"]
        print(f"the calls' loop, late ({when})    p99 {late['p99']:7.1f} ms")
    if not args.no_write:
        print(write_result("console", figures))
    return int(any(page["p95_ms"] >= 300 for page in figures["pages"].values()))


def measured(folder: Path, calls: int, times: int) -> dict[str, Any]:
    """The figures of one run."""
    settings = load_settings(records={"folder": folder}, console={"port": 0})
    index = open_index(SAMPLE_KB)
    with closing(Records(settings.records)) as records:
        records.start()
        records.settled()
        ids, put_s = _filled(records, index, calls)
        _write_recording(folder / f"{ids[-1]}.wav")
        idle, asked, pages = asyncio.run(_served(settings, records, index, ids, times))
        database = sum(path.stat().st_size for path in folder.glob("records.sqlite3*"))
    return {
        "calls": len(ids),
        "put_ms_a_call": round(1000 * put_s / len(ids), 2),
        "database_mb": round(database / 1e6, 1),
        "asked_each": times,
        "pages": pages,
        "loop_late_idle_ms": _late(idle),
        "loop_late_asked_ms": _late(asked),
    }


def _pages(ids: list[str]) -> dict[str, Ask]:
    words = ("saturday", "flu shot", "refill", "park", "insurance", "appointment", "pizza")
    deep = max(0, len(ids) - 50)
    return {
        "the page": lambda dice: "/",
        "calls, newest": lambda dice: "/api/calls",
        "calls, any page": lambda dice: f"/api/calls?offset={dice.randint(0, deep)}",
        "calls, 200 a page": lambda dice: "/api/calls?limit=200",
        "calls, one day": lambda dice: _day("/api/calls", dice),
        "calls, refused": lambda dice: f"/api/calls?outcome=refused&offset={dice.randint(0, 500)}",
        "calls, transferred": lambda dice: "/api/calls?outcome=transferred",
        "calls, marked": lambda dice: "/api/calls?outcome=marked",
        "calls, one wire": lambda dice: "/api/calls?wire=sip",
        "search, a frequent word": lambda dice: f"/api/calls?text={dice.choice(words)}",
        "search, two words, one day": lambda dice: _day("/api/calls", dice) + "&text=flu+shot",
        "search, nothing found": lambda dice: f"/api/calls?text=zyx{dice.randint(0, 99)}",
        "refusals": lambda dice: "/api/refusals",
        "refusals, any page": lambda dice: f"/api/refusals?offset={dice.randint(0, 2000)}",
        "refusals, searched": lambda dice: f"/api/refusals?text={dice.choice(words)}",
        "one call": lambda dice: f"/api/calls/{dice.choice(ids)}",
        "peaks of three minutes": lambda dice: (
            f"/api/calls/{ids[-1]}/peaks?buckets={dice.randint(400, 1600)}"
        ),
        "report of a week": lambda dice: "/api/report?" + _WEEK,
        "demand of a week": lambda dice: "/api/demand?" + _WEEK,
        "health": lambda dice: "/api/health",
    }


def _day(path: str, dice: random.Random) -> str:
    day = f"2026-{dice.randint(9, 11):02d}-{dice.randint(1, 30):02d}"
    return f"{path}?since={day}&until={day}"


def _times(client: httpx.Client, ask: Ask, times: int) -> list[float]:
    """Milliseconds of each; one more at first is not counted."""
    dice = random.Random(_SEED)
    taken = []
    for number in range(times + 1):
        path = ask(dice)
        begun = time.perf_counter_ns()
        reply = client.get(path)
        if number:
            taken.append((time.perf_counter_ns() - begun) / 1e6)
        reply.raise_for_status()
    return taken


def _filled(records: Records, index: Index, calls: int) -> tuple[list[str], float]:
    """Ids of the calls put into the store, and the seconds that this took."""
    answers = verdicts(index, SAMPLE_KB / "questions.jsonl")
    ids = []
    begun = time.perf_counter()
    bar = tqdm(made_calls(answers, calls, _SEED), total=calls, disable=not sys.stderr.isatty())
    for name, events in bar:
        records.store.put(name, events)
        ids.append(name)
    taken = time.perf_counter() - begun
    for name in random.Random(_SEED).sample(ids, max(1, calls // 100)):
        records.store.mark(name, 1, "wrong", "", "bench")
    return ids, taken


def _write_recording(path: Path) -> None:
    noise = np.random.default_rng(_SEED).normal(0, 2000, (_RECORDING_S * _RATE_HZ, 2))
    soundfile.write(str(path), noise.astype(np.int16), _RATE_HZ, subtype="ULAW", format="WAV")


async def _served(
    settings: Settings, records: Records, index: Index, ids: list[str], times: int
) -> tuple[list[float], list[float], dict[str, dict[str, float | None]]]:
    """By how many ms the loop oversleeps, left alone and asked, and the times of the pages."""
    port = take_port(settings.console)
    assert port is not None
    loop = asyncio.get_running_loop()
    async with console_listening(settings, records, lambda: index, port):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
            await loop.run_in_executor(other, _warm)
            idle = await _oversleeping(asyncio.create_task(asyncio.sleep(_IDLE_S)))
            asking = loop.run_in_executor(
                other, _asked, f"http://127.0.0.1:{port.number}", port.token, ids, times
            )
            asked = await _oversleeping(asking)
            return idle, asked, await asking


async def _oversleeping(until: asyncio.Future[Any]) -> list[float]:
    late = []
    while not until.done():
        begun = time.perf_counter_ns()
        await asyncio.sleep(_TICK_S)
        late.append((time.perf_counter_ns() - begun) / 1e6 - 1000 * _TICK_S)
    return late


def _late(values: list[float]) -> dict[str, float]:
    p50, p99 = np.percentile(values, (50, 99), method="lower")
    return {"p50": round(float(p50), 2), "p99": round(float(p99), 2), "most": round(max(values), 2)}


def _warm() -> None:
    """Have the other process import what it needs."""


def _asked(base: str, token: str, ids: list[str], times: int) -> dict[str, dict[str, float | None]]:
    """The times of every page, asked one after another; in the other process."""
    with httpx.Client(base_url=base, trust_env=False, timeout=60) as client:
        headers = {"Origin": base}
        client.post("/api/login", json={"token": token}, headers=headers).raise_for_status()
        bar = tqdm(_pages(ids).items(), disable=not sys.stderr.isatty())
        return {name: percentiles(_times(client, ask, times)) for name, ask in bar}


if __name__ == "__main__":
    raise SystemExit(main())
