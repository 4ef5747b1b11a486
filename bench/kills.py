"""Kill the server at random moments of live calls, and see what is left of their records.

``python -m bench.kills --times 200`` takes about twenty minutes. Each time a real server holds two
real calls; it is killed (SIGKILL) somewhere in them. Every event that it had acknowledged must be
in the record, the database must open and hold it too, and the chain must hold, sound included.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loguru import logger
from tqdm import tqdm

from agent.records import read_record
from agent.records.keeper import Records
from agent.records.verifying import Verifier
from agent.records_settings import RecordSettings
from bench.recordings import turn
from bench.results import RESULTS, write_result
from telephony.caller import place_call

_QUESTIONS = ("q001", "q009", "q215")
_CALLERS = ("gongitsune", "gongitsune")
_LATEST_S = 9.0
"""After the first event: the calls last longer than that."""


@dataclass(slots=True)
class Found:
    """What came of the kills."""

    kills: int = 0
    calls: int = 0
    acknowledged: int = 0
    lost: int = 0
    not_in_database: int = 0
    broken: list[str] = field(default_factory=list)
    opened_s: list[float] = field(default_factory=list)

    def shape(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "kills": self.kills,
            "calls": self.calls,
            "events_acknowledged": self.acknowledged,
            "events_lost": self.lost,
            "events_not_in_the_database": self.not_in_database,
            "broken_chains": self.broken,
            "recovered_within_s": round(max(self.opened_s, default=0.0), 2),
        }


async def kill_once(folder: Path, rng: random.Random, found: Found) -> None:
    """Hold two calls, kill the server in them, look at their records."""
    acknowledged = await _killed(folder, rng.uniform(0, _LATEST_S))
    began = time.monotonic()
    settings = RecordSettings(folder=folder)
    records = Records(settings, expires=False)
    records.start()
    try:
        if not await asyncio.to_thread(records.settled, 30):
            raise SystemExit(f"the database does not open: {records.trouble}")
        found.opened_s.append(time.monotonic() - began)
        verifier = Verifier(folder, store=records.store)
        for call, hashes in acknowledged.items():
            kept = {event["hash"] for event in read_record(folder / f"{call}.jsonl")}
            stored = {event["hash"] for event in records.store.events(call)}
            found.lost += len(hashes - kept)
            found.not_in_database += len(hashes - stored)
            found.acknowledged += len(hashes)
            broken = verifier.one(call).broken
            found.broken += [str(broken)] if broken else []
    finally:
        await asyncio.to_thread(records.close)
    found.kills += 1
    found.calls += len(acknowledged)


async def _killed(folder: Path, after_s: float) -> dict[str, set[str]]:
    """The hashes of the events that were acknowledged, by call."""
    environment = {
        **os.environ,
        "FRONTDESK_RECORDS__FOLDER": str(folder),
        "FRONTDESK_RECORDS__RECORDING": "on",
        "FRONTDESK_SERVER__INSECURE": "true",
        "FRONTDESK_CONSOLE__ENABLED": "false",
    }
    log = folder / "server.log"
    with log.open("wb") as errors:
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.killed_server"),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
    assert server.stdout is not None
    acknowledged: dict[str, set[str]] = {}
    calls: list[asyncio.Task[Any]] = []
    try:
        listening = (await server.stdout.readline()).decode()
        match = re.search(r"http://\S+", listening)
        if match is None:
            raise SystemExit(f"the server did not start:\n{log.read_text()[-2000:]}")
        calls = [asyncio.create_task(_call(match[0], voice)) for voice in _CALLERS]
        _take(await server.stdout.readline(), acknowledged)
        reading = asyncio.create_task(_read(server.stdout, lambda line: _take(line, acknowledged)))
        await asyncio.sleep(after_s)
        server.kill()
        await reading  # what was in the pipe was acknowledged too
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    return acknowledged


async def _call(url: str, voice: str) -> None:
    await place_call(url, [turn(question, voice) for question in _QUESTIONS])


async def _read(pipe: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
    while line := await pipe.readline():
        take(line)


def _take(line: bytes, acknowledged: dict[str, set[str]]) -> None:
    if line.endswith(b"\n"):
        call, _, link = line.decode().split()
        acknowledged.setdefault(call, set()).add(link)


async def _measure(times: int, seed: int) -> dict[str, Any]:
    rng, found = random.Random(seed), Found()
    with tempfile.TemporaryDirectory() as folder:
        for _ in tqdm(range(times), "kills", disable=not sys.stderr.isatty()):
            await kill_once(Path(folder), rng, found)
    return {"seed": seed, **found.shape()}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="kill the server in live calls")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=RESULTS)
    args = parser.parse_args()
    logger.disable("pipecat")
    figures = asyncio.run(_measure(args.times, args.seed))
    print(write_result("kills", figures, args.folder).read_text("utf-8"))


if __name__ == "__main__":
    main()
