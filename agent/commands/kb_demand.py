"""What callers wanted and did not get: the answers to write next, the most wanted first.

Counted are questions that no passage answered, the last question before a caller was put through,
and what was asked again within a call. Like questions are put together. Nothing is drafted.

  frontdesk kb demand                                        # of the seven days until today
  frontdesk kb demand --since 2026-11-01 --csv answers.csv
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from agent.commands.report import day, days_given, write
from agent.progress import stages
from agent.settings import Settings

if TYPE_CHECKING:
    from agent.insight.demand import Wanted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--since", type=day, metavar="DATE", help="the first day (default: a week "
                        "ago)")  # fmt: skip
    parser.add_argument("--until", type=day, metavar="DATE", help="the last day, itself counted")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a row for each answer")
    parser.add_argument("--limit", type=int, default=20, help="print the first so many")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print them."""
    from agent.insight.demand import csv_rows, demand
    from agent.insight.embedding import Embedding
    from agent.insight.reading import calls_of, turns_of
    from agent.records.keeper import kept
    from agent.retrieval import embedder_of

    zone = ZoneInfo(settings.handover.time_zone)
    period = days_given(args.since, args.until, zone, datetime.now(UTC))
    with kept(settings.records) as records, stages() as progress:
        store = records.store
        embedding = Embedding(
            lambda: embedder_of(settings), lambda done, of: progress("questions", done, of)
        )
        wanted = demand(calls_of(store, period), turns_of(store, period), embedding)
    if args.csv:
        from agent.console.csv_file import csv_lines

        write(args.csv, "".join(csv_lines(*csv_rows(wanted))))
    shown = wanted[: max(0, args.limit)]
    if args.json:
        rows = [one.as_json() for one in shown]
        print(json.dumps({"days": period.name, "answers": len(wanted), "wanted": rows}, indent=2))
    else:
        print(_text(period.name, wanted, shown))
    return 0


def _text(days: str, wanted: Sequence[Wanted], shown: Sequence[Wanted]) -> str:
    if not wanted:
        return f"{days}: nothing that callers missed"
    lines = [f"{days}: {len(wanted)} answers to write"]
    for one in shown:
        whys = [
            f"{count} {name}"
            for count, name in (
                (one.refused, "refused"),
                (one.transferred, "put through"),
                (one.asked_again, "asked again"),
            )
            if count
        ]
        calls = "call" if one.calls == 1 else "calls"
        lines += ["", f"{one.calls} {calls}, {one.minutes:.0f} minutes: {', '.join(whys)}"]
        lines += [f"  “{of.heard}”{f' ×{of.times}' if of.times > 1 else ''}" for of in one.wordings]
    return "\n".join(lines)
