"""Quality against the gold labels of a knowledge base's questions.jsonl.

  frontdesk eval answers                       # what was right to do against what was done
  frontdesk eval answers --typed               # the questions as written, not as heard
  frontdesk eval answers --wrong 100           # more of the wrong ones, with passage and score
  frontdesk eval answers --html wrong.html     # the same as a page, with every wrong one
  frontdesk eval answers --kb DIR --floors default   # a business that has measured no floor
  frontdesk eval answers --generated           # in the words of the model of [generation], too
  frontdesk eval speech              # the recordings heard anew: words, what is found and said
  frontdesk eval retrieval           # recall, MRR and nDCG; by meaning, by words, and by both
  frontdesk eval chunking            # five ways to cut the documents, on the same questions
  frontdesk eval chunking --data DIR # on the XQuAD passages and questions in DIR
  frontdesk eval calls               # simulated callers on a real line; see eval calls --help
No row is judged by floors that it helped to set (--floors says otherwise); the held-out voice is
reported apart. Results go to bench/results/, those of another knowledge base than the sample under
its folder's name. Exit 1 if the held-out voice (without one, or with --typed, anyone) gets a core
question wrong.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from agent.commands import eval_answers, eval_calls, eval_speech
from agent.progress import stages
from agent.settings import SAMPLE_KB, load_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("answers", "retrieval", "speech", "chunking"):
        sub = kinds.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter)
        sub.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
        if name != "speech":
            sub.add_argument("--typed", action="store_true", help="as written, not as heard")
        sub.add_argument("--json", action="store_true", help="print as JSON")
        sub.add_argument("--no-save", action="store_true", help="do not write bench/results/")
        if name == "answers":
            eval_answers.add_arguments(sub)
        if name == "speech":
            eval_speech.add_arguments(sub)
        if name == "chunking":
            sub.add_argument("--data", type=Path, help="folder with the XQuAD files")
            sub.add_argument("--tokens", type=int, default=64, help="the size of a chunk")
    calls = kinds.add_parser("calls", formatter_class=argparse.RawDescriptionHelpFormatter)
    calls.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    calls.add_argument("--json", action="store_true", help="print as JSON")
    eval_calls.add_arguments(calls)


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    if args.kind == "answers":
        return eval_answers.run(args)
    if args.kind == "speech":
        return eval_speech.run(args)
    if args.kind == "calls":
        return eval_calls.run(args)
    return _chunking(args) if args.kind == "chunking" else _retrieval(args)


def result_name(kind: str, kb: Path, *parts: str) -> str:
    """What a result is called: by the folder too, unless ``kb`` is the sample."""
    own = "" if kb.resolve() == SAMPLE_KB.resolve() else re.sub(r"[^\w.-]+", "-", kb.resolve().name)
    return "-".join(filter(None, (kind, own, *parts)))


def _chunking(args: argparse.Namespace) -> int:
    from agent.retrieval import embedder_of
    from bench.chunking import kb_set, xquad_set
    from bench.results import write_result
    from rag.chunking import bake_off, table

    settings = load_settings(kb=args.kb)
    if args.data:
        name = "chunking-xquad"
        passages, asked = xquad_set(args.data)
    else:
        name = result_name("chunking", settings.kb, "typed" if args.typed else "")
        passages, asked = kb_set(settings.kb, typed=args.typed)
    with stages() as progress:
        figures = bake_off(
            passages, asked, embedder_of(settings), tokens=args.tokens, progress=progress
        )
    if not args.no_save:
        path = write_result(name, figures)
        path.with_suffix(".md").write_text(table(figures) + "\n", "utf-8")
    print(json.dumps(figures, indent=2) if args.json else table(figures))
    return 0


def _retrieval(args: argparse.Namespace) -> int:
    from agent.retrieval import index_of
    from bench.results import write_result
    from rag import evaluate_retrieval, questions
    from rag.query import closeness

    settings = load_settings(kb=args.kb)
    index = index_of(settings)
    rows = questions.read(settings.kb / questions.QUESTIONS_FILE)
    voices = [questions.TYPED] if args.typed else None
    asked = questions.asked(rows, voices, fillers=index.kb.fillers, cosine=closeness(index))
    with stages() as progress:
        figures = evaluate_retrieval(
            index, asked, progress=lambda done, total: progress("questions", done, total)
        )
    if not args.no_save:
        write_result(result_name("retrieval", settings.kb, "typed" if args.typed else ""), figures)
    print(json.dumps(figures, indent=2) if args.json else _retrieval_table(figures))
    return 0


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
