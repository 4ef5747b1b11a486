"""Call records: list them, show one, prove that nothing was changed, remove one.

frontdesk calls list --since 2026-01-01 --text refill
frontdesk calls show CA1                    # an id, its end, or a record's file
frontdesk calls verify                      # every call; exit 1 names the first broken link
frontdesk calls remove --caller +15555550123
frontdesk calls export CA1 --out case.json  # a replay case without personal details
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent.settings import load_settings
from frontdesk import ConfigError

if TYPE_CHECKING:
    from agent.records.rows import CallRow
    from agent.records_settings import RecordSettings

_OUTCOMES = ("answered", "refused", "transferred", "hung_up", "marked")
_MORE = {
    "audio": "a call's recording, as WAV or FLAC",
    "export": "a call as a replay case, without personal details",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True)
    listing = _parser(
        actions,
        "list",
        "the calls, oldest first",
        """frontdesk calls list                       # the newest thousand
frontdesk calls list --since 2026-01-01 --until 2026-02-01
frontdesk calls list --text "flu shot" --outcome refused""",
    )
    listing.add_argument("--since", type=_day, metavar="DATE", help="2026-01-31; its begin, UTC")
    listing.add_argument("--until", type=_day, metavar="DATE", help="the day itself left out")
    listing.add_argument("--text", default="", help="words that were heard or said in one turn")
    listing.add_argument(
        "--outcome", default="", choices=_OUTCOMES, help="with such a turn, end or mark in it"
    )
    listing.add_argument("--limit", type=int, default=1000, help="the newest so many (1000)")
    listing.add_argument("--json", action="store_true", help="print as JSON")
    show = _parser(
        actions,
        "show",
        "one call, turn by turn: heard, looked up, score and floor, said",
        """frontdesk calls show CA1                    # the end of its id is enough
frontdesk calls show copy-of-a-record.jsonl""",
    )
    show.add_argument("call", metavar="CALL", help="its id, the end of it, or a record's file")
    show.add_argument("--json", action="store_true", help="print its events as one JSON list")
    verify = _parser(
        actions,
        "verify",
        "prove that records were not changed",
        """frontdesk calls verify          # every call; exit 1 names the first broken link
frontdesk calls verify CA1      # one

Keep the head of the ledger that it prints somewhere else: it proves that no call is missing.""",
    )
    verify.add_argument("calls", nargs="*", metavar="CALL", help="default: all")
    verify.add_argument("--json", action="store_true", help="print as JSON")
    remove = _parser(
        actions,
        "remove",
        "remove calls and their recordings; the ledger says that they were",
        """frontdesk calls remove --caller +15555550123  # every call of this number
frontdesk calls remove CA1 --why 'asked by letter'""",
    )
    remove.add_argument("calls", nargs="*", metavar="CALL")
    remove.add_argument("--caller", metavar="NUMBER", help="every call of this number")
    remove.add_argument("--why", default="on request", help="kept in the ledger")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    _parser(
        actions,
        "rebuild",
        "make the database again from the journals",
        "Where the database is damaged, or verify says that it is not what the journals are.",
    )
    for name, summary in _MORE.items():
        module = importlib.import_module(f"agent.commands.calls_{name}")
        examples = str(module.__doc__).partition("\n\n")[2]
        module.add_arguments(_parser(actions, name, summary, examples))


def _parser(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    examples: str,
) -> argparse.ArgumentParser:
    return actions.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(args: argparse.Namespace) -> int:
    """0 done; 1 where a record was changed."""
    if args.action in _MORE:
        return int(importlib.import_module(f"agent.commands.calls_{args.action}").run(args))
    actions = {
        "list": _list,
        "show": _show,
        "verify": _verify,
        "remove": _remove,
        "rebuild": _rebuild,
    }
    return actions[args.action](args, load_settings().records)


def _day(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise argparse.ArgumentTypeError("takes a date as 2026-01-31") from None


def _list(args: argparse.Namespace, settings: RecordSettings) -> int:
    from agent.records.keeper import kept
    from agent.records.rows import CallQuery

    query = CallQuery(args.since, args.until, args.text, args.outcome, limit=max(1, args.limit))
    with kept(settings) as records:
        rows = records.store.calls(query)[::-1]
        count = records.store.count(query)
    if args.json:
        print(json.dumps([_shape(row, settings) for row in rows], indent=2))
        return 0
    for row in rows:
        outcome = f"{row.answered} answered, {row.refused} refused"
        print(
            f"{row.started_at:%Y-%m-%d %H:%M:%S}  {row.seconds:5.0f} s  {row.turns:3} turns  "
            f"{outcome:24}  {row.ended or 'goes on':16}  {row.id}"
        )
    print(f"{len(rows)} of {count} calls" if len(rows) < count else f"{count} calls")
    return 0


def _shape(row: CallRow, settings: RecordSettings) -> dict[str, object]:
    return {
        "id": row.id,
        "path": str(settings.folder / f"{row.id}.jsonl"),
        "at": row.started_at.isoformat(timespec="milliseconds"),
        "seconds": row.seconds,
        "wire": row.wire,
        "caller": row.caller,
        "turns": row.turns,
        "answered": row.answered,
        "refused": row.refused,
        "ended": row.ended or "not ended",
        "reply_p50_ms": row.reply_p50_ms,
        "reply_p95_ms": row.reply_p95_ms,
    }


def _show(args: argparse.Namespace, settings: RecordSettings) -> int:
    from agent.commands.calls_shown import shown
    from agent.records import read_record
    from agent.records.verifying import call_named

    path = Path(args.call)
    if not path.is_file():
        path = settings.folder / f"{call_named(settings.folder, args.call)}.jsonl"
    events = read_record(path)
    print(json.dumps(events, ensure_ascii=False, indent=2) if args.json else shown(events))
    return 0


def _verify(args: argparse.Namespace, settings: RecordSettings) -> int:
    from tqdm import tqdm

    from agent.records.keeper import kept
    from agent.records.verifying import Verifier, call_named

    with kept(settings) as records:
        verifier = Verifier(settings.folder, settings.key(), records.store)
        names = [call_named(settings.folder, name) for name in args.calls]
        checks = (verifier.one(name) for name in names) if names else verifier.all()
        found = list(tqdm(checks, "calls", disable=not sys.stderr.isatty()))
        head = records.ledger.head
    broken = [one for one in found if one.broken]
    unproven = [one for one in found if one.unproven]
    if args.json:
        shapes = [
            {
                "call": one.call,
                "events": one.events,
                "broken": str(one.broken) if one.broken else None,
                "unproven": one.unproven or None,
            }
            for one in found
        ]
        print(json.dumps({"head": head, "calls": shapes}, indent=2))
        return 1 if broken else 0
    for one in broken:
        print(f"broken: {one.broken}")
    for one in unproven:
        print(f"not proven: {one.call}: {one.unproven}")
    whole = len(found) - len(broken) - len(unproven)
    print(f"{whole} of {len(found)} calls are as they were written; ledger {head}")
    return 1 if broken else 0


def _remove(args: argparse.Namespace, settings: RecordSettings) -> int:
    from agent.records.caller_key import CallerKeys
    from agent.records.keeper import kept
    from agent.records.retention import is_live, remove
    from agent.records.verifying import call_named

    if not args.calls and not args.caller:
        raise ConfigError("name calls to remove, or --caller NUMBER")
    with kept(settings) as records:
        names = [call_named(settings.folder, name) for name in args.calls]
        if args.caller:
            names += records.store.calls_of(CallerKeys(settings.folder).key_of(args.caller))
        live = {name for name in names if is_live(settings.folder / f"{name}.jsonl")}
        if live:
            raise ConfigError(f"{', '.join(sorted(live))} goes on: hang up first")
        if not names:
            print("no calls of that number")
            return 0
        if not args.yes and not _agreed(f"remove {len(names)} calls and their recordings?"):
            print("nothing was removed")
            return 0
        for name in names:
            remove(settings.folder, records.store, records.ledger, name, args.why)
        records.store.wipe()
    print(f"{len(names)} calls removed")
    return 0


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(f"{question} say so with --yes")
    return input(f"{question} [y/N] ").strip().casefold() in ("y", "yes")


def _rebuild(args: argparse.Namespace, settings: RecordSettings) -> int:
    from agent.records.keeper import kept
    from agent.records.retention import journals
    from agent.records.rows import CallQuery
    from agent.records.store import RecordStore

    store = RecordStore.open(settings.database())
    # A database that several servers share has calls of other folders too.
    store.clear(None if store.is_ours else [path.stem for path in journals(settings.folder)])
    store.close()
    with kept(settings) as records:
        print(f"{records.store.count(CallQuery())} calls in the database again")
    return 0
