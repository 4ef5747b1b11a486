"""One text a turn, whenever the recogniser speaks."""

import io
import math

import numpy as np
import pytest
from loguru import logger
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.transcriptions.language import Language

from speech.gathering import TurnText
from tests.speech.running import SECOND, START, STOP, Call

NEVER_MS = 1e6


def final(text, language=None):
    return TranscriptionFrame(text, "", "", language)


@pytest.fixture
def log():
    """What a server at its usual level logs."""
    lines = io.StringIO()
    sink = logger.add(lines, level="INFO")
    yield lines
    logger.remove(sink)


class Heard(Call):
    """Sends frames in order and says what came out for them."""

    async def through(self, *frames):
        await self.send(*frames)
        await self.down.wait_for(type(frames[-1]))

    def texts(self):
        kinds = (EagerTranscriptionFrame, EagerEndOfTurnCancelFrame, TranscriptionFrame)
        return [
            (type(frame).__name__, getattr(frame, "text", "")) for frame in self.down.of(*kinds)
        ]


async def test_finals_before_and_after_a_pause_are_one_text():
    async with Heard(TurnText(budget_ms=NEVER_MS)) as call:
        await call.send(START())
        await call.hear(SECOND)
        await call.send(final("my number is"))
        await call.down.wait_for(InterimTranscriptionFrame)
        await call.send(STOP(), final("five five five", Language.HI_IN))
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        frame = await call.down.wait_for(TranscriptionFrame)
    assert frame.text == "my number is five five five"
    assert frame.finalized
    heard = frame.result
    assert (heard.language, heard.rate_hz, heard.audio_ms) == ("hi", 8000, 1000)
    assert np.array_equal(heard.audio, SECOND)
    assert math.isfinite(heard.confidence)
    (interim,) = call.down.of(InterimTranscriptionFrame)
    assert (interim.text, interim.result.stable) == ("my number is", "my number is")


async def test_a_language_may_be_a_plain_word():
    async with Heard(TurnText(budget_ms=NEVER_MS)) as call:
        await call.send(START(), final("namaste", "hi-IN"), STOP(), final("ji", "hi"))
        eager = await call.down.wait_for(EagerTranscriptionFrame)
    assert eager.result.language == "hi"


async def test_a_turn_that_goes_on_takes_its_text_back():
    async with Heard(TurnText(budget_ms=NEVER_MS)) as call:
        await call.send(START(), STOP(), final("on saturday"))
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.send(START(), STOP())
        await call.down.wait_for(STOP, 2)
        await call.commit()
        await call.send(final("or sunday"))
        await call.down.wait_for(TranscriptionFrame)
    assert call.texts() == [
        ("EagerTranscriptionFrame", "on saturday"),
        ("EagerEndOfTurnCancelFrame", ""),
        ("TranscriptionFrame", "on saturday or sunday"),
    ]


async def test_what_is_late_belongs_to_no_other_turn(log):
    async with Heard(TurnText(budget_ms=1)) as call:
        await call.through(START(), STOP())
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""
        await call.through(final("my secret"), TTSSpeakFrame("behind it"))
        assert "too late; words dropped: 2" in log.getvalue()
        assert "secret" not in log.getvalue()
        await call.send(START(), STOP(), final("in time"))
        await call.down.wait_for(EagerTranscriptionFrame)
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame, 2)).text == "in time"


async def test_when_the_budget_is_over_what_was_provisional_counts():
    async with Heard(TurnText(budget_ms=1)) as call:
        await call.through(START(), InterimTranscriptionFrame("what time", "", ""))
        await call.through(STOP())
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == "what time"


async def test_a_turn_without_speech_is_answered_at_once():
    async with Heard(TurnText(budget_ms=NEVER_MS)) as call:
        await call.commit()
        assert (await call.down.wait_for(TranscriptionFrame)).text == ""


async def test_one_final_a_pause_waits_for_every_pause():
    async with Heard(TurnText(budget_ms=NEVER_MS, one_a_pause=True)) as call:
        await call.through(START(), STOP(), START())
        await call.through(STOP())
        await call.down.wait_for(STOP, 2)
        await call.send(final("what time"))
        await call.down.wait_for(InterimTranscriptionFrame)
        await call.commit()
        await call.send(final("do you open"))
        await call.down.wait_for(TranscriptionFrame)
    assert call.texts() == [("TranscriptionFrame", "what time do you open")]


async def test_a_call_that_ends_is_still_answered():
    async with Heard(TurnText(budget_ms=NEVER_MS)) as call:
        await call.through(START(), InterimTranscriptionFrame("goodbye", "", ""))
        await call.through(STOP())
        await call.commit()
        await call.up.wait_for(UserStoppedSpeakingFrame)
    assert call.texts() == [("TranscriptionFrame", "goodbye")]
