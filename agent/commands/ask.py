"""Ask one question and see the verdict with its evidence, without audio.

frontdesk ask "what time do you open on saturday"
frontdesk ask "and what about sunday" --context "what time do you open on saturday" --json
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.session import asked_as, verdict_json
from agent.settings import Settings, load_settings

if TYPE_CHECKING:
    from agent.generation import Generated
    from rag import Index, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("text", nargs="+", help="the question, as a caller would say it")
    parser.add_argument("--context", help="the question before, for a follow-up")
    parser.add_argument("--kb", type=Path, help="knowledge base folder (default: settings)")
    parser.add_argument(
        "--no-generate", action="store_true", help="quote, even if [generation] names a model"
    )
    parser.add_argument("--json", action="store_true", help="print the whole verdict as JSON")


def run(args: argparse.Namespace) -> int:
    """Answer the question; 0 also when it is refused, since a refusal is an answer."""
    from agent.retrieval import index_of, policy_of
    from rag import answer, make_query

    settings = load_settings(kb=args.kb)
    index = index_of(settings)
    context = args.context
    fillers = index.kb.fillers
    if context is not None:  # the same resolved form that a call's session state keeps
        context = make_query(asked_as(context), fillers=fillers).text
    asked = " ".join(args.text)
    query = replace(make_query(asked_as(asked), context, fillers=fillers), raw=asked)
    verdict, generated = answer(query, index, policy_of(settings)), None
    if not args.no_generate:
        verdict, generated = asyncio.run(_worded(verdict, settings, index))
    if args.json:
        from agent.generation import generated_json

        shape = verdict_json(verdict)
        shape["generation"] = generated and generated_json(generated)
        print(json.dumps(shape, ensure_ascii=False, indent=2))
        return 0
    print(verdict.say.text)
    score = "" if verdict.score is None else f"  score {verdict.score:.3f}"
    floor = "" if verdict.floor is None else f"  floor {verdict.floor:.3f}"
    print(f"  {verdict.decision.value} ({verdict.reason.value}){score}{floor}")
    print(f"  looked up  {verdict.query.text!r}")
    if verdict.detail:
        print(f"  because    {verdict.detail}")
    for hit in verdict.hits:
        mark = "*" if hit.passage.id in verdict.citations else " "
        print(f"  {mark} {hit.score:.3f}  [{hit.passage.id}] {hit.passage.text[:88]}")
    for check in verdict.checks:
        print(f"  {'pass' if check.passed else 'FAIL'}  {check.name}  {check.detail}")
    if generated is not None:
        _print_generated(generated)
    return 0


async def _worded(
    verdict: Verdict, settings: Settings, index: Index
) -> tuple[Verdict, Generated | None]:
    from agent.answering import worded
    from agent.generation import generator_of
    from agent.session import Reply

    generator = generator_of(settings, index)
    try:
        done = await worded(Reply(verdict, verdict.say), generator)
    finally:
        if generator is not None:
            await generator.close()
    return done.reply.verdict, done.generated


def _print_generated(generated: Generated) -> None:
    print(f"  model      {generated.outcome.value}  {generated.detail}")
    if generated.reply:
        print(f"    sent     {generated.reply!r}")
    if generated.draft:
        print(f"    draft    {generated.draft.text!r}")
    if generated.tries:
        times = (
            ("first token", generated.first_token_ms),
            ("full", generated.full_ms),
            ("with checks", generated.total_ms),
        )
        taken = ", ".join(f"{name} {ms:.0f} ms" for name, ms in times if ms is not None)
        print(f"    took     {taken}; requests: {generated.tries}")
