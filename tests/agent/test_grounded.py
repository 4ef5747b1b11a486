"""The grounded answer in a real pipeline: the clinic's index, a clock that the test moves."""

import asyncio

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    EndWorkerFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.grounded import GroundedAnswer
from agent.replay import replay
from agent.second_opinion import Outcome, Second
from agent.session import Session
from agent.trace import CallTrace
from agent.turns import REACTION_MS
from frontdesk import Spoken
from rag import Draft, Policy
from rag.parts import OFFER
from speech.hints import HintFrame
from speech.types import Hint, Utterance
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events, settle

SATURDAY = "What time do you guys open on Saturday?"
ON_SATURDAY = "On Saturday the clinic is open from 9 a.m. to 1 p.m."
REFILL = "How long does a refill take?"
A_REFILL = "A prescription refill takes 3 business days."


def text(words):
    return TranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z")


def eager(words):
    return EagerTranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z")


def interim(words, stable=""):
    result = Utterance(words, 1000, 40, -0.1, stable=stable, provisional=True)
    return InterimTranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z", result=result)


class Desk(OneProcessor):
    """``GroundedAnswer`` over a real session. ``may_decide`` holds decisions back when cleared."""

    def __init__(self, clinic, folder, **options):
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
            Session(clinic, Policy()), CallTrace(self.record), run=run, prepare=prepare, **options
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

    async def hums(self, words="Mhm."):
        """The caller speaks over the reply, and says ``words``."""
        await self.interrupted()
        await self.send(text(words), UserStoppedSpeakingFrame())


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


async def test_the_recogniser_is_told_that_yes_or_no_is_due(desk):
    async with desk:
        await desk.answer.say(Spoken(f"That is the first part. {OFFER}"))
        await desk.answer.say(Spoken("Hello."))
        await desk.answer.say(Spoken("Hello again."))
        await settle()
        assert [f.hint for f in desk.up.of(HintFrame)] == [Hint.YES_NO, Hint.NONE]


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
