"""List call records, or show one call's turns with the evidence for each answer.

frontdesk calls list
frontdesk calls show calls/20260101T120000000000-CA1.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.records import read_record
from agent.report import second_line
from agent.settings import load_settings
from frontdesk import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="the records in the records folder, oldest first")
    listing.add_argument("--json", action="store_true", help="print as JSON")
    show = actions.add_parser("show", help="one record, turn by turn")
    show.add_argument("record", type=Path)
    show.add_argument("--json", action="store_true", help="print its events as one JSON list")


def run(args: argparse.Namespace) -> int:
    """Print the records, or one of them."""
    if args.action == "show":
        return _show(read_record(args.record), args.json)
    rows = []
    for path in sorted(load_settings().records.folder.glob("*.jsonl")):
        try:
            rows.append(_row(path))
        except ConfigError as error:
            print(f"left out: {error}", file=sys.stderr)
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        print(f"{row['at']}  {row['turns']:3} turns  {row['ended']:18}  {row['path']}")
    print(f"{len(rows)} calls")
    return 0


def _row(path: Path) -> dict[str, Any]:
    events = read_record(path)
    last = events[-1]
    return {
        "path": str(path),
        "at": events[0].get("at", ""),
        "turns": sum(event["event"] == "verdict" for event in events),
        "ended": last["reason"] if last["event"] == "call_ended" else "not ended",
    }


def _why(event: Mapping[str, Any]) -> list[str]:
    """What a follow-up became and by which rules, and what a refusal failed for."""
    lines = []
    query = event["query"]
    if query.get("changes"):
        lines.append(f"looked up {query['text']!r} ({', '.join(query['changes'])})")
    if event["decision"] == "refused" and event.get("detail"):
        lines.append(event["detail"])
    return lines


def _show(events: list[dict[str, Any]], as_json: bool) -> int:
    if as_json:
        print(json.dumps(events, ensure_ascii=False, indent=2))
        return 0
    for event in events:
        at = f"{event['t_ms'] / 1000:8.2f} s"
        match event["event"]:
            case "said":
                print(f"{at}  agent   {event['say']}")
            case "verdict":
                score = "" if event["score"] is None else f" {event['score']:.3f}"
                cited = " ".join(f"[{name}]" for name in event["citations"])
                print(f"{at}  caller  {event['heard']}")
                print(f"{'':10}  agent   {event['say']}")
                print(f"{'':20}{event['decision']} ({event['reason']}){score} {cited}")
                for line in _why(event):
                    print(f"{'':20}{line}")
            case "resumed":
                print(f"{at}  caller  {event['heard'] or '(a sound)'}")
                print(f"{'':10}  agent   {event['say']}")
                print(f"{'':20}goes on: nobody meant to cut it")
            case "taken_back":
                print(f"{at}  caller  goes on; {event['played_ms']} ms of a reply are taken back")
            case "second_opinion":
                print(f"{'':20}{second_line(event)}")
            case kind:
                rest = {k: v for k, v in event.items() if k not in ("t_ms", "event")}
                print(f"{at}  {kind}  {rest}")
    return 0
