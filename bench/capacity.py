"""How many callers one server holds, and what one more costs in memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.calls import agent_serving, measure, script

MOST_P95_MS = 1200.0
"""A caller notices a longer wait; the bar for the most callers."""
_STEP = 8
_IDLE_S = 4.0


def holds(figures: dict[str, Any]) -> bool:
    """Whether every turn was answered and p95 is at most ``MOST_P95_MS``."""
    p95 = figures["p95_ms"]
    return figures["answered"] == figures["turns"] and p95 is not None and p95 <= MOST_P95_MS


def most_callers(
    turns: int, *, start: int = 16, limit: int = 64, told: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """More callers at once, eight at a time, until one step does not hold.

    ``told`` gets the figures of each step as it ends. Each step has a fresh server, so that no
    step lives on what another one warmed.
    """
    steps: list[dict[str, Any]] = []
    for calls in range(start, limit + 1, _STEP):
        with agent_serving(calls) as (server, _):
            steps.append(measure(server, [script(n, turns) for n in range(calls)]))
        told(steps[-1])
        if not holds(steps[-1]):
            break
    held = [step["calls"] for step in steps if holds(step)]
    return {"most": max(held, default=0), "p95_at_most_ms": MOST_P95_MS, "steps": steps}


def memory_per_call(calls: int = 8, turns: int = 2) -> dict[str, Any]:
    """Memory of one more call, and what stays after the calls are over, in MB.

    One call and then ``1 + calls`` at once, on a server that has held as many before, so that
    what is loaded or reserved once does not count as a call's. Without second opinions: who gets
    one is a matter of load, and its 100 MB would hide what a call takes.
    """
    with agent_serving(calls + 1, FRONTDESK_RECOGNISER__SECOND_OPINION="false") as (server, _):

        def peak(number: int) -> float:
            found = measure(server, [script(n, turns) for n in range(number)])
            return float(found["rss_mb"]["during"])

        def idle() -> float:
            time.sleep(_IDLE_S)
            return server.rss_mb()

        started = server.rss_mb()
        peak(1 + calls)
        before = idle()
        one = peak(1)
        idle()
        many = peak(1 + calls)
        after = idle()
    return {
        "calls": calls,
        "started_mb": round(started, 1),
        "idle_before_mb": round(before, 1),
        "one_call_mb": round(one, 1),
        "many_calls_mb": round(many, 1),
        "idle_after_mb": round(after, 1),
        "one_more_call_mb": round((many - one) / calls, 2),
        "kept_per_call_mb": round((after - before) / (1 + calls), 2),
    }
