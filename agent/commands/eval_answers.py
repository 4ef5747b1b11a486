"""What was right to do against what was done, with 95 % bounds, and every wrong answer.

  frontdesk eval answers                    # spoken, by every recorded voice
  frontdesk eval answers --typed --wrong 0  # as written, and none of the wrong ones
How to read it. "over-refused" is of the answerable, "refused" and "wrongly answered" are of the
unanswerable, "wrong fact" and "passed checks yet wrong" are of what was answered. The bounds are
Wilson's, over questions: a question in seven voices counts once, with the share of its voices.
The last column says with how many questions it ever happened, or happened each time they were
asked. "misheard" are the clips of which more than a fifth of the words came out otherwise.
Which check should have caught a wrong answer is for a person to say: each is printed with the
sentence said, the passage, the score and the floor.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.progress import Progress, stages
from agent.settings import SAMPLE_KB, Settings, load_settings
from frontdesk import ConfigError
from rag.evaluate import Answers, FloorsFrom

if TYPE_CHECKING:
    from rag import Index
    from rag.questions import Question

_FLOORS = {
    FloorsFrom.FOLDS: "set by the other questions (default where these are enough)",
    FloorsFrom.INDEX: "those in force (default elsewhere)",
    FloorsFrom.DEFAULT: "the one that comes with the embedder: nothing is tuned on the documents",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``eval answers`` alone."""
    parser.description = __doc__
    parser.add_argument(
        "--floors",
        choices=[source.value for source in FloorsFrom],
        help="; ".join(f"{source.value}: {what}" for source, what in _FLOORS.items()),
    )
    parser.add_argument(
        "--wrong", type=int, default=20, metavar="N", help="wrong ones to print (default: 20)"
    )
    parser.add_argument(
        "--generated",
        action="store_true",
        help="also judge the words of the model of [generation], on the same verdicts",
    )
    parser.add_argument(
        "--at-once",
        type=int,
        default=1,
        metavar="N",
        help="requests to the model at a time (default: 1; a server on this machine takes longer "
        "over each of several, and more of them end with the budget)",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with every one")


def run(args: argparse.Namespace) -> int:
    """Evaluate, save and print."""
    from agent.answers_page import page
    from agent.answers_report import lines
    from agent.generation.configured import server_of
    from agent.retrieval import index_of
    from bench.results import write_result
    from rag import questions
    from rag.evaluate import answers_json

    if args.wrong < 0 or args.at_once < 1:
        raise ConfigError("--wrong takes a number from 0 up, --at-once one from 1 up")
    settings = load_settings(kb=args.kb)
    if args.generated and server_of(settings) is None:
        raise ConfigError(
            "--generated needs a model: set base_url and model under [generation], or "
            "FRONTDESK_GENERATION__BASE_URL and FRONTDESK_GENERATION__MODEL"
        )
    index = index_of(settings)
    rows = questions.read(settings.kb / questions.QUESTIONS_FILE)
    with stages() as progress:
        answers = _answers(index, rows, settings, args, progress)
        figures = answers_json(answers)
        if args.generated:
            figures["generated"] = _generated(answers, settings, index, args.at_once, progress)
    if args.floors is None and answers.floors is not FloorsFrom.FOLDS:
        print(f"frontdesk eval: {answers.note}", file=sys.stderr)
    if not args.no_save:
        write_result(file_name(args, settings.kb), figures)
    title = f"{settings.kb.resolve().name}, {'as typed' if args.typed else 'as heard'}"
    if args.html:
        _write(args.html, page(title, figures))
    shown = lines(title, figures, args.wrong)
    print(json.dumps(figures, indent=2) if args.json else "\n".join(shown))
    return int(_core_is_wrong(figures, rows, is_typed=args.typed))


def file_name(args: argparse.Namespace, kb: Path) -> str:
    """What the result is called. Of the sample, answers.json is by folds: nothing else is."""
    from agent.commands.eval import result_name

    is_apart = args.floors != FloorsFrom.FOLDS and kb.resolve() == SAMPLE_KB.resolve()
    parts = [
        "generated" if args.generated else "",
        args.floors or "" if is_apart else "",
        "typed" if args.typed else "",
    ]
    return result_name("answers", kb, *parts)


def _answers(
    index: Index,
    rows: Sequence[Question],
    settings: Settings,
    args: argparse.Namespace,
    progress: Progress,
) -> Answers:
    from agent.retrieval import policy_of
    from rag import questions
    from rag.evaluate import answer_all
    from rag.floor import ALPHA
    from rag.query import closeness

    voices = [questions.TYPED] if args.typed else None
    return answer_all(
        index,
        questions.asked(rows, voices, fillers=index.kb.fillers, cosine=closeness(index)),
        held_out_voice=questions.held_out_voice(rows),
        floors=FloorsFrom(args.floors) if args.floors else None,
        # What the knowledge base was calibrated for is what it is judged at.
        alpha=next((c.alpha for c in index.calibrations.values()), ALPHA),
        policy=policy_of(settings),
        progress=lambda done, total: progress("questions", done, total),
    )


def _generated(
    answers: Answers, settings: Settings, index: Index, at_once: int, progress: Progress
) -> dict[str, Any]:
    from agent.commands.eval_generated import generate_all, generated_json
    from agent.generation.configured import generator_of
    from bench.results import percentiles

    verdicts = [verdict for _, verdict in (*answers.others, *answers.held_out)]

    async def ask() -> dict[str, Any]:
        generator = generator_of(settings, index)
        assert generator is not None  # a server is set
        generated = await generate_all(
            generator,
            verdicts,
            at_once=at_once,
            progress=lambda done, total: progress("generated", done, total),
        )
        return generated_json(answers, generated)

    found = {"model": settings.generation.model, "at_once": at_once, **asyncio.run(ask())}
    for name in ("first_token_ms", "full_ms"):
        found[name] = percentiles(found[name])
    return found


def _core_is_wrong(figures: dict[str, Any], rows: Sequence[Question], *, is_typed: bool) -> bool:
    held_out = figures["held_out_voice"]
    judged = figures if is_typed or not held_out["n"] else held_out
    core = {row.id for row in rows if row.kind == "core"}
    return any(row["id"] in core for row in judged["wrong"])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write {path} ({error.strerror}); name another file with --html"
        ) from error
