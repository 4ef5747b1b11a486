"""Replay conversations through the present documents and code; print what changed.

  frontdesk replay calls/                        # every record, case and recording of a folder
  frontdesk replay 20261201T101500123456-CA12    # a call by its id
  frontdesk replay call.wav                      # a stereo recording, through the whole pipeline
  frontdesk replay tests/calls --audio           # from audio, where there is any
  frontdesk replay tests/calls/hours.json --update    # accept what came out as expected

What was heard, decisions, reasons, rewrites, citations, spoken words and hand-overs are compared.
Exit 1 if any changed, 2 if a file cannot be read; the others of its folder are replayed.
A transcript has one JSON object a line, {"heard": "…"} or {"role": "user", "text": "…"}. What a
language model said is judged again, not asked for again, unless --generate is given. See
docs/replay.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent.settings import Settings, load_settings
from frontdesk import ConfigError

if TYPE_CHECKING:
    from agent.replay import Conversation, Ears, Models, Replayed
    from rag import Index, Policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="CALL",
        help="record, transcript, recording, case, folder of them, or the id of a call",
    )
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    parser.add_argument("--audio", action="store_true", help="from audio, where there is any")
    parser.add_argument(
        "--second", action="store_true", help="hear unsure turns again with the second recogniser"
    )
    parser.add_argument(
        "--generate", action="store_true", help="ask the language model of [generation] again"
    )
    parser.add_argument(
        "--update", action="store_true", help="show, then accept what came out into the cases"
    )
    parser.add_argument("--yes", action="store_true", help="accept without being asked")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML too")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when nothing changed, 1 when something did, 2 when a file could not be read."""
    from agent.cli import quiet_logs
    from agent.replay import record_paths
    from agent.replay.printed import as_json, write_junit

    quiet_logs("ERROR")
    settings = load_settings(kb=args.kb)
    paths = record_paths(args.paths, settings.records.folder)
    talks, unread = _talks(paths, set(args.paths), args.audio)
    results = []
    for talk, result in zip(talks, _replayed(talks, settings, args), strict=True):
        results.append(result)
        if not args.json:
            _print(result)
        if args.update:
            _accept(talk, result, args.yes)
    if args.junit is not None:
        write_junit(results, args.junit, unread)
    changed = sum(bool(result.changes) for result in results)
    if args.json:
        print(json.dumps([as_json(result) for result in results], ensure_ascii=False, indent=2))
    else:
        _sum_up(results, changed)
    for why in unread.values():
        print(f"not replayed: {why}", file=sys.stderr)
    return 2 if unread else int(changed > 0 and not args.update)


def _talks(
    paths: list[Path], named: set[Path], audio: bool
) -> tuple[list[Conversation], dict[Path, str]]:
    """What the paths hold, and of the files that cannot be read, why.

    Raises:
        ConfigError: one that was named itself cannot be read, or none can.
    """
    from agent.replay import conversation

    talks, unread = [], {}
    for path in paths:
        try:
            talks.append(conversation(path, audio=audio))
        except ConfigError as problem:
            if path in named or len(paths) == 1:
                raise
            unread[path] = str(problem)
    if not talks:
        raise ConfigError("; ".join(unread.values()))
    return talks, unread


def _replayed(
    talks: list[Conversation], settings: Settings, args: argparse.Namespace
) -> Iterator[Replayed]:
    """Each conversation's outcome as it comes; a bar on a terminal."""
    from agent.progress import stages
    from agent.replay import Models
    from agent.replay.replaying import mode_of
    from agent.retrieval import index_of, policy_of

    index, policy = index_of(settings), policy_of(settings)
    modes = [mode_of(talk, audio=args.audio) for talk in talks]
    ears = _ears(settings, index, policy, args.second) if "audio" in modes else None
    models = Models(rules=settings.handover.rules())
    with stages() as progress:
        for done, (talk, mode) in enumerate(zip(talks, modes, strict=True)):
            progress("replay", done, len(talks))
            if mode == "audio" and ears is not None:
                yield _from_audio(talk, ears, models)
            else:
                yield asyncio.run(_from_text(talk, index, policy, settings, args.generate))
        progress("replay", len(talks), len(talks))


def _ears(settings: Settings, index: Index, policy: Policy, second: bool) -> Ears:
    from agent.replay import Ears
    from agent.replay.engines import ReplayEngines
    from agent.second_opinion import opinion_of

    live = opinion_of(budget_ms=settings.recogniser.second_budget_ms) if second else None
    return Ears(ReplayEngines.load(settings, index, policy), live)


def _from_audio(talk: Conversation, ears: Ears, models: Models) -> Replayed:
    from agent.replay import replay_audio

    return replay_audio(talk, ears, models)


async def _from_text(
    talk: Conversation, index: Index, policy: Policy, settings: Settings, generate: bool
) -> Replayed:
    from agent.generation import generator_of, rewriter_of
    from agent.generation.configured import policy_of as generation_policy_of
    from agent.replay import Models, replay_text

    words = generator_of(settings, index) if generate else None
    rewriter = rewriter_of(settings) if generate else None
    if generate and words is None:
        raise ConfigError("--generate needs [generation] base_url and model")
    models = Models(words, rewriter, generation_policy_of(settings), settings.handover.rules())
    try:
        return await replay_text(talk, index, policy, models)
    finally:
        for one in (words, rewriter):
            if one is not None:
                await one.close()


def _print(result: Replayed) -> None:
    from agent.replay.printed import lines

    for line in lines(result, colour=sys.stdout.isatty()):
        print(line)


def _sum_up(results: list[Replayed], changed: int) -> None:
    notes = dict.fromkeys(note for one in results if one.changes for note in one.pinned)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    known = sum(len(result.known) for result in results)
    if known:
        print(f"{known} turns are known to be wrong")
    turns = sum(result.turns for result in results)
    print(f"{len(results)} calls, {turns} turns, {changed} calls changed")


def _accept(talk: Conversation, result: Replayed, yes: bool) -> None:
    """Make ``result`` what its case expects, if that is wanted.

    Raises:
        ConfigError: it is no case: a record is evidence, and stays as it is.
    """
    from agent.replay.updating import accept, has_news

    if not talk.is_case:
        raise ConfigError(
            f"{talk.path} is no case, and stays as it is; make one of a call: "
            "frontdesk calls export ID"
        )
    if not has_news(talk, result):
        return
    if not yes and not _agreed(talk.path):
        print(f"{talk.path}: left as it is")
        return
    accept(talk, result)
    print(f"{talk.path}: accepted")


def _agreed(path: Path) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("--update asks on a terminal; add --yes to accept without being asked")
    return input(f"accept this as what {path} expects? [y/N] ").strip().lower() in ("y", "yes")
