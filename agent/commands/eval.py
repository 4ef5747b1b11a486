"""Quality against the gold labels of a knowledge base's questions.jsonl.

  frontdesk eval answers             # right, wrong fact, over-refused, wrongly answered
  frontdesk eval answers --typed     # the questions as written, not as heard
  frontdesk eval retrieval           # recall, MRR and nDCG; by meaning, by words, and by both
  frontdesk eval chunking            # five ways to cut the documents, on the same questions
  frontdesk eval chunking --data DIR # on the XQuAD passages and questions in DIR
No row is judged by floors that it helped to set; the held-out voice is reported apart. Results go
to bench/results/. Exit 1 if the held-out voice (or, with --typed, anyone) gets a core question
wrong.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from agent.progress import stages
from agent.settings import load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("answers", "retrieval", "chunking"):
        sub = kinds.add_parser(name)
        sub.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
        sub.add_argument("--typed", action="store_true", help="as written, not as heard")
        sub.add_argument("--json", action="store_true", help="print as JSON")
        sub.add_argument("--no-save", action="store_true", help="do not write bench/results/")
        if name == "chunking":
            sub.add_argument("--data", type=Path, help="folder with the XQuAD files")
            sub.add_argument("--tokens", type=int, default=64, help="the size of a chunk")


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    return _chunking(args) if args.kind == "chunking" else _against_gold(args)


def _chunking(args: argparse.Namespace) -> int:
    from agent.retrieval import embedder_of
    from bench.chunking import kb_set, xquad_set
    from bench.results import write_result
    from rag.chunking import bake_off, table

    settings = load_settings(kb=args.kb)
    name = "chunking" + ("-xquad" if args.data else "-typed" if args.typed else "")
    passages, asked = xquad_set(args.data) if args.data else kb_set(settings.kb, typed=args.typed)
    with stages() as progress:
        figures = bake_off(
            passages, asked, embedder_of(settings), tokens=args.tokens, progress=progress
        )
    if not args.no_save:
        path = write_result(name, figures)
        path.with_suffix(".md").write_text(table(figures) + "\n", "utf-8")
    print(json.dumps(figures, indent=2) if args.json else table(figures))
    return 0


def _against_gold(args: argparse.Namespace) -> int:
    from agent.retrieval import index_of, policy_of
    from bench.results import write_result
    from rag import evaluate_answers, evaluate_retrieval, questions
    from rag.floor import ALPHA

    settings = load_settings(kb=args.kb)
    index = index_of(settings)
    rows = questions.read(settings.kb / questions.QUESTIONS_FILE)
    voices = [questions.TYPED] if args.typed else None
    asked = questions.asked(rows, voices, fillers=index.kb.fillers)
    with stages() as progress:

        def report(done: int, total: int) -> None:
            progress("questions", done, total)

        if args.kind == "retrieval":
            figures = evaluate_retrieval(index, asked, progress=report)
        else:
            figures = evaluate_answers(
                index,
                asked,
                held_out_voice=questions.held_out_voice(rows),
                # What the knowledge base was calibrated for is what it is judged at.
                alpha=next((c.alpha for c in index.calibrations.values()), ALPHA),
                policy=policy_of(settings),
                progress=report,
            )
    if not args.no_save:
        write_result(args.kind + ("-typed" if args.typed else ""), figures)
    table = _retrieval_table if args.kind == "retrieval" else _answers_table
    print(json.dumps(figures, indent=2) if args.json else table(figures))
    judged = figures if args.typed else figures.get("held_out_voice", {})
    core = {row.id for row in rows if row.kind == "core"}
    return int(any(row["id"] in core for row in judged.get("wrong", ())))


def _retrieval_table(figures: dict[str, Any]) -> str:
    lines = []
    for form in ("raw", "rewritten"):
        for leg, row in figures[form].items():
            cells = "  ".join(
                f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
                for name, value in row.items()
            )
            lines.append(f"{form:10} {leg:8} {cells}")
    for source, found in figures["core"].items():
        for form in ("raw", "rewritten"):
            cells = "  ".join(f"{leg} {right}" for leg, right in found[form].items())
            lines.append(f"core questions, {source}, {form}: right first of {found['n']}: {cells}")
    return "\n".join(lines)


def _answers_table(figures: dict[str, Any]) -> str:
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
