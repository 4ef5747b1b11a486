"""Whole calls on bad lines: nothing crashes, nothing is stated from noise, and calls end well.

Calls take their time, so all of a test are on the line at once.
"""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from bench.hard_voices import hard
from bench.noises import noise
from bench.recordings import turn
from rag import open_index
from rag.types import Decision
from speech.audio import to_float32, to_int16
from telephony.bad_line import BadLine
from telephony.caller import CallerTurn
from tests.agent.live import serving

VOICE = "gongitsune"
NOISES = ("hum", "coughs", "music", "keys", "wrong codec", "barks")
PATIENT = {"turns": {"prompt_after_s": 120}}  # nobody is prompted on a machine that is busy
SATURDAY = "On Saturday the clinic is open from 9 a.m. to 1 p.m."


def of_noise(kind: str) -> CallerTurn:
    """Two of the kind, one after the other: 1.2 to 8 seconds."""
    made = np.concatenate([noise("second", kind, seed) for seed in (7, 8)])
    return CallerTurn(to_int16(made), kind, expect_reply=False)


def two_at_once() -> CallerTurn:
    """Two people ask two things at the same time."""
    first, second = (turn(question, VOICE).audio.astype(int) for question in ("q001", "q009"))
    size = max(first.size, second.size)
    both = np.pad(first, (0, size - first.size)) + np.pad(second, (0, size - second.size))
    return CallerTurn(np.clip(both, -32768, 32767).astype(np.int16), "two at once")


def as_heard(kind: str) -> CallerTurn:
    """The question about Saturday in a voice that is hard to hear."""
    plain = turn("q001", VOICE)
    return replace(plain, audio=to_int16(hard(kind, to_float32(plain.audio))), label=kind)


async def calls(server, *callers):
    """Place every call at once, each of ``callers`` its turns and its line."""
    return await asyncio.gather(
        *(server.call(turns, answer_timeout_s=60.0, line=line) for turns, line in callers)
    )


def facts_of(events):
    """The verdicts of one call that state something from the documents."""
    verdicts = (event for event in events if event["event"] == "verdict")
    return [verdict for verdict in verdicts if verdict["decision"] == Decision.ANSWERED.value]


def errors(lines):
    """A busy machine may be warned about; nothing may fail."""
    return [message for level, message in lines.all if level in ("ERROR", "CRITICAL")]


def ended_well(server, results):
    assert [result.error for result in results] == [None] * len(results)
    assert [events[-1]["event"] for events in server.records()] == ["call_ended"] * len(results)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_nothing_is_stated_from_noise_and_the_question_after_it_is_heard(
    settings, call_engines, lines
):
    question = turn("q001", VOICE)
    callers = [([of_noise(kind), question], None) for kind in NOISES]
    async with serving(settings(**PATIENT), call_engines, lines) as server:
        results = await calls(server, *callers)
        await server.idle()
    ended_well(server, results)
    assert [result.turns[1].answered for result in results] == [True] * len(NOISES)
    said = [[verdict["say"] for verdict in facts_of(events)] for events in server.records()]
    assert said == [[SATURDAY]] * len(NOISES), server.records()
    assert errors(lines) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_bad_line_is_answered_from_the_documents_or_not_at_all(
    settings, call_engines, lines
):
    plain = [turn("q001", VOICE)]
    callers = [
        (plain, BadLine(jitter_ms=60)),
        (plain, BadLine(loss_percent=10)),
        (plain, BadLine(gap_ms=500)),
        (plain, BadLine(offset=4000)),
        (plain, BadLine(gain_db=30)),
        (plain, BadLine(gain_db=-20, noise_db=-60)),
        ([as_heard("a child")], None),
        ([as_heard("whispered")], None),
        ([two_at_once()], None),
    ]
    async with serving(settings(**PATIENT), call_engines, lines) as server:
        results = await calls(server, *callers)
        await server.idle()
    ended_well(server, results)
    passages = {p.id: p.text for p in open_index(settings().kb).kb.passages}
    facts = [verdict for events in server.records() for verdict in facts_of(events)]
    for verdict in facts:
        assert any(verdict["say"] in passages[cited] for cited in verdict["citations"]), verdict
    assert results[0].turns[0].answered, "jitter alone changes no word"
    assert SATURDAY in [verdict["say"] for verdict in facts]
    assert errors(lines) == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--loss", "200"], "--loss takes 0 to 100"),
        (["--noise", "3"], "--noise takes -96 to 0"),
        (["question.aac"], "no audio file question.aac"),
    ],
)
def test_a_test_call_that_cannot_be_placed_says_why(command, arguments, line):
    code, _, errors = command("call", "hello", *arguments)
    assert code == 2
    assert line in errors
    assert errors.count("\n") == 1
