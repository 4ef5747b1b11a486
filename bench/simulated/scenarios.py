"""Scenario files of Pipecat's ``evals`` as scripts: the same conversations, over a telephone.

Pipecat's own parser reads them (``pipecat.evals.scenario``, 1.14). What is said, pressed and
expected is taken over; what needs a language model to judge it, or a bot that calls functions, is
refused and named. The voice, the wire and the judging are ours: see docs/simulated-callers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.simulated.plan import Conversation, Expect, Gold, Turn
from frontdesk import ConfigError

if TYPE_CHECKING:
    from pipecat.evals.script import EvalExpectation, EvalScriptTurn, EvalSendAfter

SUFFIXES = (".yaml", ".yml")
_VOICE = "piper"
_REPLIES = ("response", "llm_response", "tts_response")
# What every answered turn has anyway.
_IMPLIED = (
    "user_started_speaking",
    "user_stopped_speaking",
    "vad_user_started_speaking",
    "vad_user_stopped_speaking",
    "bot_started_speaking",
    "bot_stopped_speaking",
    "llm_started",
)


def read_scenarios(path: Path) -> list[Conversation]:
    """The scripted scenarios of the file at ``path``, one call each.

    Raises:
        ConfigError: if it cannot be read, or asks for what a telephone call does not have.
    """
    import yaml
    from pipecat.evals.scenario import EvalScenarioFile
    from pipecat.evals.script import EvalScriptScenario

    try:
        found = EvalScenarioFile.load(path)
    except FileNotFoundError:
        raise ConfigError(f"no script {path}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    calls = []
    for number, scenario in enumerate(found, 1):
        where = f"{path}, scenario {scenario.name!r}"
        if not isinstance(scenario, EvalScriptScenario):
            raise ConfigError(f"{where}: persona needs a language model to play it; write turns")
        turns = [
            turn
            for n, one in enumerate(scenario.turns, 1)
            if (turn := _turn(f"{where}, turn {n}", one, is_first=n == 1))
        ]
        calls.append(
            Conversation(
                name=scenario.name,
                number=number,
                voice=_VOICE,
                turns=tuple(turns),
                seed=number,
                again=f"--script {path} --only {number}",
            )
        )
    return calls


def _turn(where: str, turn: EvalScriptTurn, *, is_first: bool) -> Turn | None:
    """None for the greeting, which is always waited for."""
    if turn.user is None and turn.dtmf is None:
        if is_first:
            return None
        raise ConfigError(f"{where}: a caller says or presses something; put expect in the turn")
    if turn.image:
        raise ConfigError(f"{where}, image: a telephone has none")
    words, pause_ms, but = _parts(where, turn)
    return Turn(
        gold=_gold(where, turn.expect),
        words=words,
        but=but,
        pause_ms=pause_ms,
        keys=turn.dtmf or "",
        audio=turn.audio or "",
        cuts_in_ms=_cuts_ms(where, turn.send_after),
    )


def _parts(where: str, turn: EvalScriptTurn) -> tuple[str, float, str]:
    match turn.parts:
        case None:
            return turn.user or "", 0.0, ""
        case [str() as words, int() as pause_ms, str() as but]:
            return words, float(pause_ms), but
    raise ConfigError(f"{where}, user: takes a text, or a text, a pause_ms and a text")


def _cuts_ms(where: str, after: EvalSendAfter | None) -> float | None:
    if after is None or after.event == "bot_stopped_speaking":
        return None
    if after.event == "bot_started_speaking":
        return float(after.delay_ms)
    raise ConfigError(
        f"{where}, send_after: event is bot_started_speaking (the caller cuts in) or "
        f"bot_stopped_speaking, not {after.event!r}"
    )


def _gold(where: str, expect: Sequence[EvalExpectation]) -> Gold:
    facts: list[tuple[str, ...]] = []
    for one in expect:
        if one.event in _IMPLIED:
            continue
        if one.event not in _REPLIES:
            raise ConfigError(f"{where}, expect: {one.event!r} is nothing that a caller can hear")
        if one.eval is not None or one.text_excludes is not None:
            raise ConfigError(f"{where}, expect: only text_contains is judged, without a model")
        if one.absent:
            return Gold(Expect.NOTHING)
        if one.text_contains is not None:
            facts.append((one.text_contains,))
    return Gold(Expect.ANYTHING, tuple(facts))
