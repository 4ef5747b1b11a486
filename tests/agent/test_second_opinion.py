"""A second recogniser is asked where an answer is unsure, and taken where it is clearly better."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest

from agent.answering import HEARD_AGAIN, answered
from agent.replay import replay
from agent.second_opinion import (
    Outcome,
    SecondOpinion,
    hotwords,
    in_place_of,
    is_unsure,
    likeness,
    second_json,
)
from agent.session import Session, verdict_json
from frontdesk import SpeechError
from rag import Policy
from speech.types import Utterance

MISHEARD = "What do you charge for attending this shot?"
SAID = "What do you charge for a tetanus shot?"


class Ears:
    """Hears what it is told to, and keeps what it was given."""

    def __init__(self, text="", error=None):
        self.text, self.error, self.given = text, error, []

    def transcribe(self, audio, *, hotwords=None):
        self.given.append((audio, tuple(hotwords)))
        if self.error:
            raise self.error
        return Utterance(self.text, audio.size / 16, 1.0, -0.2)


async def at_once(function, *args, priority):
    return function(*args)


def utterance(text, seconds=1):
    audio = np.full(8000 * seconds, 1000, np.int16)
    return Utterance(text, seconds * 1000, 1.0, -0.3, audio=audio, rate_hz=8000)


@pytest.fixture
def ask(clinic):
    """``ask(heard, ears)``: the answer to one utterance, with a second opinion."""

    async def asked(heard, ears, **options):
        second = SecondOpinion(ears, **{"run": at_once, "busy": lambda: 0.0, **options})
        return await answered(
            Session(clinic, Policy()), heard, utterances=(utterance(heard),), second=second
        )

    return asked


async def test_what_it_heard_is_answered(ask):
    ears = Ears(SAID)
    done = await ask(MISHEARD, ears)
    verdict = done.reply.verdict
    assert verdict.say.text == (await ask(SAID, Ears())).reply.say.text
    assert (verdict.query.raw, verdict.query.changes) == (MISHEARD, (HEARD_AGAIN,))
    assert (done.second.outcome, done.second.text) == (Outcome.TAKEN, SAID)
    ((audio, words),) = ears.given
    assert (audio.dtype, audio.size) == (np.float32, 16000)
    assert "tetanus" in words
    assert second_json(done.second)["outcome"] == "taken"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", Outcome.SILENT),
        (MISHEARD, Outcome.SAME),
        ("Thank you for watching.", Outcome.SAME),
        ("tetanus shot, tetanus, shot, flu, adult, child", Outcome.UNLIKE),
    ],
)
async def test_what_is_no_better_is_left(ask, text, outcome):
    done = await ask(MISHEARD, Ears(text))
    assert done.second.outcome is outcome
    assert done.reply.verdict == replace(
        (await ask(MISHEARD, Ears())).reply.verdict, timings_ms=done.reply.verdict.timings_ms
    )


@pytest.mark.parametrize(
    ("heard", "text", "reason", "outcome"),
    [
        ("wanted to talk to a fume in", "I want to talk to a human.", "person", Outcome.TAKEN),
        ("good bite then", "Goodbye then.", "below_floor", Outcome.SAME),
    ],
)
async def test_an_everyday_sentence_is_understood_but_for_goodbye(
    ask, heard, text, reason, outcome
):
    done = await ask(heard, Ears(text))
    assert (done.reply.verdict.reason, done.second.outcome) == (reason, outcome)


async def test_it_is_not_asked_where_the_words_were_heard_clearly(clinic):
    clear = replace(utterance(MISHEARD), confidence=-0.1)
    for heard, asked in ((clear, 0), (utterance(MISHEARD), 1)):
        ears = Ears(SAID)
        second = SecondOpinion(ears, run=at_once, busy=lambda: 0.0)
        session = Session(clinic, Policy())
        await answered(session, MISHEARD, utterances=(heard,), second=second)
        assert len(ears.given) == asked


async def test_it_is_not_asked_about_what_is_far_from_every_document(ask):
    ears = Ears(SAID)
    assert (await ask("would you buy them", ears)).second is None
    assert ears.given == []


@pytest.mark.parametrize("heard", ["Saturday?", "Medicare"])
async def test_one_word_is_heard_again(ask, heard):
    ears = Ears("what time do you open on saturday")
    assert (await ask(heard, ears)).second is not None
    assert len(ears.given) == 1


@pytest.mark.parametrize("heard", [SAID, "Goodbye.", "", "I can't breathe"])
async def test_it_is_not_asked_where_the_first_is_sure(ask, heard):
    ears = Ears(MISHEARD)
    assert (await ask(heard, ears)).second is None
    assert ears.given == []


async def test_without_audio_it_is_not_asked(clinic):
    ears = Ears(SAID)
    second = SecondOpinion(ears, run=at_once)
    done = await answered(Session(clinic, Policy()), MISHEARD, second=second)
    assert (done.second, ears.given) == (None, [])


async def test_it_may_fail_or_be_late(ask):
    failed = await ask(MISHEARD, Ears(error=SpeechError("recogniser failed")))
    assert failed.second.outcome is Outcome.FAILED
    assert "recogniser failed" in failed.second.detail

    async def never(function, *args, priority):
        await asyncio.Event().wait()

    late = await ask(MISHEARD, Ears(SAID), run=never, budget_ms=1)
    assert late.second.outcome is Outcome.LATE
    assert late.reply.verdict.citations == failed.reply.verdict.citations == ()


async def test_calls_that_wait_come_first(ask):
    ears = Ears(SAID)
    done = await ask(MISHEARD, ears, busy=lambda: 0.2)
    assert (done.second.outcome, ears.given) == (Outcome.BUSY, [])


async def test_what_was_said_before_it_stays(ask):
    assert in_place_of("and um what do you pay", (utterance("what do you pay"),), "x y") == (
        "and um x y"
    )
    assert in_place_of("what do you pay", (utterance("other"),), "x y") == "x y"


async def test_a_replay_needs_no_audio(ask, clinic, tmp_path):
    done = await ask(MISHEARD, Ears(SAID))
    events = [
        {"event": "second_opinion", **second_json(done.second)},
        {"event": "verdict", "heard": MISHEARD, **verdict_json(done.reply.verdict)},
    ]
    record = tmp_path / "call.jsonl"
    record.write_text("".join(json.dumps({"t_ms": 0, **event}) + "\n" for event in events))
    assert (await replay(record, clinic, Policy())).changes == ()


async def test_the_band_and_the_words(ask, clinic):
    refused = (await ask(MISHEARD, Ears())).reply.verdict
    sure = (await ask(SAID, Ears())).reply.verdict
    assert is_unsure(refused)
    assert not is_unsure(sure)
    assert is_unsure(replace(sure, score=sure.floor + 0.05))
    words = hotwords(refused)
    assert len(words) == len({word.lower() for word in words})
    assert likeness("What interests do you take?", "what insurance do you take?") > 0.7
