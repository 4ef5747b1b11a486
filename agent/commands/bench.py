"""Speed on this machine. Results go to bench/results/ with machine, date and commit.

  frontdesk bench call --baseline            # one caller; then stock Pipecat, same models
  frontdesk bench call --calls 8 --baseline
  frontdesk bench call --most                # more callers until one turn fails or p95 > 1.2 s
  frontdesk bench call --memory              # what one more call takes, and gives back
  frontdesk bench rag                        # text in, verdict out: the knowledge base's questions
  frontdesk bench rag --passages 40000       # over synthetic businesses; built once, about 30 min
  frontdesk bench rag --passages 1000000     # their vectors made without the model
Nothing else should run on the machine; compare the two sides as a ratio.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from agent.cli import quiet_logs
from frontdesk import ConfigError

_EMBEDDERS = ("minilm", "e5")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    call = kinds.add_parser("call", help="calls in real time, timed on the returned media")
    call.add_argument("--calls", type=int, default=1, help="callers at once (1 to 64)")
    call.add_argument("--turns", type=int, default=11, help="turns a caller (1 to 40)")
    call.add_argument("--baseline", action="store_true", help="then stock Pipecat in the same run")
    call.add_argument(
        "--most", action="store_true", help="how many callers are held (--turns each)"
    )
    call.add_argument("--memory", action="store_true", help="memory of one more call")
    rag = kinds.add_parser("rag", help="the answer path alone")
    rag.add_argument("--passes", type=int, default=5, help="times through the questions")
    rag.add_argument("--passages", type=int, help="of synthetic businesses, this many")
    rag.add_argument(
        "--embedder", choices=_EMBEDDERS, default=_EMBEDDERS[0], help="with --passages"
    )
    rag.add_argument("--queries", type=int, default=2000, help="questions, with --passages")
    rag.add_argument("--seed", type=int, default=0, help="of the corpus and the questions")
    rag.add_argument("--cache", type=Path, help="where indexes are kept (default: out/bench)")
    for sub in (call, rag):
        sub.add_argument("--json", action="store_true", help="print as JSON")
        sub.add_argument("--no-save", action="store_true", help="do not write bench/results/")


def run(args: argparse.Namespace) -> int:
    """0 when every turn was answered; for ``rag`` always."""
    quiet_logs()
    return _rag(args) if args.kind == "rag" else _call(args)


def _rag(args: argparse.Namespace) -> int:
    from bench.answers import CACHE, bench_corpus, bench_sample, write_queries
    from bench.corpus import MODEL_LIMIT
    from bench.results import write_result

    if args.passages is None:
        if args.passes < 1:
            raise ConfigError("--passes takes 1 or more")
        figures = bench_sample(args.passes)
        if not args.no_save:
            write_result("rag", figures)
    else:
        if args.passages < 1000 or args.queries < 1:
            raise ConfigError("--passages takes 1000 or more, --queries 1 or more")
        if args.embedder == "e5" and args.passages > MODEL_LIMIT:
            raise ConfigError(f"--embedder e5 takes at most {MODEL_LIMIT:,} passages")
        figures, timed = bench_corpus(
            args.passages, args.embedder, args.queries, args.seed, args.cache or CACHE
        )
        if not args.no_save:
            name = f"rag-{args.passages}" + ("" if args.embedder == "minilm" else "-e5")
            write_result(name, figures)
            write_queries(name, timed)
    print(json.dumps(figures, indent=2) if args.json else _rag_table(figures))
    return 0


def _call(args: argparse.Namespace) -> int:
    from bench.calls import bench_calls
    from bench.results import write_result

    if not (1 <= args.calls <= 64 and 1 <= args.turns <= 40):
        raise ConfigError("--calls takes 1 to 64, --turns 1 to 40")
    if args.most or args.memory:
        return _capacity(args)
    figures = bench_calls(args.calls, args.turns, baseline=args.baseline)
    if not args.no_save:
        write_result(f"call-{args.calls}", figures)
    print(json.dumps(figures, indent=2) if args.json else _call_table(figures))
    return int(figures["agent"]["answered"] < figures["agent"]["turns"])


def _capacity(args: argparse.Namespace) -> int:
    from bench.capacity import memory_per_call, most_callers
    from bench.results import write_result

    def told(step: dict[str, Any]) -> None:
        if not args.json:
            print(_call_table({"agent": step}), flush=True)

    name = "memory" if args.memory else "capacity"
    figures = memory_per_call() if args.memory else most_callers(args.turns, told=told)
    if not args.no_save:
        write_result(name, figures)
    if args.json:
        print(json.dumps(figures, indent=2))
    elif args.memory:
        print(
            f"one more call {figures['one_more_call_mb']} MB; kept after it "
            f"{figures['kept_per_call_mb']} MB"
        )
    else:
        print(f"most callers: {figures['most']}")
    return 0


def _rag_table(figures: dict[str, Any]) -> str:
    outcomes = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in figures["outcomes"].items())
    lines = [
        f"{figures['queries']} queries over {figures['passages']} passages: {outcomes}",
        f"memory {figures['rss_mb']} MB, of it {figures['own_mb']} MB not shared; index on disk "
        f"{figures['index_mb']} MB",
        _row("whole answer", figures),
        *(_row(name, found) for name, found in figures["stages"].items()),
        *(
            _row(f"in {language}", found)
            for language, found in figures.get("languages", {}).items()
        ),
    ]
    return "\n".join(lines)


def _call_table(figures: dict[str, Any]) -> str:
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
            if told := f.get("records"):
                lines.append(
                    f"  by the records: {told['turns']} turns, ready early {told['ready']}, "
                    f"taken back {told['taken_back']}, second opinions {told['second_opinions']}"
                )
    if "baseline" in figures and figures["baseline"]["p95_ms"] and figures["agent"]["p95_ms"]:
        ratio = figures["agent"]["p95_ms"] / figures["baseline"]["p95_ms"]
        lines.append(f"p95 ratio, agent to baseline: {ratio:.2f}")
    return "\n".join(lines)


def _row(name: str, f: dict[str, Any]) -> str:
    cells = "  ".join(f"p{p} {f[f'p{p}_ms']}" for p in (50, 70, 90, 95, 100))
    return f"  {name:14} {cells}  ms"
