"""The knowledge base: build its index, check its documents, and measure its floors.

  frontdesk kb build docs/           # Markdown, text, HTML, PDF, DOCX, CSV, TSV and XLSX
  frontdesk kb check docs/           # empty, duplicate, contradictory and expired passages, …
  frontdesk kb check docs/ --ears    # whether callers understand what is said from them
  frontdesk kb calibrate docs/       # the floors below which no answer is given
  frontdesk kb mishearings docs/     # what call records show callers to have been misheard as
  frontdesk kb diff docs/ docs-new/  # what a change of them changes for callers, --fail-on gone
  frontdesk kb demand                # what callers wanted and did not get: answers to write next
A file that cannot be read is named and left out; building fails only if nothing is left. Exit 1
if check finds something to mend, or diff what --fail-on names.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.commands.kb_check import check_folder, skipped_json
from agent.progress import Progress, stages
from agent.settings import Settings, load_settings
from frontdesk import ConfigError, ModelFileError

if TYPE_CHECKING:
    from rag import Index


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from agent.commands import kb_demand, kb_diff

    actions = parser.add_subparsers(dest="action", required=True)
    what = "what a change of the documents changes: answers to past callers' questions"
    kb_diff.add_arguments(
        actions.add_parser(
            "diff",
            help=what,
            description=kb_diff.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    for name, what in (
        ("build", "read the documents and write the index"),
        ("check", "find what to mend in the documents; nothing is built"),
        ("calibrate", "measure the floors on the questions of the knowledge base"),
        ("mishearings", "propose mishearings from call records, and accept them"),
        ("demand", "what callers wanted and did not get: the answers to write next"),
    ):
        sub = actions.add_parser(
            name,
            help=what,
            description=kb_demand.__doc__ if name == "demand" else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="the same as --kb")
        sub.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
        sub.add_argument("--json", action="store_true", help="print as JSON")
        if name == "build":
            sub.add_argument("--no-speech", action="store_true",
                             help="leave it to serve to render the sentences")  # fmt: skip
        if name == "check":
            sub.add_argument("--ears", action="store_true", help="check instead whether callers "
                             "understand every value and name as it is said")  # fmt: skip
            sub.add_argument("--html", type=Path, metavar="FILE", help="with --ears: a page to "
                             "listen to what is not understood")  # fmt: skip
            sub.add_argument("--today", type=_day, metavar="DATE", help="YYYY-MM-DD, the day on "
                             "which dates have gone by (default: today)")  # fmt: skip
        if name == "calibrate":
            sub.add_argument("--held-out", help="voice that takes no part (default: questions')")
            sub.add_argument("--alpha", type=float, help="most unanswerable questions answered")
            sub.add_argument("--confidence", type=float, help="that alpha is kept with")
        if name == "demand":
            from agent.commands import kb_demand

            kb_demand.add_arguments(sub)
        if name == "mishearings":
            sub.add_argument("--records", type=Path, metavar="DIR", help="folder of call records "
                             "(default: settings)")  # fmt: skip
            sub.add_argument("--accept", nargs="+", metavar="N", help="use these proposals, by "
                             "number as last printed, or all")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Build, check or calibrate."""
    if args.action == "diff":
        from agent.commands import kb_diff

        return kb_diff.run(args, load_settings(kb=args.new))
    if args.folder and args.kb and args.folder != args.kb:
        raise ConfigError(f"two folders are named, {args.folder} and {args.kb}; give one")
    settings = load_settings(kb=args.folder or args.kb)
    if args.action == "build":
        return _build(settings, args.json, with_speech=not args.no_speech)
    if args.action == "check" and args.ears:
        from agent.commands.kb_ears import check_ears

        return check_ears(settings, args.html, args.json)
    if args.action == "check":
        return check_folder(settings.kb, args.today or date.today(), args.json)
    if args.action == "demand":
        from agent.commands import kb_demand

        return kb_demand.run(args, settings)
    if args.action == "mishearings":
        from agent.commands import kb_mishearings

        if args.accept:
            return kb_mishearings.accept(settings.kb, args.accept, args.json)
        records = args.records or settings.records.folder
        return kb_mishearings.find(settings.kb, records, args.json)
    from agent.commands.kb_calibrate import calibrate

    given = {
        name: value
        for name in ("held_out", "alpha", "confidence")
        if (value := getattr(args, name)) is not None
    }
    return calibrate(settings.kb, as_json=args.json, **given)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day like 2026-10-01") from None


def _build(settings: Settings, as_json: bool, with_speech: bool) -> int:
    from agent.retrieval import embedder_of, maker_of, recipe_of
    from rag import store
    from rag.artefact import kinds_of

    folder, maker = settings.kb, maker_of(settings)
    with stages() as progress:
        built = store.rebuild(
            folder, embedder_of(settings), recipe_of(settings), ask=maker, progress=progress
        )
        index = built.index
        speech = _speech(settings, index, progress) if with_speech else "left to serve"
    failed = [one for one in built.skipped if one.kind == "failed"]
    figures = {
        "documents": len(index.kb.texts),
        "passages": len(index.kb.passages),
        "sentences": len(index.sentences),
        "reused": built.reused,
        "embedded": built.embedded,
        "languages": list(index.languages),
        "keys": kinds_of(index),
        "made": dict(built.made),
        "embedder": index.embedder.name,
        "floors": {
            language: f"{floor.floor:.3f}, measured on {floor.set}"
            for language, floor in index.calibrations.items()
        }
        or "the default; write callers' questions into questions.jsonl, then run: kb calibrate",
        "index": str(store.artefact_path(folder)),
        "speech": speech,
        "skipped": [skipped_json(one, folder) for one in failed],
        "notes": {source.path: list(source.notes) for source in index.kb.sources if source.notes},
    }
    print(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else _built(figures))
    return 0


def _speech(settings: Settings, index: Index, progress: Progress) -> str:
    """Render the sentences of ``index``, which is in service already; what became of it."""
    from agent.prerender import prepare_all
    from agent.retrieval import policy_of

    try:
        done = prepare_all(settings, index, policy_of(settings).refusal, progress)
    except ModelFileError as error:
        return f"none: {error}"
    said = [f"{done.ready} sentences ready, {done.rendered} rendered now"]
    if done.is_full:
        said.append("voice.disk_mb has no room for more")
    if done.failed:
        said.append(f"{len(done.failed)} failed: {done.failed[0]}")
    return "; ".join(said)


def _built(figures: Mapping[str, Any]) -> str:
    lines = []
    for name, value in figures.items():
        if name in ("skipped", "notes"):
            continue
        if name == "made":
            made = (f"{count} questions by {what}" for what, count in value.items())
            value = ", ".join(made) or "no questions"
        if isinstance(value, dict):
            value = ", ".join(f"{key}: {one}" for key, one in value.items()) or "none"
        lines.append(f"{name:11} {', '.join(value) if isinstance(value, list) else value}")
    lines += [f"skipped     {one['file']}: {one['reason']}" for one in figures["skipped"]]
    for path, notes in figures["notes"].items():
        lines += [f"note        {path}: {note}" for note in notes]
    return "\n".join(lines)
