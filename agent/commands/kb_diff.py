"""What a change of the documents changes, before it is published.

Past callers' questions are asked of both folders, each with its own floors, the most asked first:

  contradicted  answered by both, and the new answer says another time, price or day, or no for yes
  gone          no longer answered
  changed       answered in other words
  appeared      answered now
  spoken        the fact is the same, and is read aloud in other words

  frontdesk kb diff docs/ docs-new/
  frontdesk kb diff docs/ docs-new/ --since 2026-11-01 --html diff.html
  frontdesk kb diff docs/ docs-new/ --questions asked.txt --fail-on contradicted,gone
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agent.commands.report import day, days_given, write
from agent.progress import Progress, stages
from agent.settings import Settings
from frontdesk import ConfigError

if TYPE_CHECKING:
    from agent.insight.differences import Difference
    from agent.insight.past_questions import Past
    from agent.insight.spoken_changes import SpokenChange
    from rag import Index, Policy

FAIL_ON = ("contradicted", "gone", "changed", "appeared", "spoken")
_QUESTIONS = "questions.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("old", type=Path, metavar="OLD", help="the documents as they are")
    parser.add_argument("new", type=Path, metavar="NEW", help="the documents as they shall be")
    parser.add_argument("--calls", type=Path, metavar="FOLDER", help="folder of call records "
                        "(default: those of the settings)")  # fmt: skip
    parser.add_argument("--questions", type=Path, metavar="FILE", help="ask these instead: one a "
                        'line, as text or as JSON with "text" and "context"')  # fmt: skip
    parser.add_argument("--since", type=day, metavar="DATE", help="calls from this day on")
    parser.add_argument("--until", type=day, metavar="DATE", help="calls to this day")
    parser.add_argument("--most", type=_positive, default=2000, metavar="N",
                        help="ask the N most asked (default: 2000)")  # fmt: skip
    parser.add_argument("--fail-on", type=_kinds, default=frozenset(), metavar="KIND,…",
                        help=f"exit 1 if there is one of these: {', '.join(FAIL_ON)}")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the differences; 1 if there is one that ``--fail-on`` names, else 0.

    Raises:
        KnowledgeBaseError: one of the folders is no knowledge base.
        ConfigError: the questions cannot be had.
    """
    from agent.insight.differences import differences, fails
    from agent.insight.spoken_changes import spoken_changes

    with stages() as progress:
        old, old_policy = _opened(args.old, settings, progress)
        new, new_policy = _opened(args.new, settings, progress)
        past, source = _questions(args, settings)
        asked = past[: args.most]
        found: list[Difference] = []
        if old.kb.sha256 != new.kb.sha256:
            policies = old_policy, new_policy
            found = differences(
                asked, old, new, policies, lambda done, of: progress("questions", done, of)
            )
        spoken = spoken_changes(old, new)
    figures = _figures(args, past, asked, source, old.kb.sha256 == new.kb.sha256)
    if args.html:
        from agent.insight.difference_page import page

        write(args.html, page(_title(figures), found, spoken))
    if args.json:
        rows = [one.as_json() for one in found]
        changes = [one.as_json() for one in spoken]
        print(json.dumps({**figures, "differences": rows, "spoken": changes}, indent=2))
    else:
        print("\n".join([_title(figures), *_text(found), *_spoken_text(spoken)]))
    is_spoken = "spoken" in args.fail_on and bool(spoken)
    return int(is_spoken or fails(found, args.fail_on))


def _opened(folder: Path, settings: Settings, progress: Progress) -> tuple[Index, Policy]:
    from agent.replay.text import unhurried
    from agent.retrieval import index_of, policy_of

    progress("documents", 0, 1)
    own = settings.model_copy(update={"kb": folder})
    index = index_of(own)
    progress("documents", 1, 1)
    return index, unhurried(policy_of(own))


def _questions(args: argparse.Namespace, settings: Settings) -> tuple[list[Past], str]:
    """The questions and where they are from: a file, records, or else the documents' own."""
    from agent.insight.past_questions import of_file

    if args.questions:
        return of_file(args.questions), str(args.questions)
    past = _of_records(args, settings)
    if past:
        return past, str(args.calls or "calls")
    for folder in (args.new, args.old):
        if (folder / _QUESTIONS).is_file():
            return of_file(folder / _QUESTIONS), f"{folder / _QUESTIONS}, for want of calls"
    return [], "no calls, and no questions.jsonl beside the documents"


def _of_records(args: argparse.Namespace, settings: Settings) -> list[Past]:
    from agent.insight.past_questions import of_turns
    from agent.records.keeper import kept

    chosen = settings.records
    if args.calls:
        if not args.calls.is_dir():
            raise ConfigError(f"--calls {args.calls} is no folder; give one of call records")
        if not any(args.calls.glob("*.jsonl")):  # a database would be made there
            raise ConfigError(f"--calls {args.calls} holds no call records")
        chosen = chosen.model_copy(update={"folder": args.calls, "database_variable": ""})
    zone, now = ZoneInfo(settings.handover.time_zone), datetime.now(UTC)
    first, last = (
        days_given(one, one, zone, now) if one else None for one in (args.since, args.until)
    )
    if first and last:
        days_given(args.since, args.until, zone, now)  # in their order
    with kept(chosen) as records:
        since, until = first.since if first else None, last.until if last else None
        return of_turns(records.store.turns(since, until))


def _figures(
    args: argparse.Namespace,
    past: Sequence[Past],
    asked: Sequence[Past],
    source: str,
    is_same: bool,
) -> dict[str, Any]:
    return {
        "old": str(args.old),
        "new": str(args.new),
        "from": source,
        "questions": len(past),
        "asked": 0 if is_same else len(asked),
        "times": sum(one.times for one in past),
        "same_documents": is_same,
    }


def _title(figures: dict[str, Any]) -> str:
    title = f"{figures['old']} → {figures['new']}: "
    if figures["same_documents"]:
        return f"{title}the same documents"
    if not figures["questions"]:
        return f"{title}nothing to ask ({figures['from']}); give some with --questions FILE"
    left = figures["questions"] - figures["asked"]
    rest = f", {left} asked less often left out (--most)" if left else ""
    return f"{title}{figures['asked']} questions from {figures['from']}{rest}"


def _text(found: Sequence[Difference]) -> Iterable[str]:
    if not found:
        yield "no answer changes"
    for one in found:
        detail = f" ({one.detail})" if one.detail and one.kind == "contradicted" else ""
        yield from ("", f"{one.kind}, asked {_times(one.times)}{detail}: “{one.heard}”")
        yield from (f"  - {one.old.say}", f"  + {one.new.say}")
    if found:
        counts = [(kind, sum(one.kind == kind for one in found)) for kind in FAIL_ON]
        yield from ("", ", ".join(f"{count} {kind}" for kind, count in counts if count))


def _spoken_text(spoken: Sequence[SpokenChange]) -> Iterable[str]:
    for one in spoken:
        yield from ("", f"spoken, {one.passage}: {one.text}", f"  - {one.old}", f"  + {one.new}")
    if spoken:
        yield from ("", f"{len(spoken)} spoken: the same facts, read aloud in other words")


def _times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _kinds(text: str) -> frozenset[str]:
    kinds = frozenset(one.strip() for one in text.split(","))
    if unknown := sorted(kinds - set(FAIL_ON)):
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is none of {', '.join(FAIL_ON)}; separate several by commas"
        )
    return kinds
