"""Replay recorded calls through the present documents and code; print what changed.

  frontdesk replay calls/                 # every record of a folder
  frontdesk replay tests/calls/clinic.jsonl
Decisions, reasons, rewrites, citations and spoken words are compared. Exit 1 if any changed.
What a language model said is judged again, not asked for again, unless --generate is given.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.settings import Settings, load_settings
from frontdesk import ConfigError

if TYPE_CHECKING:
    from agent.replay import Replayed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="RECORD", help="record or folder")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    parser.add_argument(
        "--generate", action="store_true", help="ask the language model of [generation] again"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when nothing changed, 1 when something did."""
    from agent.replay import record_paths

    paths = record_paths(args.paths)
    results = asyncio.run(_replayed(paths, load_settings(kb=args.kb), args.generate))
    changed = sum(bool(result.changes) for result in results)
    if args.json:
        shapes = [{**asdict(result), "path": str(result.path)} for result in results]
        print(json.dumps(shapes, ensure_ascii=False, indent=2))
        return 1 if changed else 0
    for result in results:
        print(f"{result.path}: {result.turns} turns, {len(result.changes)} changes")
        for change in result.changes:
            print(f"  turn {change.turn} heard {change.heard!r}: {change.field}")
            print(f"    - {change.before}")
            print(f"    + {change.after}")
    turns = sum(result.turns for result in results)
    print(f"{len(results)} calls, {turns} turns, {changed} calls changed")
    return 1 if changed else 0


async def _replayed(paths: list[Path], settings: Settings, generate: bool) -> list[Replayed]:
    from agent.generation import generator_of, rewriter_of
    from agent.generation.configured import policy_of as generation_policy_of
    from agent.replay import Models, replay
    from agent.retrieval import index_of, policy_of

    index, policy = index_of(settings), policy_of(settings)
    words = generator_of(settings, index) if generate else None
    rewriter = rewriter_of(settings) if generate else None
    if generate and words is None:
        raise ConfigError("--generate needs [generation] base_url and model")
    models = Models(words, rewriter, generation_policy_of(settings), settings.handover.rules())
    try:
        return [await replay(path, index, policy, models) for path in paths]
    finally:
        for one in (words, rewriter):
            if one is not None:
                await one.close()
