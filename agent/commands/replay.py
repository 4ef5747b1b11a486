"""Replay recorded calls through the present documents and code; print what changed.

  frontdesk replay calls/                 # every record of a folder
  frontdesk replay tests/calls/clinic.jsonl
Decisions, reasons, rewrites, citations and spoken words are compared. Exit 1 if any changed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from agent.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="RECORD", help="record or folder")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when nothing changed, 1 when something did."""
    from agent.replay import record_paths, replay
    from agent.retrieval import index_of, policy_of

    paths = record_paths(args.paths)
    settings = load_settings(kb=args.kb)
    index, policy = index_of(settings), policy_of(settings)
    results = [replay(path, index, policy) for path in paths]
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
