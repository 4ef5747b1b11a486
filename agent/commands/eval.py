"""Quality against the gold labels of a knowledge base's questions.jsonl.

  frontdesk eval answers             # right, wrong fact, over-refused, wrongly answered
  frontdesk eval answers --typed     # the questions as written, not as heard
  frontdesk eval retrieval           # recall, MRR and nDCG, raw and rewritten
No row is judged by floors that it helped to set; the held-out voice is reported apart. Results go
to bench/results/. Exit 1 if the held-out voice (or, with --typed, anyone) gets a core question
wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("answers", "retrieval"):
        sub = kinds.add_parser(name)
        sub.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
        sub.add_argument("--typed", action="store_true", help="as written, not as heard")
        sub.add_argument("--json", action="store_true", help="print as JSON")
        sub.add_argument("--no-save", action="store_true", help="do not write bench/results/")


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    from tqdm import tqdm

    from bench.results import write_result
    from rag import evaluate_answers, evaluate_retrieval, open_index, questions

    folder = load_settings(kb=args.kb).kb
    index = open_index(folder)
    rows = questions.read(folder / questions.QUESTIONS_FILE)
    voices = [questions.TYPED] if args.typed else None
    asked = questions.asked(rows, voices, fillers=index.kb.fillers)
    if args.kind == "retrieval":
        figures = evaluate_retrieval(index, asked)
    else:
        with tqdm(total=len(asked), unit="question", disable=not sys.stderr.isatty()) as bar:
            figures = evaluate_answers(
                index,
                asked,
                held_out_voice=questions.held_out_voice(rows),
                progress=lambda done, _: bar.update(done - bar.n),
            )
    if not args.no_save:
        write_result(args.kind + ("-typed" if args.typed else ""), figures)
    print(json.dumps(figures, indent=2) if args.json else _table(args.kind, figures))
    judged = figures if args.typed else figures.get("held_out_voice", {})
    core = {row.id for row in rows if row.kind == "core"}
    return int(any(row["id"] in core for row in judged.get("wrong", ())))


def _table(kind: str, figures: dict[str, Any]) -> str:
    if kind == "retrieval":
        lines = []
        for form in ("raw", "rewritten"):
            for leg, row in figures[form].items():
                cells = "  ".join(f"{name} {value:.3f}" for name, value in row.items())
                lines.append(f"{form:10} {leg:7} {cells}")
        return "\n".join(lines)
    from rag.evaluate import COUNTS

    lines = []
    parts = (("other voices", figures), ("held-out voice", figures["held_out_voice"]))
    for name, part in parts:
        cells = "  ".join(f"{key.replace('_', ' ')} {part[key]}" for key in COUNTS)
        lines.append(f"{name:15} {cells}")
    for row in figures["wrong"][:20]:
        lines.append(f"  {row['outcome']:16} {row['id']} {row['voice']}: {row['heard']!r}")
        lines.append(f"  {'':16} -> {row['say']!r}")
    left = len(figures["wrong"]) - 20
    return "\n".join([*lines, f"  … and {left} more (--json)"] if left > 0 else lines)
