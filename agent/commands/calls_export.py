"""``frontdesk calls export``: a recorded call as a case without personal details.

frontdesk calls export 20261201T101500123456-CA12 --out tests/calls/refill.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from functools import partial
from pathlib import Path

from agent.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("call", type=Path, metavar="CALL", help="a call's id, or its record")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: print it")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")


def run(args: argparse.Namespace) -> int:
    """0 when the case comes out as the call did, 1 when it does not; both are said."""
    from agent.privacy import kept_values, stand_ins
    from agent.replay import Models, record_paths
    from agent.replay.case import shape_of, write_case
    from agent.replay.export import exported
    from agent.retrieval import index_of, policy_of

    settings = load_settings(kb=args.kb)
    (record,) = record_paths([args.call], settings.records.folder)
    models = Models(rules=settings.handover.rules())
    index = index_of(settings)
    keep = kept_values(passage.text for passage in index.kb.passages)
    harmless = partial(stand_ins, keep=keep)
    done = asyncio.run(exported(record, index, policy_of(settings), harmless, models))
    for note in done.notes:
        print(note, file=sys.stderr)
    if args.out is None:
        print(json.dumps(shape_of(done.case), ensure_ascii=False, indent=1))
    else:
        write_case(done.case, args.out)
        print(f"{args.out}: {len(done.case.turns)} turns; try it: frontdesk replay {args.out}")
    return 1 if done.notes else 0
