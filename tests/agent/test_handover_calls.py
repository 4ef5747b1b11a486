"""Hand-overs as they happen, to a fake transfer that answers as told."""

import asyncio

import pytest
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    InputDTMFFrame,
    TTSSpeakFrame,
    UserStoppedSpeakingFrame,
)

from agent.handing_over import Way
from agent.handover import Standing
from agent.handover_rules import Rules
from agent.handover_words import AS_YOU_LIKE, HOLD
from agent.records import CallRecord
from agent.replay import Models, replay
from agent.returning import KEEP_S, Returning
from agent.session import verdict_json
from frontdesk import TransferError, WireError
from rag import Policy
from rag.types import REFUSAL
from tests.agent.desk import ON_SATURDAY, Desk, text
from tests.agent.handing import BUSY, CHOKING, DESK, PERSON, PIZZA, PROMISE, SATURDAY, WRITTEN
from tests.agent.one_processor import events, settle, within


class Transfer:
    """Somebody to hand over to: it takes its time, and answers as told."""

    def __init__(self):
        self.asked, self.ended = [], []
        self.problem = None
        self.rings, self.picks_up = asyncio.Event(), asyncio.Event()
        self.is_gone = asyncio.Event()

    async def __call__(self, to, summary):
        self.asked.append((to, summary))
        self.rings.set()
        try:
            await self.picks_up.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("answered")
        if self.problem is not None:
            raise self.problem

    async def gone(self):
        self.is_gone.set()


@pytest.fixture
def transfer():
    return Transfer()


@pytest.fixture
def office(clinic, tmp_path, transfer):
    """A desk with somebody to hand over to."""
    rules = Rules(to=DESK, emergency=WRITTEN)
    way = Way(transfer, transfer.gone, timeout_s=5, hold_s=60)
    return Desk(clinic, tmp_path, Standing(rules), way=way)


def pressed(key):
    return InputDTMFFrame(KeypadEntry(key))


async def heard_out(desk):
    await desk.plays(3000)
    await desk.send(BotStoppedSpeakingFrame(), upstream=True)


async def dialling(desk, transfer, words=PIZZA):
    await desk.turn(words)
    await heard_out(desk)
    await asyncio.wait_for(transfer.rings.wait(), 5)


def kinds(desk):
    names = "handing_over handed_over handover_failed handover_called_off".split()
    return [e["event"] for e in events(desk.record) if e["event"] in names]


async def test_the_sentence_is_heard_to_its_last_word_and_then_it_is_dialled(office, transfer):
    async with office as desk:
        await desk.turn(PIZZA)
        assert desk.spoken == [REFUSAL]
        await desk.plays(2500)
        await settle()
        assert transfer.asked == []
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await asyncio.wait_for(transfer.rings.wait(), 5)
        assert transfer.asked == [(DESK, f"A caller asked: {PIZZA} I could not answer that.")]
        transfer.picks_up.set()
        await asyncio.wait_for(transfer.is_gone.wait(), 5)
        assert kinds(desk) == ["handing_over", "handed_over"]
        assert desk.spoken == [REFUSAL]
        (event,) = events(desk.record, "handing_over")
        assert (event["rule"], event["to"]) == ("refusals", DESK)
        assert event["summary"] == transfer.asked[0][1]


async def test_a_transfer_that_fails_brings_the_agent_back(office, transfer):
    transfer.problem = TransferError("busy")
    transfer.picks_up.set()
    async with office as desk:
        await desk.turn(SATURDAY)
        await heard_out(desk)
        await dialling(desk, transfer, PERSON)
        await desk.down.wait_for(TTSSpeakFrame, 3)
        assert desk.spoken[-1] == BUSY
        await heard_out(desk)
        await desk.turn("and what about sunday")
        assert "sunday" in desk.spoken[-1].lower(), "the call goes on where it was"
        await heard_out(desk)
        await desk.turn(PIZZA)
        assert "connect" not in desk.spoken[-1]
        await heard_out(desk)
        await settle()
        assert len(transfer.asked) == 1
        assert kinds(desk) == ["handing_over", "handover_failed"]
        (failed,) = events(desk.record, "handover_failed")
        assert failed["problem"] == "busy"


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (WireError("an account is not set"), "unsupported"),
        (ValueError("an answer that is no JSON"), "failed"),
        (None, "timeout"),
    ],
)
async def test_one_that_breaks_or_never_ends_fails_too(clinic, tmp_path, transfer, error, problem):
    if error is not None:
        transfer.problem = error
        transfer.picks_up.set()
    way = Way(transfer, transfer.gone, timeout_s=0.05 if error is None else 5)
    async with Desk(clinic, tmp_path, Standing(Rules(to=DESK)), way=way) as desk:
        await dialling(desk, transfer)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert [e["problem"] for e in events(desk.record, "handover_failed")] == [problem]
        await desk.turn(SATURDAY)
        assert desk.spoken[-1] == ON_SATURDAY
        assert not transfer.is_gone.is_set()


async def test_who_waits_hears_that_it_goes_on(clinic, tmp_path, transfer):
    way = Way(transfer, transfer.gone, hold_s=0.02)
    async with Desk(clinic, tmp_path, Standing(Rules(to=DESK)), way=way) as desk:
        await dialling(desk, transfer)
        await desk.down.wait_for(TTSSpeakFrame, 3)
        assert desk.spoken[1:3] == [HOLD.text, HOLD.text]
        transfer.picks_up.set()
        await asyncio.wait_for(transfer.is_gone.wait(), 5)
        said = len(desk.spoken)
        await settle()
        await settle()
        assert len(desk.spoken) == said


async def test_while_it_rings_speech_and_keys_do_not_cancel_it(office, transfer):
    async with office as desk:
        await dialling(desk, transfer)
        await desk.interrupted()
        await desk.send(text(SATURDAY), UserStoppedSpeakingFrame())
        await desk.send(*map(pressed, "0*"))
        await settle()
        assert desk.spoken == [REFUSAL]
        assert not events(desk.record, "key")
        assert transfer.ended == []
        transfer.picks_up.set()
        await asyncio.wait_for(transfer.is_gone.wait(), 5)


async def test_an_emergency_is_answered_even_while_it_rings(office, transfer):
    async with office as desk:
        await dialling(desk, transfer)
        await desk.turn(CHOKING)
        assert desk.spoken[-1] == WRITTEN
        assert transfer.ended == []


async def test_an_emergency_while_it_rings_is_handed_over_next(clinic, tmp_path, transfer):
    transfer.problem = TransferError("busy")
    rules = Rules(to=DESK, emergency=WRITTEN, emergency_to="112")
    async with Desk(clinic, tmp_path, Standing(rules), way=Way(transfer, transfer.gone)) as desk:
        await dialling(desk, transfer)
        await desk.turn(CHOKING)
        await heard_out(desk)
        assert len(transfer.asked) == 1
        transfer.picks_up.set()
        await desk.down.wait_for(TTSSpeakFrame, 3)
        assert desk.spoken[-1] == f"I'm sorry, the line is busy. {WRITTEN}"
        await heard_out(desk)
        await within(5, lambda: len(transfer.asked) == 2)
        assert transfer.asked[1] == ("112", f"Emergency. A caller said: {CHOKING}.")


async def test_what_is_cut_while_it_rings_goes_on(office, transfer):
    async with office as desk:
        await dialling(desk, transfer)
        await desk.turn(CHOKING)
        await desk.plays(500)
        await desk.hums("oh my god what shall I do")
        await desk.down.wait_for(TTSSpeakFrame, 3)
        assert desk.spoken[-1] == WRITTEN


async def test_a_caller_who_hangs_up_takes_it_back(office, transfer):
    before = asyncio.all_tasks()
    async with office as desk:
        await dialling(desk, transfer)
        await desk.cancel()
    assert transfer.ended == ["cancelled"]
    await settle()
    assert asyncio.all_tasks() - before == set()


async def test_a_question_over_the_sentence_calls_it_off(office, transfer):
    async with office as desk:
        await desk.turn(PERSON)
        await desk.plays(1000)
        await desk.hums(SATURDAY)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await heard_out(desk)
        await settle()
        assert desk.spoken == [PROMISE, ON_SATURDAY]
        assert transfer.asked == []
        assert kinds(desk) == ["handover_called_off"]


async def test_a_no_over_the_sentence_calls_it_off(office, transfer):
    async with office as desk:
        await desk.turn(PERSON)
        await desk.plays(1000)
        await desk.hums("No, don't.")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await heard_out(desk)
        await settle()
        assert desk.spoken == [PROMISE, AS_YOU_LIKE]
        assert transfer.asked == []


async def test_a_hum_over_the_sentence_does_not(office, transfer):
    async with office as desk:
        await desk.turn(PIZZA)
        await desk.plays(1000)
        await desk.hums("Mhm.")
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await settle()
        assert transfer.asked == []
        await heard_out(desk)
        await asyncio.wait_for(transfer.rings.wait(), 5)


async def test_an_okay_when_it_was_all_but_said_needs_no_more_words(office, transfer):
    async with office as desk:
        await desk.turn(PERSON)
        await desk.plays(60_000)
        await desk.interrupted()
        await desk.send(text("okay"), UserStoppedSpeakingFrame())
        await asyncio.wait_for(transfer.rings.wait(), 5)
        assert desk.spoken == [PROMISE]


async def test_the_key_for_a_person(office, transfer):
    async with office as desk:
        await desk.turn(SATURDAY)
        await desk.plays(1000)
        await desk.send(*map(pressed, "0#"))
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken[1] == PROMISE
        await heard_out(desk)
        await asyncio.wait_for(transfer.rings.wait(), 5)
        assert transfer.asked == [
            (DESK, f"A caller asked for a person. They also asked: {SATURDAY}")
        ]
        assert [e["rule"] for e in events(desk.record, "handing_over")] == ["key"]


async def test_a_key_for_a_person_who_is_on_the_way_lets_the_sentence_end(office, transfer):
    async with office as desk:
        await desk.turn(PERSON)
        await desk.plays(1000)
        await desk.send(*map(pressed, "00"))
        await heard_out(desk)
        await asyncio.wait_for(transfer.rings.wait(), 5)
        assert desk.spoken == [PROMISE]


@pytest.mark.parametrize(("before", "over", "after"), [("", "1234", ""), ("12", "", "34")])
async def test_who_types_a_number_while_it_is_promised_is_let_finish(
    office, transfer, before, over, after
):
    async with office as desk:
        await desk.send(*map(pressed, before))
        await desk.turn(PERSON)
        await desk.plays(1000)
        await desk.send(*map(pressed, over))
        await desk.send(BotStoppedSpeakingFrame(), upstream=True)
        await settle()
        assert transfer.asked == []
        await desk.send(*map(pressed, after))
        await desk.send(pressed("#"))
        await desk.down.wait_for(TTSSpeakFrame, 2)
        assert desk.spoken[1] == "Thank you. I have a number ending in 3 4. I'll connect you now."
        await heard_out(desk)
        await asyncio.wait_for(transfer.rings.wait(), 5)
        assert transfer.asked[0][1].endswith("They typed 1 2 3 4.")


async def test_a_typed_number_goes_to_the_person_and_nowhere_else(office, transfer, lines):
    async with office as desk:
        for key in "83729164#":
            await desk.send(pressed(key))
        await desk.down.wait_for(TTSSpeakFrame)
        await heard_out(desk)
        await dialling(desk, transfer, PERSON)
        assert transfer.asked[0][1].endswith("They typed 8 3 7 2 9 1 6 4.")
    record = desk.record.path.read_text()
    assert "They typed a number ending in 6 4." in record
    for kept in (record, *(line for _, line in lines.all)):
        assert "8 3 7" not in kept
        assert "83729164" not in kept


async def test_a_call_with_a_hand_over_replays_without_a_change(office, transfer, clinic):
    transfer.problem = TransferError("busy")
    transfer.picks_up.set()
    async with office as desk:
        await dialling(desk, transfer)
        await desk.down.wait_for(TTSSpeakFrame, 2)
        await heard_out(desk)
        for words in (PIZZA, CHOKING, PERSON):
            await desk.turn(words)
            await heard_out(desk)
    path = desk.record.path
    event = '{"t_ms": 0, "event": "desk", "can_transfer": true, "is_open": true}\n'
    first, rest = path.read_text().split("\n", 1)
    path.write_text(f"{first}\n{event}{rest}")
    rules = Rules(to=DESK, emergency=WRITTEN)
    done = await replay(path, clinic, Policy(), Models(rules=rules))
    assert (done.turns, done.changes) == (4, ())
    other = await replay(path, clinic, Policy(), Models(rules=Rules()))
    assert other.changes, "with nobody to hand over to, other words are due"


async def test_a_call_that_came_back_replays_with_what_went_before(clinic, office, transfer):
    async with office as desk:
        await desk.turn(SATURDAY)
        await heard_out(desk)
        await dialling(desk, transfer, PERSON)
    session = desk.answer._session
    CallRecord(desk.record.path.parent, "x-CA1").close("another call")
    record = CallRecord(desk.record.path.parent, "CA1")
    record.event("desk", can_transfer=True, is_open=True)
    record.event("returned", problem="busy", goes_on=True)
    session.handover_failed("busy")
    heard = "and what about sunday"
    record.event("verdict", heard=heard, **verdict_json(session.reply(heard).verdict))
    record.close("caller hung up")
    done = await replay(record.path, clinic, Policy(), Models(rules=Rules(to=DESK)))
    assert (done.turns, done.changes) == (1, ())
    desk.record.path.unlink()
    alone = await replay(record.path, clinic, Policy(), Models(rules=Rules(to=DESK)))
    assert alone.changes, "nobody knows what it was about"


def test_a_session_is_kept_for_its_call_and_not_for_ever():
    now = [0.0]
    kept = Returning(lambda: now[0])
    one, two = object(), object()
    kept.keep("CA1", one)
    now[0] = KEEP_S
    kept.keep("CA2", two)
    assert kept.take("CA1") is one
    assert kept.take("CA1") is None
    now[0] = 2 * KEEP_S + 1
    assert kept.take("CA2") is None
    for number in range(3000):
        kept.keep(f"CA{number}", one)
    assert kept.take("CA0") is None
    assert kept.take("CA2999") is one
