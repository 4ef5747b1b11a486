"""The README's figures of records, the console, replay, redaction and simulated callers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.figures import load, measured_on, table


def evidence() -> str:
    """What was measured of calls after they are over."""
    kills, console, cost = load("kills"), load("console"), load("recording")
    replay, redaction, simulated = load("replay"), load("redaction"), load("simulated")
    held = redaction["ours"]["held_out"]
    slowest = max(page["p95_ms"] for page in console["pages"].values())
    right = simulated["right"]
    rows = [
        [
            f"server killed in live calls, {kills['kills']} times",
            f"{kills['events_lost']} of {kills['events_acknowledged']} acknowledged events lost, "
            f"{len(kills['broken_chains'])} chains broken",
        ],
        [
            f"console with {console['calls']:,} calls, the slowest kind of page, p95",
            f"{slowest:.0f} ms",
        ],
        ["recording and a watched console, more CPU", _cost(cost)],
        [
            f"replay of {replay['conversations']} conversations on one core",
            f"{replay['audio']['times_real_time']:.0f} times real time from audio, "
            f"{replay['text']['times_real_time']:,.0f} from text",
        ],
        [
            f"personal details found, of {held['recall']['n']} in texts held out",
            f"{held['recall']['hits']} (of {held['precision']['n']} taken for one, "
            f"{held['precision']['hits']} were)",
        ],
        [
            f"simulated callers: {simulated['calls']} calls with accents, noise, interruptions, "
            "changed minds",
            f"{right['count']} of {right['n']} turns right, "
            f"{simulated['outcomes']['wrong_fact'] + simulated['outcomes']['wrongly_answered']} "
            "answered wrong",
        ],
    ]
    named = {
        "python -m bench.kills": kills,
        "python -m bench.console": console,
        "python -m bench.recording_cost": cost,
        "python -m bench.replaying": replay,
        "python -m bench.redaction": redaction,
        "frontdesk eval calls": simulated,
    }
    measured = "; ".join(f"`{command}` on {measured_on(found)}" for command, found in named.items())
    return "\n".join([table(["", ""], rows), "", f"{measured}."])


def _cost(cost: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{found['more_percent']:.1f} % ({calls.replace('_', ' ')})"
        for calls, found in cost.items()
        if isinstance(found, Mapping) and "more_percent" in found
    )


BLOCKS = {"evidence": evidence}
