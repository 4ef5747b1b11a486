"""``frontdesk kb mishearings``: what callers may have been misheard as, for a person to accept."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.records import read_record
from frontdesk import ConfigError, KnowledgeBaseError

if TYPE_CHECKING:
    from rag.repair import Mishearing
    from rag.repair.propose import Proposal, Turn

_ALL = "all"
_SHOWN = 30
"""Proposals that are printed; the file and --json have them all."""


def find(folder: Path, records: Path, as_json: bool) -> int:
    """Read the call records, write what is proposed beside the documents, and print it.

    Raises:
        KnowledgeBaseError: if the knowledge base or its mishearings cannot be used.
        ConfigError: if there are no call records.
    """
    from rag import documents
    from rag.repair import MISHEARINGS_FILE, PROPOSED_FILE, Lexicon, read
    from rag.repair.propose import propose

    known = read(folder / MISHEARINGS_FILE)
    kb = documents.load(folder)
    calls = _calls(records)
    proposals = propose(calls, Lexicon.of(kb), known, kb.fillers)
    rows = [{"number": number, **_row(one)} for number, one in enumerate(proposals, 1)]
    path = folder / PROPOSED_FILE
    _write(path, rows)
    if as_json:
        print(json.dumps({"calls": len(calls), "file": str(path), "proposed": rows},
                         ensure_ascii=False, indent=2))  # fmt: skip
    else:
        print("\n".join(_printed(rows, len(calls), folder)))
    return 0


def accept(folder: Path, numbers: Sequence[str], as_json: bool) -> int:
    """Move proposals, by their numbers as last printed, to the mishearings that are used.

    Raises:
        KnowledgeBaseError: if there is no such proposal, or a file cannot be read or written.
    """
    from rag.repair import MISHEARINGS_FILE, PROPOSED_FILE, read

    proposed = folder / PROPOSED_FILE
    rows = _proposed(proposed)
    chosen = _chosen(numbers, rows)
    path = folder / MISHEARINGS_FILE
    known = read(path)
    taken = [rows[n] for n in chosen]
    _refuse_two_meanings([*known, *_read_all(taken, proposed)])
    before = path.read_text("utf-8") if path.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    kept = [row for n, row in enumerate(rows) if n not in chosen]
    _replace(path, before + "".join(_line(row) for row in taken))
    _write(proposed, kept)
    if as_json:
        print(json.dumps({"accepted": taken, "left": len(kept)}, ensure_ascii=False, indent=2))
        return 0
    for row in taken:
        print(f"accepted  {row['heard']} → {row['meant']}")
    print(
        f"{len(known) + len(taken)} now in {path}, {len(kept)} left to look at under the numbers "
        "that they have; run: frontdesk kb build"
    )
    return 0


def _calls(folder: Path) -> list[list[Turn]]:
    """The turns of every record; one that cannot be read is named and left out."""
    paths = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    if not paths:
        raise ConfigError(f"{folder} holds no call records; name their folder with --records DIR")
    calls = []
    for path in paths:
        try:
            calls.append(_turns(path))
        except ConfigError as error:
            print(f"left out: {error}", file=sys.stderr)
    return calls


def _turns(path: Path) -> list[Turn]:
    from rag.repair.propose import Turn
    from rag.types import Decision, Reason

    refused = (Reason.BELOW_FLOOR, Reason.CHECK_FAILED)
    verdicts = [event for event in read_record(path) if event["event"] == "verdict"]
    return [
        Turn(
            heard=str(one["heard"]),
            is_answered=one["decision"] == Decision.ANSWERED,
            is_refused=one["decision"] == Decision.REFUSED and one["reason"] in refused,
            place=f"{path.name}#{number}",
        )
        for number, one in enumerate(verdicts, 1)
    ]


def _row(one: Proposal) -> dict[str, Any]:
    return {
        "heard": one.mishearing.heard,
        "meant": one.mishearing.meant,
        "turns": one.turns,
        "asked_again": one.asked_again,
        "distance": one.distance,
        "examples": [{"turn": place, "heard": words} for place, words in one.examples],
    }


def _printed(rows: Sequence[Mapping[str, Any]], calls: int, folder: Path) -> list[str]:
    if not rows:
        return [f"nothing to propose from {calls} calls"]
    lines = ["   #  turns  again  heard → meant"]
    for row in rows[:_SHOWN]:
        lines.append(
            f"{row['number']:4}  {row['turns']:5}  {row['asked_again']:5}  "
            f"{row['heard']} → {row['meant']}    “{row['examples'][0]['heard']}”"
        )
    if len(rows) > _SHOWN:
        lines.append(f"   … and {len(rows) - _SHOWN} more (--json)")
    return [
        *lines,
        "",
        f"{len(rows)} proposals from {calls} calls. “again”: the caller put the question again in",
        "the words meant, and was answered. None is used before you accept it:",
        f"  frontdesk kb mishearings --kb {folder} --accept 1 2   # by number, or --accept all",
    ]


def _proposed(path: Path) -> list[dict[str, Any]]:
    try:
        rows = _lines(path.read_text("utf-8"))
    except FileNotFoundError:
        raise KnowledgeBaseError(
            f"{path} is not there; run: frontdesk kb mishearings, and look at what it proposes"
        ) from None
    except (OSError, ValueError) as error:
        raise KnowledgeBaseError(
            f"cannot read {path} ({error}); run: frontdesk kb mishearings, to write it again"
        ) from error
    _read_all(rows, path)
    return rows


def _read_all(rows: Sequence[Any], path: Path) -> list[Mishearing]:
    """The rows of ``path`` as they are used."""
    from rag.repair import mishearing

    found = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(mishearing(row))
        except ValueError as error:
            raise KnowledgeBaseError(f"{path} row {number}: {error}; mend the row") from error
    return found


def _refuse_two_meanings(rows: Sequence[Mishearing]) -> None:
    meanings: dict[str, str] = {}
    for row in rows:
        if meanings.setdefault(row.heard, row.meant) != row.meant:
            raise KnowledgeBaseError(
                f"{row.heard!r} would mean both {meanings[row.heard]!r} and {row.meant!r}; "
                "accept one of the two"
            )


def _chosen(numbers: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Which rows are meant, from 0. A row keeps its number when others are accepted."""
    if list(numbers) == [_ALL]:
        return list(range(len(rows)))
    places = {str(row.get("number", place + 1)): place for place, row in enumerate(rows)}
    for text in numbers:
        if text not in places:
            raise KnowledgeBaseError(
                f"there is no proposal {text!r}; give numbers of {', '.join(places)}, or all"
                if places
                else "nothing is proposed; run: frontdesk kb mishearings"
            )
    return sorted({places[text] for text in numbers})


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    _replace(path, "".join(map(_line, rows)))


def _replace(path: Path, text: str) -> None:
    """Put ``text`` in the place of a file, whole or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot write {path} ({error.strerror}); make its folder writable"
        ) from error
