"""The grounded answer in a real pipeline: the clinic's index, a clock that the test moves."""

import asyncio

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    EndWorkerFrame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.grounded import _REACTION_MS, GroundedAnswer
from agent.session import Session
from agent.trace import CallTrace
from frontdesk import Spoken
from rag import Draft, Policy
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events, settle

SATURDAY = "What time do you guys open on Saturday?"
ON_SATURDAY = "On Saturday the clinic is open from 9 a.m. to 1 p.m."
REFILL = "How long does a refill take?"
A_REFILL = "A prescription refill takes 3 business days."


def text(words):
    return TranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z")


def eager(words):
    return EagerTranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z")


class Desk(OneProcessor):
    """``GroundedAnswer`` over a real session. ``may_decide`` holds decisions back when cleared."""

    def __init__(self, clinic, folder):
        self.record = FakeClockRecord(folder, "CA1")
        self.asked, self.prepared = [], []
        self.may_decide = asyncio.Event()
        self.may_decide.set()

        async def run(function, heard):
            self.asked.append(heard)
            await self.may_decide.wait()
            return function(heard)

        async def prepare(words):
            self.prepared.append(words)

        self.answer = GroundedAnswer(
            Session(clinic, Policy()), CallTrace(self.record), run=run, prepare=prepare
        )
        super().__init__(self.answer)

    @property
    def spoken(self):
        return [frame.text for frame in self.down.of(TTSSpeakFrame)]

    def heard(self):
        return [event["heard"] for event in events(self.record, "verdict")]

    async def turn(self, *words):
        """A whole turn, its reply on the way to the voice."""
        before = len(self.spoken)
        await self.send(UserStartedSpeakingFrame(), *map(text, words), UserStoppedSpeakingFrame())
        await self.down.wait_for(TTSSpeakFrame, before + 1)

    async def plays(self, ms):
        """The reply begins to be heard, and goes on for ``ms``."""
        await self.send(BotStartedSpeakingFrame(), upstream=True)
        self.record.at_ms += ms

    async def interrupted(self):
        await self.send(InterruptionFrame(), UserStartedSpeakingFrame())
        await self.send(BotStoppedSpeakingFrame(), upstream=True)


@pytest.fixture
def desk(clinic, tmp_path):
    return Desk(clinic, tmp_path)


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
    [(None, True), (0, True), (_REACTION_MS, True), (_REACTION_MS + 1, False), (3000, False)],
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


async def test_a_guess_includes_the_words_before_the_pause(desk):
    async with desk:
        await desk.turn("What time do you guys open")
        await desk.interrupted()
        await desk.send(eager("on Saturday?"))
        await settle()
        await desk.turn("on Saturday?")
        assert desk.heard()[-1] == SATURDAY
        assert events(desk.record, "verdict")[-1]["speculated"] is True


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
