"""Replies that are cut, gone on with, and remembered as far as they were heard."""

import pytest
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    TTSSpeakFrame,
    UserStoppedSpeakingFrame,
)

from agent.replay import replay
from frontdesk import Spoken
from rag import Policy
from speech.tts import SlowSpeakFrame
from tests.agent.desk import A_REFILL, ON_SATURDAY, REFILL, SATURDAY, text
from tests.agent.one_processor import events, settle

GREETING = "Thanks for calling the clinic. How can I help you?"


@pytest.mark.parametrize("words", ["Mhm.", "", "Okay.", "On Saturday the clinic is open."])
async def test_a_reply_that_nobody_meant_to_cut_goes_on(desk, words):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(2000)
        await desk.hums(words)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, ON_SATURDAY]
        assert desk.asked == [SATURDAY], "there is nothing to decide"
        assert [e["heard"] for e in events(desk.record, "resumed")] == [words]
        await desk.plays(4000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("and what about sunday")
        assert "sunday" in events(desk.record, "verdict")[1]["query"]["text"]


async def test_it_goes_on_with_the_sentence_that_was_cut_however_often(desk):
    first, second, third = "We open at eight.", "On Sunday we are closed.", "Please call again."
    async with desk:
        await desk.answer.say(Spoken(f"{first} {second} {third}"))
        await desk.plays(2200)
        await desk.hums()
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken[1] == f"{second} {third}"
        await desk.plays(2200)
        await desk.hums()
        await desk.down.wait_for(TTSSpeakFrame, 3)
        assert desk.spoken[2] == third
        cuts = events(desk.record, "interrupted")
        assert [cut["heard_whole"] for cut in cuts] == [first, f"{first} {second}"]
        assert [cut["cut_sentence"] for cut in cuts] == [second, third]


async def test_what_is_misheard_over_the_agent_is_not_refused(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(2000)
        await desk.hums("Don't hurt.")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, ON_SATURDAY]
        assert desk.heard() == [SATURDAY]


async def test_a_question_over_the_agent_is_answered_and_only_what_was_heard_was_said(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(1500)
        await desk.hums(REFILL)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, A_REFILL]
        (cut,) = events(desk.record, "interrupted")
        assert 0 < len(cut["heard_words"].split()) < len(ON_SATURDAY.split())
        assert ON_SATURDAY.startswith(cut["heard_words"])
        assert cut["rest"] == ON_SATURDAY
        assert events(desk.record, "resumed") == []


async def test_yes_over_a_question_answers_it(desk):
    async with desk:
        await desk.answer.say(Spoken(GREETING))
        await desk.plays(2600)
        await desk.hums("Yes.")
        await settle()
        assert desk.heard() == ["Yes."]
        assert desk.spoken == [GREETING]


async def test_a_reply_that_was_all_but_over_is_not_said_again(desk):
    async with desk:
        await desk.answer.say(Spoken("Goodbye then."))
        await desk.plays(5000)
        await desk.hums()
        await settle()
        assert desk.spoken == ["Goodbye then."]


async def test_speech_begun_and_taken_back_is_counted(desk):
    async with desk:
        await desk.turn("How long does it take?")
        await desk.plays(200)
        await desk.hums("to get a refill?")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        (event,) = events(desk.record, "taken_back")
        assert event["played_ms"] == 200


async def test_a_call_with_cuts_replays_as_it_was(desk, clinic):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(1500)
        await desk.hums()
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await desk.plays(1500)
        await desk.hums("hold on")
        await desk.down.wait_for(TTSSpeakFrame, 3)
        await desk.plays(3000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("go on")
        assert desk.spoken[-1] == ON_SATURDAY
        await desk.plays(3000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("and what about sunday")
    replayed = await replay(desk.record.path, clinic, Policy())
    assert (replayed.turns, replayed.changes) == (4, ())


async def test_a_cough_while_a_cut_is_thought_over_leaves_it_undone(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(2000)
        desk.may_decide.clear()
        await desk.hums("Don't hurt.")
        await settle()
        await desk.interrupted()
        desk.may_decide.set()
        await desk.send(text(""), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, ON_SATURDAY]


async def test_a_question_thought_over_is_not_lost_to_a_cough(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(2000)
        desk.may_decide.clear()
        await desk.hums(REFILL)
        await settle()
        await desk.interrupted()
        desk.may_decide.set()
        await desk.send(text(""), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken == [ON_SATURDAY, A_REFILL]


async def test_silence_is_no_reply_to_a_question_at_the_end_of_a_reply(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.plays(60_000)
        await desk.hums("Don't hurt.")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert events(desk.record, "verdict")[1]["decision"] == "refused"


async def test_a_greeting_cut_at_once_is_no_speech_taken_back(desk):
    async with desk:
        await desk.answer.say(Spoken(GREETING))
        await desk.plays(200)
        await desk.hums(REFILL)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert events(desk.record, "taken_back") == []


async def test_what_was_said_slowly_goes_on_slowly(desk):
    async with desk:
        await desk.answer.say(Spoken("Call 555-0134.").slowly())
        await desk.plays(300)
        await desk.hums()
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert [type(frame) for frame in desk.down.of(TTSSpeakFrame)] == [SlowSpeakFrame] * 2


async def test_the_end_of_an_earlier_reply_is_not_taken_for_that_of_this_one(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.plays(2000)
        await desk.hums()
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert [event["say"] for event in events(desk.record, "resumed")] == [ON_SATURDAY]
