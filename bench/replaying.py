"""How fast conversations replay: ``python -m bench.replaying``.

Every case of ``tests/calls`` on one core, from text and from audio, each twice; the second must be
the first again. Writes ``bench/results/replay.json``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from agent.cli import quiet_logs
from agent.progress import stages
from agent.replay import Conversation, Ears, Replayed, conversation, replay_audio, replay_text
from agent.replay.engines import ReplayEngines
from agent.retrieval import index_of, policy_of
from agent.settings import load_settings
from bench.results import write_result
from rag import Index, Policy

CALLS = Path(__file__).resolve().parent.parent / "tests" / "calls"
WANTED = {"text": 500.0, "audio": 20.0}


def main() -> int:
    """0 where both are fast enough, nothing changed, and twice was the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=Path, default=CALLS, help="folder of cases")
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    quiet_logs("ERROR")
    settings = load_settings()
    index, policy = index_of(settings), policy_of(settings)
    talks = [conversation(path, audio=True) for path in sorted(args.calls.glob("*.json"))]
    ears = Ears(ReplayEngines.load(settings, index, policy))
    figures: dict[str, Any] = {"conversations": len(talks), "cores": 1}
    with stages() as progress:
        for mode in WANTED:
            runs = []
            for repeat in (1, 2):
                results = []
                for done, talk in enumerate(talks, 1):
                    results.append(_replayed(mode, talk, index, policy, ears))
                    progress(f"{mode} {repeat}", done, len(talks))
                runs.append(results)
            figures[mode] = _figures(*runs)
    _print(figures)
    if not args.dry:
        print(write_result("replay", figures))
    good = all(_is_good(figures[mode], wanted) for mode, wanted in WANTED.items())
    return 0 if good else 1


def _replayed(mode: str, talk: Conversation, index: Index, policy: Policy, ears: Ears) -> Replayed:
    if mode == "audio":
        return replay_audio(talk, ears)
    return asyncio.run(replay_text(talk, index, policy))


def _figures(first: list[Replayed], second: list[Replayed]) -> dict[str, Any]:
    ratios = [one.seconds / one.took_s for one in second]
    seconds = sum(one.seconds for one in second)
    took_s = sum(one.took_s for one in second)
    return {
        "turns": sum(one.turns for one in second),
        "changed": sum(bool(one.changes) for one in first + second),
        "twice_the_same": [one.results for one in first] == [one.results for one in second],
        "call_s": round(seconds, 1),
        "took_s": round(took_s, 2),
        "times_real_time": round(seconds / took_s, 1),
        "slowest": round(min(ratios), 1),
        "p50": round(float(np.percentile(ratios, 50, method="lower")), 1),
    }


def _is_good(figures: dict[str, Any], wanted: float) -> bool:
    is_same = figures["twice_the_same"] and not figures["changed"]
    return bool(is_same and figures["times_real_time"] >= wanted)


def _print(figures: dict[str, Any]) -> None:
    for mode in WANTED:
        one = figures[mode]
        print(
            f"{mode}: {one['call_s']} s of calls in {one['took_s']} s: "
            f"{one['times_real_time']} times real time (slowest {one['slowest']}); "
            f"{one['changed']} changed; twice the same: {one['twice_the_same']}"
        )


if __name__ == "__main__":
    sys.exit(main())
