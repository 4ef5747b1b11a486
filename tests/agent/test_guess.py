"""Answers that are ready before the turn is over."""

import pytest
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.second_opinion import Outcome, Second
from frontdesk import Spoken
from speech.types import Utterance
from tests.agent.desk import ON_SATURDAY, REFILL, SATURDAY, Desk, eager, interim, text
from tests.agent.one_processor import events, settle


async def test_a_guess_is_decided_and_rendered_but_not_spoken(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager(SATURDAY))
        await settle()
        assert desk.prepared == [Spoken(ON_SATURDAY)]
        assert desk.spoken == []
        assert events(desk.record, "verdict") == []
        await desk.send(eager(SATURDAY))
        await settle()
        assert desk.asked == [SATURDAY], "the same words are not decided twice"
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.asked == [SATURDAY]
        assert desk.prepared == [Spoken(ON_SATURDAY)]


async def test_a_guess_from_other_words_is_thrown_away(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager("What time do you guys open"))
        await settle()
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert desk.spoken == [ON_SATURDAY]
        assert desk.asked == ["What time do you guys open", SATURDAY]
        (verdict,) = events(desk.record, "verdict")
        assert verdict["speculated"] is False
        # It left no state behind either: the follow-up takes what was said, not the guess.
        await desk.plays(3000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("and what about sunday")
        context = events(desk.record, "verdict")[1]["query"]["context"]
        assert context == "what time do you guys open on saturday"


async def test_a_guess_under_way_is_waited_for_or_stopped(desk):
    async with desk:
        desk.may_decide.clear()
        await desk.send(UserStartedSpeakingFrame(), eager(REFILL), eager(SATURDAY))
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await settle()
        assert desk.spoken == []
        desk.may_decide.set()
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert desk.spoken == [ON_SATURDAY]
        assert desk.asked == [REFILL, SATURDAY]
        assert desk.prepared == [Spoken(ON_SATURDAY)], "the guess about refills was stopped"


async def test_a_guess_includes_the_words_before_the_pause(desk):
    async with desk:
        await desk.turn("What time do you guys open")
        await desk.interrupted()
        await desk.send(eager("on Saturday?"))
        await settle()
        await desk.turn("on Saturday?")
        assert desk.heard()[-1] == SATURDAY
        assert events(desk.record, "verdict")[-1]["speculated"] is True


async def test_words_that_stand_still_are_answered_before_the_pause(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), interim("what time do you"))
        await desk.send(interim("What time do you guys open on Saturday"))
        await settle()
        assert desk.asked == [], "it may go on"
        await desk.send(interim(SATURDAY))
        await settle()
        assert desk.prepared == [Spoken(ON_SATURDAY)]
        await desk.send(eager(SATURDAY), text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert len(desk.asked) == 1, "spelling decides nothing"
        (verdict,) = events(desk.record, "verdict")
        assert verdict["query"]["raw"] == verdict["heard"] == SATURDAY
        assert verdict["speculations"] == {"made": 1, "dropped": 0, "same": True}


@pytest.mark.parametrize("words", ["how much is the", "what time"])
async def test_words_that_cannot_be_all_are_not(desk, words):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), interim(words, stable=words))
        await settle()
        assert desk.asked == []


async def test_a_guess_that_led_to_the_same_is_no_waste(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager("um " + SATURDAY))
        await settle()
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        (verdict,) = events(desk.record, "verdict")
        assert verdict["speculated"] is False
        assert verdict["speculations"] == {"made": 1, "dropped": 0, "same": True}


class Ear:
    """A second recogniser that hears nothing new."""

    def __init__(self):
        self.heard = []

    async def hear(self, verdict, utterances):
        self.heard.append(utterances)
        return Second(Outcome.SAME)


async def test_an_unsure_answer_is_heard_again_with_the_turns_audio(clinic, tmp_path):
    ear = Ear()
    utterance = Utterance("blurgh the wibble of it", 900, 40, -0.9)
    final = text(utterance.text)
    final.result = utterance
    desk = Desk(clinic, tmp_path, second=ear)
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), final, UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        assert ear.heard == [(utterance,)]
        assert len(events(desk.record, "second_opinion")) == 1


async def test_an_early_guess_does_not_spare_the_second_opinion(clinic, tmp_path):
    ear = Ear()
    utterance = Utterance("blurgh the wibble of it", 900, 40, -0.9)
    at_pause = eager(utterance.text)
    at_pause.result = utterance
    async with Desk(clinic, tmp_path, second=ear) as desk:
        await desk.send(UserStartedSpeakingFrame(), interim(utterance.text, utterance.text))
        await settle()
        assert (len(desk.asked), ear.heard) == (1, [])
        await desk.send(at_pause, at_pause)
        await settle()
        assert ear.heard == [(utterance,)]


async def test_a_sure_early_guess_is_not_decided_again_for_it(clinic, tmp_path):
    ear, asked = Ear(), "How much is a missed visit?"
    at_pause = eager(asked)
    at_pause.result = Utterance(asked, 900, 40, -0.9)
    async with Desk(clinic, tmp_path, second=ear) as desk:
        await desk.send(UserStartedSpeakingFrame(), interim(asked, asked))
        await settle()
        await desk.send(at_pause)
        await settle()
        assert (desk.asked, ear.heard) == ([asked], [])


async def test_a_guess_of_the_old_documents_is_not_spoken(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager(SATURDAY))
        await settle()
        desk.answer._guesses._is_current = lambda reply: False
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.asked == [SATURDAY, SATURDAY]
        (verdict,) = events(desk.record, "verdict")
        assert verdict["speculated"] is False


async def test_a_guess_that_failed_is_decided_again(desk):
    async def fails_once(words):
        desk.prepared.append(words)
        if len(desk.prepared) == 1:
            raise RuntimeError("no voice")

    desk.answer._prepare = fails_once
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager(SATURDAY))
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.spoken == [ON_SATURDAY]
