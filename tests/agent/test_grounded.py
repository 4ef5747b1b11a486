"""The grounded answer in a real pipeline: the clinic's index, a clock that the test moves."""

import asyncio

import pytest
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    EndWorkerFrame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.turns import REACTION_MS
from frontdesk import Spoken
from rag import Draft, Policy
from rag.parts import OFFER
from speech.hints import HintFrame
from speech.types import Hint
from tests.agent.desk import A_REFILL, ON_SATURDAY, REFILL, SATURDAY, eager, text
from tests.agent.one_processor import events, settle

ORDERS = {
    "text, end": [text(SATURDAY), UserStoppedSpeakingFrame()],
    "end, text": [UserStoppedSpeakingFrame(), text(SATURDAY)],
    "guess, text, end": [eager(SATURDAY), text(SATURDAY), UserStoppedSpeakingFrame()],
    "guess, end, text": [eager(SATURDAY), UserStoppedSpeakingFrame(), text(SATURDAY)],
    "text, end, end": [text(SATURDAY), UserStoppedSpeakingFrame(), UserStoppedSpeakingFrame()],
}


@pytest.mark.parametrize("order", ORDERS)
async def test_one_answer_a_turn_whatever_comes_first(desk, order):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), *ORDERS[order])
        await desk.down.wait_for(TTSSpeakFrame)
        await settle()
        assert desk.spoken == [ON_SATURDAY]
        assert desk.asked == [SATURDAY]
    (verdict,) = events(desk.record, "verdict")
    assert verdict["heard"] == SATURDAY
    assert verdict["citations"] == ["kb-hours#2"]
    assert verdict["speculated"] is order.startswith("guess")


async def test_the_end_of_a_turn_counts_from_one_side_only(desk):
    """The turn logic broadcasts it; the copy that goes up belongs to the recogniser."""
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), text("What time do you guys open"))
        await desk.send(UserStoppedSpeakingFrame(), upstream=True)
        await settle()
        assert desk.spoken == []
        await desk.send(text("on Saturday?"), UserStoppedSpeakingFrame())
        await desk.down.wait_for(TTSSpeakFrame)
        assert desk.heard() == [SATURDAY]


async def test_a_stock_recogniser_that_transcribes_piece_by_piece(desk):
    async with desk:
        await desk.turn("What time do", "you guys open", "on Saturday?")
        assert desk.heard() == [SATURDAY]
        await desk.plays(3000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("How long does", "a refill take?")
        assert desk.heard() == [SATURDAY, REFILL]
        assert desk.spoken == [ON_SATURDAY, A_REFILL]


async def test_a_transcript_that_comes_after_the_answer_is_not_a_turn_of_its_own(desk):
    async with desk:
        await desk.turn(SATURDAY)
        await desk.send(text("crackle"))
        await settle()
        assert desk.heard() == [SATURDAY]
        await desk.plays(3000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn(REFILL)
        assert desk.heard() == [SATURDAY, REFILL]


async def test_words_of_a_turn_without_end_are_not_carried_into_the_next(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), text("crackle"))
        await desk.turn(REFILL)
        assert desk.heard() == [REFILL]


async def test_transcripts_end_here_and_everything_else_goes_on(desk):
    async with desk:
        await desk.send(eager(SATURDAY), UserStartedSpeakingFrame(), text(SATURDAY))
        await desk.send(UserStoppedSpeakingFrame(), InterruptionFrame())
        assert not desk.down.of(TranscriptionFrame, EagerTranscriptionFrame)
        for kind in (UserStartedSpeakingFrame, UserStoppedSpeakingFrame, InterruptionFrame):
            assert len(desk.down.of(kind)) == 1


async def test_a_caller_who_goes_on_before_the_decision_is_heard_as_one(desk):
    async with desk:
        desk.may_decide.clear()
        await desk.send(UserStartedSpeakingFrame(), text("What time do you guys open"))
        await desk.send(UserStoppedSpeakingFrame())
        await settle()
        await desk.interrupted()
        desk.may_decide.set()
        await desk.turn("on Saturday?")
        await settle()
        assert desk.heard() == [SATURDAY]
        assert desk.spoken == [ON_SATURDAY]


@pytest.mark.parametrize(
    ("played_ms", "joined"),
    [(None, True), (0, True), (REACTION_MS, True), (REACTION_MS + 1, False), (3000, False)],
)
async def test_who_cuts_in_too_soon_to_have_reacted_was_not_done(desk, played_ms, joined):
    async with desk:
        await desk.turn("How long does it take?")
        if played_ms is not None:
            await desk.plays(played_ms)
        await desk.interrupted()
        await desk.turn("to get a refill?")
        expected = "How long does it take? to get a refill?" if joined else "to get a refill?"
        assert desk.heard() == ["How long does it take?", expected]
        (cut,) = events(desk.record, "interrupted")
        assert cut["played_ms"] == (played_ms or 0)
        assert cut["say"] == desk.spoken[0]


async def test_three_pieces_are_joined_and_a_heard_reply_ends_it(desk):
    async with desk:
        for piece in ("What time", "do you guys open"):
            await desk.turn(piece)
            await desk.plays(200)
            await desk.interrupted()
        await desk.turn("on Saturday?")
        assert desk.heard()[-1] == SATURDAY
        await desk.plays(2500)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        (ended,) = events(desk.record, "reply_ended")
        assert ended["played_ms"] == 2500
        await desk.interrupted()
        await desk.turn(REFILL)
        assert desk.heard()[-1] == REFILL
        assert desk.spoken[-1] == A_REFILL


async def test_what_is_met_with_silence_is_not_joined_to_the_next_question(desk):
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), text("no"), UserStoppedSpeakingFrame())
        await settle()
        assert desk.heard() == ["no"]
        assert desk.spoken == []
        await desk.turn(REFILL)
        assert desk.heard() == ["no", REFILL]


async def test_nothing_recognised_is_answered_too(desk):
    async with desk:
        await desk.turn("")
        assert desk.spoken == ["Sorry, I didn't catch that. Could you say it again?"]
        (verdict,) = events(desk.record, "verdict")
        assert (verdict["decision"], verdict["reason"]) == ("refused", "empty")


async def test_nothing_is_spoken_after_the_hang_up(desk):
    async with desk:
        await desk.turn("That's all, thanks, bye bye.")
        end = await desk.down.wait_for(EndWorkerFrame)
        assert desk.down.frames.index(end) > desk.down.frames.index(desk.down.of(TTSSpeakFrame)[0])
        await desk.plays(200)
        await desk.interrupted()
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await settle()
        await desk.answer.say(Spoken("Are you still there?"))
        await settle()
        assert desk.spoken == ["Thank you for calling. Goodbye."]
        assert len(desk.down.of(EndWorkerFrame)) == 1


async def test_words_of_its_own_are_said_recorded_and_repeated(desk):
    async with desk:
        await desk.answer.say(Spoken("Thanks for calling."))
        await desk.down.wait_for(TTSSpeakFrame)
        await desk.plays(1000)
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await desk.turn("could you repeat that")
        assert desk.spoken == ["Thanks for calling.", "Thanks for calling."]
        assert [e["say"] for e in events(desk.record, "said")] == ["Thanks for calling."]


async def test_a_goodbye_of_its_own_hangs_up(desk):
    async with desk:
        await desk.answer.say(Spoken("Goodbye."), hang_up=True)
        await desk.down.wait_for(EndWorkerFrame)
        assert desk.spoken == ["Goodbye."]
        assert [e["event"] for e in events(desk.record)][-2:] == ["said", "hang_up"]


@pytest.mark.parametrize("ends", ["end", "cancel"])
@pytest.mark.parametrize("while_", ["guessing", "deciding", "speaking"])
async def test_no_task_outlives_the_pipeline(desk, ends, while_):
    before = asyncio.all_tasks()
    async with desk:
        if while_ == "speaking":
            await desk.turn(SATURDAY)
        else:
            desk.may_decide.clear()
            await desk.send(UserStartedSpeakingFrame(), eager(SATURDAY))
            if while_ == "deciding":
                await desk.send(text(REFILL), UserStoppedSpeakingFrame())
            await settle()
            assert desk.asked
        assert asyncio.all_tasks() - before
        if ends == "cancel":
            await desk.cancel()
    await settle()
    assert asyncio.all_tasks() - before == set()


async def test_no_citation_reaches_the_voice(desk, clinic_questions):
    rows = [row for row in clinic_questions if row["kind"] == "core"]
    async with desk:
        for row in rows:
            await desk.turn(row["text"])
            await desk.plays(2000)
            await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        assert len(desk.spoken) == len(rows)
        assert not [words for words in desk.spoken if "[" in words]
    drafts = [event["draft"] for event in events(desk.record, "verdict") if event["draft"]]
    assert len(drafts) == 10
    assert all(draft.endswith(f"[{cited}]") for draft, cited in zip(drafts, CITED, strict=True))


CITED = (
    "kb-hours#2 kb-hours#3 kb-refills#1 kb-cancellations#1 kb-cancellations#2 kb-bloodtests#1 "
    "kb-bloodtests#4 kb-walkins#1 kb-insurance#1 kb-cancellations#1"
).split()


async def test_words_that_are_not_proven_free_of_citations_are_refused(desk):
    async with desk:
        draft = Draft("We open at 9 a.m. [kb-hours#2]", ("kb-hours#2",))
        for words in (draft, draft.text):
            with pytest.raises((TypeError, AttributeError), match=r"only Spoken|'str' object"):
                await desk.answer.say(words)
        await settle()
        assert desk.spoken == []


async def test_the_recogniser_is_told_that_yes_or_no_is_due(desk):
    async with desk:
        await desk.answer.say(Spoken(f"That is the first part. {OFFER}"))
        await desk.answer.say(Spoken("Hello."))
        await desk.answer.say(Spoken("Hello again."))
        await settle()
        assert [f.hint for f in desk.up.of(HintFrame)] == [Hint.YES_NO, Hint.NONE]


async def test_an_error_on_the_way_is_a_spoken_refusal(desk, monkeypatch, lines):
    def broken(*_, **__):
        raise RuntimeError("no embedder")

    monkeypatch.setattr("agent.session.resolve", broken)
    async with desk:
        await desk.send(UserStartedSpeakingFrame(), eager(SATURDAY))
        await desk.turn(SATURDAY)
        (verdict,) = events(desk.record, "verdict")
        assert (verdict["decision"], verdict["reason"]) == ("refused", "retrieval_failed")
        assert verdict["detail"] == "RuntimeError: no embedder"
        assert desk.spoken == [Policy().refusal]
