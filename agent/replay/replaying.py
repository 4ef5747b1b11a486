"""One conversation again, from its text or its audio, against what is expected of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.replay.case import Case, Pins, with_second
from agent.replay.compared import changes_of, pinned
from agent.replay.inputs import Conversation, conversation
from agent.replay.models import RECORDED, Models
from agent.replay.text import in_text
from agent.replay.types import Mode, Replayed
from rag import Index, Policy

if TYPE_CHECKING:  # the pipeline, which text does without
    from agent.replay.engines import ReplayEngines
    from agent.second_opinion import Opinions

_S_A_LETTER = 0.067
_S_A_TURN = 1.6
"""A pause before each turn, and one before the reply, where nobody wrote down how long it took."""


async def replay(path: Path, index: Index, policy: Policy, models: Models = RECORDED) -> Replayed:
    """Run the text of one record, transcript or case again and compare.

    Raises:
        ConfigError: if the file is none of these or holds no turn.
    """
    return await replay_text(conversation(path), index, policy, models)


async def replay_text(
    talk: Conversation, index: Index, policy: Policy, models: Models = RECORDED
) -> Replayed:
    """:func:`replay` of what was read already."""
    began = time.process_time()
    results = [row async for row in in_text(talk.case, index, policy, models)]
    took_s = time.process_time() - began
    seconds = talk.case.seconds or _seconds(results)
    done = Replayed(talk.path, 0, (), "text", seconds=seconds, took_s=took_s)
    return _compared(done, talk.case, tuple(results), index, pins_now(index, policy))


@dataclass(frozen=True, slots=True)
class Ears:
    """What a replay from audio needs: the models of a call, and a second recogniser to ask where
    a conversation does not say what it heard.
    """

    engines: ReplayEngines
    second: Opinions | None = None


def replay_audio(talk: Conversation, ears: Ears, models: Models = RECORDED) -> Replayed:
    """The audio of a case or a recording through the whole pipeline, on a simulated clock.

    Not to be called where a loop runs already, nor beside calls in the same process.

    Raises:
        ConfigError: there is no audio, or a file of it cannot be read.
    """
    from agent.replay.audio import hear_case, hear_recording, matched, results_of

    engines = ears.engines
    case, began = talk.case, time.process_time()
    if talk.track is None and ears.second is not None:
        # What is asked anew takes its time at other moments: the call is the one that follows.
        rows = results_of(case, hear_case(case, engines, models, ears.second))
        case = with_second(case, rows)
    if talk.track is None:
        heard = hear_case(case, engines, models)
        rows = results_of(case, heard)
    else:
        heard = hear_recording(talk.track, talk.rate_hz, case, engines, models, ears.second)
        case, rows = matched(case, heard, talk.at_ms)
    took_s = time.process_time() - began
    done = Replayed(talk.path, 0, (), "audio", seconds=heard.seconds, took_s=took_s)
    recogniser = engines.settings.recogniser.engine
    now = replace(pins_now(engines.index, engines.policy), recogniser=recogniser)
    return _compared(done, case, rows, engines.index, now)


def _compared(
    done: Replayed, case: Case, results: tuple[dict[str, Any], ...], index: Index, now: Pins
) -> Replayed:
    own = [turn for turn in case.turns if not turn.earlier]
    passages = {one.id: one.sha256 for one in index.kb.passages}
    return replace(
        done,
        turns=len(own),
        changes=changes_of(case, results, passages),
        pinned=pinned(case.pins, now),
        new=tuple(number for number, turn in enumerate(own, 1) if not turn.expect),
        known={number: turn.known for number, turn in enumerate(own, 1) if turn.known},
        results=results,
        pins=now,
    )


def pins_now(index: Index, policy: Policy) -> Pins:
    """What answers rest on today."""
    floors = {
        language: round(found.floor if policy.floor is None else policy.floor, 4)
        for language, found in index.calibrations.items()
    }
    return Pins(index.kb.sha256[:16], index.embedder.hash[:16], floors)


def mode_of(talk: Conversation, *, audio: bool) -> Mode:
    """How ``talk`` is replayed: recordings from their audio, others if that is wanted."""
    return "audio" if talk.track is not None or (audio and talk.case.has_audio) else "text"


def _seconds(results: list[dict[str, Any]]) -> float:
    """About how long a conversation takes that has only its words."""
    letters = sum(len(row.get("heard", "")) + len(row.get("say", "")) for row in results)
    return letters * _S_A_LETTER + len(results) * _S_A_TURN
