"""From plans to outcomes: the audio is made, the calls are held, what came of them is judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent.progress import Progress
from agent.settings import Settings
from bench.recordings import AUDIO
from bench.simulated import scenarios
from bench.simulated.ear import replies
from bench.simulated.held import Held, hold, with_records
from bench.simulated.made import conversation, material
from bench.simulated.outcomes import CallOutcome, judge_call
from bench.simulated.own_agent import own_agent
from bench.simulated.plan import Conversation
from bench.simulated.scripts import read_script
from bench.simulated.sound import caller_turns, digest
from bench.simulated.voices import Cast, cast_of
from frontdesk import ConfigError
from rag import questions
from rag.documents import load as load_documents
from rag.questions import Question

_RECORDS_S = 15.0
_LOOK_AGAIN_S = 0.2


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which calls: those of ``script``, or ``calls`` random ones of ``seed``; ``only`` one of them.

    ``again`` are the arguments with which the command was given the knowledge base and the wire.
    """

    calls: int
    seed: int
    script: Path | None = None
    only: int | None = None
    again: str = ""


def planned(settings: Settings, wanted: Wanted) -> tuple[list[Conversation], Cast]:
    """The conversations, and the voices to hold them with.

    Raises:
        ConfigError: if there is nothing to make them of, or no such call.
    """
    file = settings.kb / questions.QUESTIONS_FILE
    cast = cast_of(file, AUDIO)
    rows = questions.read(file) if file.is_file() else []
    if wanted.script is not None:
        is_pipecats = wanted.script.suffix.lower() in scenarios.SUFFIXES
        calls = (
            scenarios.read_scenarios(wanted.script)
            if is_pipecats
            else read_script(wanted.script, cast, rows)
        )
        return [replace(c, again=c.again + wanted.again) for c in _only(calls, wanted)], cast
    return _random(settings, wanted, rows, cast), cast


def _random(
    settings: Settings, wanted: Wanted, rows: Sequence[Question], cast: Cast
) -> list[Conversation]:
    if not rows:
        raise ConfigError(
            f"{settings.kb} has no {questions.QUESTIONS_FILE}, so no caller can be made; write one "
            "(docs/measure.md), or name a --script"
        )
    found = material(rows, cast, settings.keys, settings.turns.prompt_after_s)
    numbers = range(1, wanted.calls + 1) if wanted.only is None else [wanted.only]
    again = f"--seed {wanted.seed} --only"
    return [
        conversation(found, number, wanted.seed, f"{again} {number}{wanted.again}")
        for number in numbers
    ]


def _only(calls: list[Conversation], wanted: Wanted) -> list[Conversation]:
    if wanted.only is None:
        return calls
    if wanted.only > len(calls):
        raise ConfigError(f"--only {wanted.only}: the script's calls are 1 to {len(calls)}")
    return [calls[wanted.only - 1]]


@dataclass(frozen=True, slots=True)
class Agent:
    """Who is called: at ``url``, with its records in ``records`` if they are in reach."""

    url: str
    records: Path | None


@contextmanager
def agent_for(
    settings: Settings, wire: str, at_once: int, to: str | None, records: Path | None
) -> Iterator[Agent]:
    """The agent at ``to``, or one of our own while it is wanted.

    Raises:
        ConfigError: if it does not start, or ``records`` is no folder.
    """
    if records is not None and not records.is_dir():
        raise ConfigError(f"no folder {records}; --records DIR says where that agent's are")
    if to:
        yield Agent(to, records)
        return
    with own_agent(settings.kb, wire, at_once) as (url, folder):
        yield Agent(url, folder)


def _recorded(held: Sequence[Held], folder: Path) -> list[Held]:
    """The calls with their records; the agent closes one a moment after its caller hung up."""
    give_up = time.monotonic() + _RECORDS_S
    while True:
        found = with_records(held, folder)
        is_whole = all(one.events and one.events[-1]["event"] == "call_ended" for one in found)
        if is_whole or time.monotonic() > give_up:
            return found
        time.sleep(_LOOK_AGAIN_S)


def evaluate(
    calls: Sequence[Conversation],
    cast: Cast,
    agent: Agent,
    kb: Path,
    *,
    wire: str,
    at_once: int,
    by_ear: bool,
    progress: Progress,
) -> list[CallOutcome]:
    """Hold ``calls`` and judge them: by the agent's records, and ``by_ear`` too, or alone if it has
    none in reach.

    Raises:
        ConfigError: if a voice lacks words, or the wire and the agent's address do not fit.
    """
    ready = []
    for number, call in enumerate(calls, 1):
        turns = caller_turns(call, cast)
        ready.append((call, turns, digest(turns)))
        progress("voices", number, len(calls))
    held = asyncio.run(
        hold(
            ready,
            agent.url,
            wire=wire,
            at_once=at_once,
            done=lambda count: progress("calls", count, len(calls)),
        )
    )
    passages = {passage.id: passage for passage in load_documents(kb).passages}
    if agent.records is not None:
        held = _recorded(held, agent.records)
    outcomes = []
    for number, one in enumerate(held, 1):
        heard = replies(one.call, one.result) if by_ear or agent.records is None else None
        outcomes.append(judge_call(one, passages, heard))
        progress("judged", number, len(held))
    return outcomes
