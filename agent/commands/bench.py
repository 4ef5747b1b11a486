"""Speed on this machine. Results go to bench/results/ with machine, date and commit.

  frontdesk bench call --baseline            # one caller; then stock Pipecat, same models
  frontdesk bench call --calls 8 --baseline
  frontdesk bench rag                        # text in, verdict out
Nothing else should run on the machine; compare the two sides as a ratio.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from agent.cli import quiet_logs
from frontdesk import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    call = kinds.add_parser("call", help="calls in real time, timed on the returned media")
    call.add_argument("--calls", type=int, default=1, help="callers at once (1 to 64)")
    call.add_argument("--turns", type=int, default=11, help="turns a caller (1 to 40)")
    call.add_argument("--baseline", action="store_true", help="then stock Pipecat in the same run")
    rag = kinds.add_parser("rag", help="the answer path alone")
    rag.add_argument("--passes", type=int, default=5, help="times through the questions")
    for sub in (call, rag):
        sub.add_argument("--json", action="store_true", help="print as JSON")
        sub.add_argument("--no-save", action="store_true", help="do not write bench/results/")


def run(args: argparse.Namespace) -> int:
    """0 when every turn was answered."""
    from bench.results import write_result

    quiet_logs()
    if args.kind == "rag":
        from bench.answers import bench_rag

        figures = bench_rag(args.passes)
        name, failed = "rag", False
    else:
        from bench.calls import bench_calls

        if not (1 <= args.calls <= 64 and 1 <= args.turns <= 40):
            raise ConfigError("--calls takes 1 to 64, --turns 1 to 40")
        figures = bench_calls(args.calls, args.turns, baseline=args.baseline)
        name = f"call-{args.calls}"
        failed = figures["agent"]["answered"] < figures["agent"]["turns"]
    if not args.no_save:
        write_result(name, figures)
    print(json.dumps(figures, indent=2) if args.json else _table(figures))
    return 1 if failed else 0


def _table(figures: dict[str, Any]) -> str:
    if "agent" not in figures:
        head = f"{figures['queries']} queries over {figures['passages']} passages"
        stages = {"whole answer": figures, **figures["stages"]}
        return "\n".join(
            [f"{head}, {figures['rss_mb']} MB", *(_row(k, v) for k, v in stages.items())]
        )
    lines = []
    for side in ("agent", "baseline"):
        if side in figures:
            f = figures[side]
            rss = f["rss_mb"]
            lines += [
                f"{side}: {f['answered']} of {f['turns']} turns answered in {f['calls']} calls",
                _row("answer", f),
                f"  first turn {f['first_turn_ms']} ms, greeting p95 {f['greeting_p95_ms']} ms, "
                f"barge-in p95 {f['barge_in_p95_ms']} ms ({f['barge_ins']})",
                f"  CPU {f['cpu_s']} s, memory {rss['before']} MB before, {rss['during']} during, "
                f"{rss['after']} after",
            ]
    if "baseline" in figures and figures["baseline"]["p95_ms"] and figures["agent"]["p95_ms"]:
        ratio = figures["agent"]["p95_ms"] / figures["baseline"]["p95_ms"]
        lines.append(f"p95 ratio, agent to baseline: {ratio:.2f}")
    return "\n".join(lines)


def _row(name: str, f: dict[str, Any]) -> str:
    cells = "  ".join(f"p{p} {f[f'p{p}_ms']}" for p in (50, 70, 90, 95, 100))
    return f"  {name:14} {cells}  ms"
