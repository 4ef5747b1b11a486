"""A knowledge base's recorded questions heard anew: word errors, what is found, what is answered.

  frontdesk eval speech              # the recordings of the sample clinic, in tests/audio
  frontdesk eval speech --second     # with the second opinion where an answer is unsure
  frontdesk eval speech --kb DIR --audio DIR
"found" is the share of questions of which a passage that answers them came first, as written and
as heard. Answers are judged by the floor in force. One clip takes about a quarter of a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from agent.progress import stages
from agent.settings import SAMPLE_KB, load_settings
from frontdesk import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``eval speech`` alone."""
    parser.description = __doc__
    parser.add_argument("--audio", type=Path, metavar="DIR", help="the recordings and their list")
    parser.add_argument("--second", action="store_true", help="with the second opinion (Whisper)")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="hear every Nth question only"
    )


def run(args: argparse.Namespace) -> int:
    """Hear, save and print."""
    from agent.commands.eval import result_name
    from agent.retrieval import index_of, policy_of
    from agent.second_opinion import SecondOpinion
    from bench.hearing import clips_of, figures, hear_all
    from bench.recordings import AUDIO
    from bench.results import write_result
    from rag import questions
    from rag.vocabulary import vocabulary
    from speech.moonshine import Moonshine

    if args.every < 1:
        raise ConfigError("--every takes a number from 1 up")
    settings = load_settings(kb=args.kb)
    if args.audio is None and settings.kb.resolve() != SAMPLE_KB.resolve():
        raise ConfigError("say where the recordings of this knowledge base are: --audio DIR")
    index = index_of(settings)
    clips = clips_of(settings.kb, args.audio or AUDIO)
    asked = list(dict.fromkeys(clip.question.id for clip in clips))[:: args.every]
    clips = [clip for clip in clips if clip.question.id in set(asked)]
    # Off the line nobody waits, so that the figures do not depend on the machine.
    # This process does nothing but hear: it is busy, and may take its time.
    second = SecondOpinion.load(budget_ms=60_000, busy=lambda: 0.0) if args.second else None
    with stages() as progress:
        heard = asyncio.run(
            hear_all(
                clips,
                index,
                policy_of(settings),
                Moonshine(vocabulary(index.kb)),
                second,
                lambda done, total: progress("clips", done, total),
            )
        )
    rows = questions.read(settings.kb / questions.QUESTIONS_FILE)
    found = figures(heard, index, questions.held_out_voice(rows))
    if not args.no_save and args.every == 1:
        write_result(result_name("speech", settings.kb, "second" if args.second else ""), found)
    print(json.dumps(found, indent=2) if args.json else _table(found))
    return 0


def _table(found: dict[str, Any]) -> str:
    lines = []
    for name in ("others", "held_out_voice"):
        group = found.get(name)
        if group is None:
            continue
        first = "  ".join(f"{k} {v}" for k, v in group["found_first"].items())
        lines.append(
            f"{name}: {group['n']} clips, {group['word_errors_percent']} % of words wrong, "
            f"{group['invented_per_1000']} of the documents' words invented in 1,000"
        )
        lines.append(f"  found first: {first}")
        for what, counts in group["answers"].items():
            cells = "  ".join(f"{k} {v}" for k, v in counts.items())
            lines.append(f"  {what}: {cells}")
    voices = "  ".join(f"{v} {wer}" for v, wer in found["word_errors_percent"].items())
    lines.append(f"words wrong, % by voice: {voices}")
    return "\n".join(lines)
