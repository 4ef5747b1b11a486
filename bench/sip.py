"""Measure SIP: the time to an answer, audio both ways, drift over minutes, many calls at once.

``python -m bench.sip`` takes about seven minutes. The callers are telephones of ours, the many of
them in a process of their own, the agent is a stand-in without models; between them are the real
library and gate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from loguru import logger

from bench.results import RESULTS, percentiles, write_result
from bench.sip_desk import desk
from bench.sip_phone import phone, snr_db, speechlike
from bench.sip_phones import held, words_of


async def answer_times(calls: int) -> dict[str, float | None]:
    """Milliseconds from the INVITE to the 200, of calls one after another."""
    times = []
    async with desk() as agent:
        for _ in range(calls):
            async with phone(agent.uri) as caller:
                began = time.perf_counter_ns()
                await caller.dial()
                times.append((time.perf_counter_ns() - began) / 1e6)
                await (await agent.nth(len(times))).ear.has(lambda: True)
    return percentiles(times)


async def both_ways(seconds: float) -> dict[str, float]:
    """SNR in dB of what each side hears of the other."""
    greeting, words = speechlike(seconds, 1), speechlike(seconds, 2)
    async with desk(saying=greeting) as agent, phone(agent.uri) as caller:
        await caller.dial()
        call = await agent.nth(1)
        await caller.speak(np.zeros(4000))
        await caller.speak(words)
        await caller.speak(np.zeros(8000))
        return {
            "caller_hears_db": round(snr_db(greeting, caller.heard())[1], 1),
            "agent_hears_db": round(snr_db(words, call.ear.heard())[1], 1),
        }


async def many(calls: int, minutes: float) -> dict[str, Any]:
    """``calls`` at once, held for ``minutes``: late packets, SNR and drift of each, CPU seconds.

    The telephones are a process of their own (:mod:`bench.sip_phones`): what is late there was
    late on the wire, not in a busy agent.
    """
    seconds = minutes * 60
    async with desk(saying=speechlike(seconds, 1), plan={"max_calls": calls + 4}) as agent:
        phones = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.sip_phones", agent.uri, str(calls), str(seconds)),
            stdout=asyncio.subprocess.PIPE,
        )
        assert phones.stdout is not None
        before = _cpu_s(phones.pid)
        async with asyncio.timeout(seconds + 60):
            talked = json.loads(await phones.stdout.readline())
            cpu_s = _cpu_s(phones.pid) - before
            await agent.all_over()
            told = json.loads(await phones.stdout.readline())
            await phones.wait()
    ears = [
        held(speechlike(seconds, words_of(call.start.caller)), call.ear.heard())
        for call in agent.calls
    ]
    return {
        "calls": len(agent.calls),
        "seconds": seconds,
        "held_to_the_end": talked["held"],
        **{key: told[key] for key in ("packets", "late_percent", "gap_p95_ms", "gap_max_ms")},
        "caller_hears_min_db": told["min_db"],
        "caller_hears_moved_max_ms": told["moved_max_ms"],
        "agent_hears_min_db": min(db for db, _ in ears),
        "agent_hears_moved_max_ms": max(moved for _, moved in ears),
        "cpu_s": round(cpu_s, 1),
    }


def _cpu_s(phones: int) -> float:
    """CPU seconds of the agent and of its gate."""
    own = psutil.Process()
    processes = (own, *(child for child in own.children() if child.pid != phones))
    return float(sum(sum(p.cpu_times()[:2]) for p in processes))


async def _measure(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "answer": {"calls": args.answers, **await answer_times(args.answers)},
        "snr": await both_ways(10),
        "many": await many(args.calls, args.minutes),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="measure SIP")
    parser.add_argument("--answers", type=int, default=50, help="calls for the time to an answer")
    parser.add_argument("--calls", type=int, default=20, help="at once")
    parser.add_argument("--minutes", type=float, default=5.0, help="that all are held for")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    args = parser.parse_args()
    logger.disable("pipecat")
    figures = asyncio.run(_measure(args))
    print(write_result("sip", figures, args.folder).read_text("utf-8"))


if __name__ == "__main__":
    main()
