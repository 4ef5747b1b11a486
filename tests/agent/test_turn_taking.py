"""The turn machine's processor in a real pipeline, on a real clock or on one that is moved."""

import asyncio

import numpy as np
import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)

from agent.records import CallRecord
from agent.trace import CallTrace
from agent.turn_taking import TurnTaking
from agent.turns import Action, Doubt, TurnPolicy
from frontdesk import Spoken
from speech.types import Utterance
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events, settle, within

NEVER_MS = 60_000
POLICY = TurnPolicy(
    settle_ms=200,
    unsure_ms=NEVER_MS,
    dangling_ms=NEVER_MS,
    cap_ms=NEVER_MS,
    prompt_after_ms=NEVER_MS,
)


@pytest.fixture(autouse=True)
def _plain_patience(monkeypatch):
    """What is worth waiting for is not the machine's: ``test_patience`` has it."""

    def plain(text, probability, policy, **_):
        if text is None or probability is None:
            return policy.cap_ms
        return policy.settle_ms if probability > 0.5 else policy.unsure_ms

    monkeypatch.setattr("agent.turns.patience_ms", plain)


def started():
    return VADUserStartedSpeakingFrame(start_secs=0.128)


def stopped():
    return VADUserStoppedSpeakingFrame(stop_secs=0.096)


def eager(words):
    return EagerTranscriptionFrame(words, "caller", "2026-01-01T00:00:00Z")


def audio(samples):
    return InputAudioRawFrame(np.asarray(samples, np.int16).tobytes(), 8000, 1)


class Turns(OneProcessor):
    """``TurnTaking`` with a turn model that says ``probability`` once ``may_judge`` is set."""

    record_type = CallRecord

    def __init__(self, folder, policy=POLICY, media_timeout_s=60.0):
        self.probability = 0.9
        self.judged, self.judgements, self.silences, self.no_media = [], 0, [], 0
        self.may_judge = asyncio.Event()
        self.may_judge.set()

        async def turn_model(samples, rate_hz):
            self.judged.append((samples, rate_hz))
            await self.may_judge.wait()
            self.judgements += 1
            return self.probability

        async def on_silence(action):
            self.silences.append(action)

        async def on_no_media():
            self.no_media += 1

        self.record = self.record_type(folder, "CA1")
        self.trace = CallTrace(self.record)
        self.processor = TurnTaking(
            policy,
            self.trace,
            turn_model,
            on_silence=on_silence,
            on_no_media=on_no_media,
            media_timeout_s=media_timeout_s,
        )
        super().__init__(self.processor)

    def count(self, kind):
        """How many of ``kind`` went down and up."""
        return len(self.down.of(kind)), len(self.up.of(kind))


class TimedTurns(Turns):
    """Its clock stands still until :meth:`later` moves it."""

    record_type = FakeClockRecord

    async def later(self, ms):
        """``ms`` go by, and all that is due then has happened."""
        self.record.at_ms += ms
        self.processor._wake.set()
        for _ in range(100):
            await asyncio.sleep(0)


async def test_a_turn_from_speech_to_settled_silence(tmp_path):
    async with Turns(tmp_path) as turns:
        await turns.send(started())
        assert turns.count(InterruptionFrame) == (1, 1)
        assert turns.count(UserStartedSpeakingFrame) == (1, 1)
        assert turns.trace.turn == 1
        began = turns.trace.now_ms()
        await turns.send(stopped(), eager("what time do you open"))
        assert turns.count(UserStoppedSpeakingFrame) == (0, 0)
        await turns.down.wait_for(UserStoppedSpeakingFrame)
        waited = turns.trace.now_ms() - began
        stages = turns.trace.stages()
        assert stages["turn_ended"] >= 200
        # 96 of the 200 ms had gone by when the VAD spoke up.
        assert stages["turn_ended"] - waited == pytest.approx(96, abs=40)
        assert stages["heard"] >= 96
        assert stages["turn_model"] >= 96
        await settle()
        assert turns.count(UserStoppedSpeakingFrame) == (1, 1)


async def test_what_the_turn_model_hears(tmp_path):
    async with Turns(tmp_path) as turns:
        chunks = [np.full(160, n) for n in range(1, 1001)]  # 20 s
        await turns.send(*map(audio, chunks))
        await turns.send(started(), stopped())
        await within(5, lambda: turns.judgements == 1)
        ((samples, rate_hz),) = turns.judged
        assert rate_hz == 8000
        assert samples.dtype == np.int16
        assert len(samples) >= 8 * 8000, "Smart Turn listens to 8 s"
        assert len(samples) <= 16 * 8000, "a long call must not hold its whole audio"
        assert samples.tolist() == np.concatenate(chunks)[-len(samples) :].tolist()


async def test_audio_ends_here_and_everything_else_goes_on(tmp_path):
    async with Turns(tmp_path) as turns:
        final = TranscriptionFrame("what", "caller", "2026-01-01T00:00:00Z")
        sent = [started(), stopped(), eager("what"), final, InterruptionFrame()]
        await turns._worker.queue_frame(audio([1] * 160))
        await turns.send(*sent)
        assert [frame for frame in turns.down.frames if frame in sent] == sent
        assert not turns.down.of(InputAudioRawFrame)


async def test_a_caller_who_goes_on_is_not_cut_short(tmp_path):
    async with TimedTurns(tmp_path) as turns:
        await turns.send(started(), stopped(), eager("what time do you open"), started())
        await turns.later(5000)
        assert turns.count(UserStoppedSpeakingFrame) == (0, 0)
        assert turns.count(UserStartedSpeakingFrame) == (1, 1), "it is the same turn"
        assert turns.count(InterruptionFrame) == (1, 1)
        await turns.send(stopped(), eager("what time do you open on sunday"))
        # 96 of the 200 ms had gone by when the VAD spoke up.
        await turns.later(103)
        assert turns.count(UserStoppedSpeakingFrame) == (0, 0)
        await turns.later(1)
        assert turns.count(UserStoppedSpeakingFrame) == (1, 1)
        await turns.later(5000)
        assert turns.count(UserStoppedSpeakingFrame) == (1, 1)
        assert turns.trace.turn == 1


async def test_a_judgement_of_an_earlier_pause_does_not_end_a_later_one(tmp_path):
    async with TimedTurns(tmp_path) as turns:
        turns.may_judge.clear()
        await turns.send(started(), stopped())
        await within(5, lambda: len(turns.judged) == 1)
        await turns.send(started())
        turns.may_judge.set()
        await within(5, lambda: turns.judgements == 1)
        await settle()
        turns.may_judge.clear()
        await turns.send(stopped(), eager("what time do you open"))
        await turns.later(5000)
        assert turns.count(UserStoppedSpeakingFrame) == (0, 0)
        turns.may_judge.set()
        await turns.down.wait_for(UserStoppedSpeakingFrame)


async def test_only_the_last_pause_is_judged(tmp_path):
    async with Turns(tmp_path) as turns:
        turns.may_judge.clear()
        await turns.send(started(), stopped(), started(), stopped())
        await within(5, lambda: len(turns.judged) == 2)
        turns.may_judge.set()
        await settle()
        assert turns.judgements == 1


async def test_silence_is_prompted_twice_and_given_up(tmp_path):
    policy = TurnPolicy(prompt_after_ms=50)
    async with Turns(tmp_path, policy) as turns:
        await within(5, lambda: len(turns.silences) >= 3)
        assert turns.silences[:3] == [Action.PROMPT, Action.PROMPT, Action.GIVE_UP]


async def test_the_silence_of_a_listening_caller_does_not_count(tmp_path):
    policy = TurnPolicy(prompt_after_ms=12_000)
    async with TimedTurns(tmp_path, policy) as turns:
        await turns.send(BotStartedSpeakingFrame(), upstream=True)
        await turns.later(20_000)
        await turns.send(BotStoppedSpeakingFrame(), upstream=True)
        await turns.later(11_999)
        assert turns.silences == []
        await turns.later(1)
        assert turns.silences == [Action.PROMPT]


async def test_no_audio_for_too_long_is_reported_once(tmp_path):
    async with TimedTurns(tmp_path, media_timeout_s=10.0) as turns:
        for _ in range(3):  # audio, even silent, keeps the call alive
            await turns.send(audio([0] * 160))
            await turns.later(9_999)
        assert turns.no_media == 0
        await turns.later(1)
        assert turns.no_media == 1
        await turns.later(60_000)
        assert turns.no_media == 1


async def test_no_audio_in_the_middle_of_a_word_is_reported_too(tmp_path):
    async with Turns(tmp_path, media_timeout_s=0.15) as turns:
        await turns._worker.queue_frame(audio([0] * 160))
        await turns.send(started())
        await within(5, lambda: turns.no_media == 1)


@pytest.mark.parametrize("ends", ["end", "cancel"])
async def test_no_task_outlives_the_pipeline(tmp_path, ends):
    before = asyncio.all_tasks()
    async with Turns(tmp_path) as turns:
        turns.may_judge.clear()
        await turns.send(started(), stopped())
        await within(5, lambda: len(turns.judged) == 1)
        names = {task.get_name() for task in asyncio.all_tasks() - before}
        assert any("_ask" in name for name in names), names
        assert any("_tick" in name for name in names), names
        if ends == "cancel":
            await turns.cancel()
    await settle()
    assert asyncio.all_tasks() - before == set()
    assert turns.judgements == 0


def heard(words):
    result = Utterance(words, 900, 40, -0.1)
    return TranscriptionFrame(words, "", "2026-01-01T00:00:00Z", result=result, finalized=True)


async def a_turn(turns, words):
    """From speech to a text at the pause and the end of the turn; its final text is to come."""
    await turns.send(started(), stopped())
    if words is not None:
        await turns.send(eager(words))
    await turns.later(NEVER_MS)


def passed(turns):
    return [frame.text for frame in turns.down.of(TranscriptionFrame)]


async def test_a_text_that_is_late_goes_on_at_the_head_of_the_next(tmp_path):
    async with TimedTurns(tmp_path, media_timeout_s=3600) as turns:
        await a_turn(turns, None)
        assert turns.count(UserStoppedSpeakingFrame) == (1, 1)
        await turns.send(started(), heard("what time do you open"))
        assert passed(turns) == [], "alone it would be taken for the second turn"
        await turns.send(stopped(), eager("on sunday"))
        await turns.later(NEVER_MS)
        await turns.send(heard("on sunday"), heard("once more"))
        assert passed(turns) == ["what time do you open on sunday", "once more"]
        assert turns.down.of(TranscriptionFrame)[0].result.text == passed(turns)[0]


async def test_only_the_text_of_what_was_ignored_is_dropped(tmp_path):
    async with TimedTurns(tmp_path, media_timeout_s=3600) as turns:
        playback = turns.processor._playback
        await a_turn(turns, None)
        playback.begin(Spoken("We are open."))
        playback.started(turns.trace.now_ms())
        turns.processor._doubts.at_start = lambda *_: Doubt.ECHO
        await turns.send(BotStartedSpeakingFrame(), upstream=True)
        await turns.send(started(), stopped(), eager("we are open"))
        assert len(events(turns.record, "ignored")) == 1
        await turns.send(heard("do you open on sunday"), heard("we are open"))
        assert passed(turns) == ["do you open on sunday"]


async def test_what_is_ignored_is_recorded_as_it_was_heard(tmp_path):
    async with TimedTurns(tmp_path, media_timeout_s=3600) as turns:
        await a_turn(turns, "do you open on sunday")
        turns.processor._doubts.at_start = lambda *_: Doubt.ECHO
        await turns.send(heard("do you open on sunday"), started(), stopped())
        await turns.later(NEVER_MS)
        assert [event["heard"] for event in events(turns.record, "ignored")] == [""]


async def test_a_service_that_sends_no_text_for_noise_is_heard_afterwards(tmp_path):
    async with TimedTurns(tmp_path, media_timeout_s=3600) as turns:
        turns.processor._doubts.at_start = lambda *_: Doubt.ECHO
        await turns.send(started(), stopped())
        await turns.later(NEVER_MS)
        assert len(events(turns.record, "ignored")) == 1
        del turns.processor._doubts.at_start
        final = TranscriptionFrame("do you open on sunday", "caller", "2026-01-01T00:00:00Z")
        await turns.send(started(), stopped(), final)
        await turns.later(104)
        assert turns.count(UserStoppedSpeakingFrame)[0] == 1
