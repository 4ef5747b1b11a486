"""Calls in real time against a server: answered turns, latency, barge-in, CPU and memory."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tqdm import tqdm

from agent.records import read_record
from bench.process import ServerProcess, serving
from bench.recordings import turn, voices_of
from bench.results import percentiles
from telephony.caller import CallerTurn, CallResult, place_call

# The twelve core questions in an order that is a conversation: the follow-up comes after its
# question, and every fourth turn cuts into the reply before it.
_SCRIPT = ("q001", "q002", "q003", "q006", "q004", "q005", "q010", "q008", "q009", "q007", "q012")
_INTERRUPTING = 4
_SPREAD_S = 0.37  # callers do not dial in the same 20 ms


def script(caller: int, turns: int) -> list[CallerTurn]:
    """What caller number ``caller`` says: one voice a caller, every voice in rotation."""
    voices = voices_of("q001")
    voice = voices[caller % len(voices)]
    wanted = [_SCRIPT[n % len(_SCRIPT)] for n in range(turns)]
    return [
        turn(question, voice, interrupts=n > 0 and n % _INTERRUPTING == 0)
        for n, question in enumerate(wanted)
    ]


async def _place(url: str, scripts: Sequence[list[CallerTurn]]) -> list[CallResult]:
    total = sum(len(turns) for turns in scripts)

    async def one(number: int, turns: list[CallerTurn]) -> CallResult:
        await asyncio.sleep(number * _SPREAD_S)
        result = await place_call(url, turns)
        bar.update(len(turns))
        return result

    with tqdm(total=total, unit="turn", disable=not sys.stderr.isatty()) as bar:
        return list(await asyncio.gather(*(one(n, turns) for n, turns in enumerate(scripts))))


def measure(server: ServerProcess, scripts: Sequence[list[CallerTurn]]) -> dict[str, Any]:
    """Place the calls and sum them up in the shape of ``bench call --json``."""

    async def watch() -> tuple[list[CallResult], float]:
        peak = server.rss_mb()
        calls = asyncio.create_task(_place(server.url, scripts))
        while not calls.done():
            await asyncio.wait({calls}, timeout=1.0)
            peak = max(peak, server.rss_mb())
        return calls.result(), peak

    before, cpu = server.rss_mb(), server.cpu_s()
    results, during = asyncio.run(watch())
    turns = [turn for result in results for turn in result.turns]
    latencies = [turn.latency_ms for turn in turns if turn.latency_ms is not None]
    cuts = [turn.barge_in_ms for turn in turns if turn.barge_in_ms is not None]
    first = [r.turns[0].latency_ms for r in results if r.turns and r.turns[0].latency_ms]
    greetings = [r.greeting_ms for r in results if r.greeting_ms is not None]
    return {
        "calls": len(scripts),
        "turns": sum(len(script) for script in scripts),
        "answered": sum(turn.answered for turn in turns),
        **percentiles(latencies),
        "first_turn_ms": round(max(first), 1) if first else None,
        "greeting_p95_ms": percentiles(greetings)["p95_ms"],
        "barge_in_p95_ms": percentiles(cuts)["p95_ms"],
        "barge_ins": len(cuts),
        "errors": [result.error for result in results if result.error],
        "cpu_s": round(server.cpu_s() - cpu, 2),
        "rss_mb": {
            "before": round(before, 1),
            "during": round(during, 1),
            "after": round(server.rss_mb(), 1),
        },
    }


def told_by_records(folder: Path) -> dict[str, Any]:
    """What only the agent's own records know, over all calls in ``folder``.

    ``taken_back``: speech that began and was taken back, as the caller had not finished;
    ``ready``: turns whose answer had been decided before they were over; ``stages_ms``: medians
    of the stages from the caller's silence to the voice.
    """
    events = [event for path in folder.glob("*.jsonl") for event in read_record(path)]
    kinds = Counter(event["event"] for event in events)
    verdicts = [event for event in events if event["event"] == "verdict"]
    stages: dict[str, list[float]] = {}
    for event in events:
        for stage, ms in event.get("stages_ms", {}).items():
            stages.setdefault(stage, []).append(ms)
    return {
        "turns": kinds["verdict"],
        "taken_back": kinds["taken_back"],
        "ready": sum(bool(verdict.get("speculated")) for verdict in verdicts),
        "second_opinions": kinds["second_opinion"],
        "interims_dropped": sum(e["count"] for e in events if e["event"] == "interims_dropped"),
        "stages_ms": {stage: round(median(found), 1) for stage, found in stages.items()},
    }


@contextmanager
def agent_serving(calls: int, **settings: str) -> Iterator[tuple[ServerProcess, Path]]:
    """A server of ours with a line to spare for ``calls`` callers, and where its records are.

    ``settings`` are variables beside those.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **settings,
            "FRONTDESK_RECORDS__FOLDER": folder,
            "FRONTDESK_SERVER__MAX_CALLS": str(calls + 1),
        }
        with serving(("agent.cli", "serve", "--port", "0"), env) as server:
            yield server, Path(folder)


def bench_calls(calls: int, turns: int, *, baseline: bool) -> dict[str, Any]:
    """Ours, then with ``baseline`` the stock bot, one after the other on the same machine."""
    scripts = [script(number, turns) for number in range(calls)]
    with agent_serving(calls) as (server, folder):
        figures: dict[str, Any] = {"agent": measure(server, scripts)}
        figures["agent"]["records"] = told_by_records(folder)
    if baseline:
        with serving(("bench.stock_bot",)) as server:
            figures["baseline"] = measure(server, scripts)
    return figures
