"""The knowledge base: build its index, and measure the floor below which no answer is given.

  frontdesk kb build                 # a folder of kb-*.md, paragraphs split by blank lines
  frontdesk kb calibrate             # from questions.jsonl; writes floors.json beside it
A folder without questions.jsonl uses the sample's floors; the verdicts say so.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from agent.settings import load_settings
from frontdesk import KnowledgeBaseError

_RATES = {
    "over_refusal": "right answers to well-heard questions refused",
    "wrongly_answered": "questions without an answer answered",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True)
    for name, what in (
        ("build", "read the documents and write the index"),
        ("calibrate", "measure the floor on the questions of the knowledge base"),
    ):
        sub = actions.add_parser(name, help=what)
        sub.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
        sub.add_argument("--json", action="store_true", help="print as JSON")
        if name == "calibrate":
            sub.add_argument("--held-out", help="voice that takes no part (default: questions')")


def run(args: argparse.Namespace) -> int:
    """Build or calibrate."""
    from rag import documents, store

    folder = load_settings(kb=args.kb).kb
    if args.action == "calibrate":
        return _calibrate(folder, args.held_out, args.json)
    index = store.rebuild(documents.load(folder))
    figures = {
        "documents": len(index.kb.texts),
        "passages": len(index.kb.passages),
        "sentences": len(index.sentences),
        "floors": {
            language: "the sample clinic's, run: frontdesk kb calibrate" if c.is_default else "own"
            for language, c in index.calibrations.items()
        },
        "index": str(store.artefact_path(folder)),
    }
    print(
        json.dumps(figures, indent=2)
        if args.json
        else "\n".join(f"{k:11} {v}" for k, v in figures.items())
    )
    return 0


def _calibrate(folder: Path, held_out: str | None, as_json: bool) -> int:
    from rag import calibrate, calibration, documents, questions, store

    path = folder / questions.QUESTIONS_FILE
    if not path.is_file():
        raise KnowledgeBaseError(
            f"{path} is missing: calibration needs questions with and without an answer in the "
            "documents (docs/how-answers-are-decided.md)"
        )
    rows = questions.read(path)
    index = store.rebuild(documents.load(folder))
    held_out = held_out or questions.held_out_voice(rows)
    heard = [
        one for one in questions.asked(rows, fillers=index.kb.fillers) if one.voice != held_out
    ]
    found = {"en": calibrate(index, heard, set_name=questions.QUESTIONS_FILE)}
    (folder / calibration.FLOORS_FILE).write_text(calibration.dump(found), "utf-8")
    store.rebuild(documents.load(folder))
    if as_json:
        print(json.dumps({language: asdict(c) for language, c in found.items()}, indent=2))
        return 0
    for language, c in found.items():
        print(f"{language}: floor {c.floor:.3f}, support floor {c.support_floor:.3f} (cosines)")
        print(
            f"  {c.n_answerable} answerable, {c.n_unanswerable} unanswerable questions; AUC "
            f"{c.auc:.3f} and {c.support_auc:.3f}; held out: {held_out or 'no voice'}"
        )
        for name, what in _RATES.items():
            rate = getattr(c, name)
            print(
                f"  {what}: {rate.rate:.1%} ({rate.low:.1%} to {rate.high:.1%} with 95 % "
                f"confidence, n {rate.n})"
            )
    print(f"written to {folder / calibration.FLOORS_FILE}")
    return 0
