"""What passes to a conversation, and when: frame by frame, the record's clock moved by the test."""

import numpy as np
import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    EndWorkerFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    TranscriptionFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)

from agent.callee import Callee
from agent.callee_policy import CalleePolicy
from agent.outgoing import Outgoing
from agent.trace import CallTrace
from bench.callees import on_line, tone
from frontdesk import Spoken
from speech.types import Utterance
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events

OUTGOING = Outgoing(Spoken("Good morning."), Spoken("Please call us."), Spoken("The clinic."))
POLICY = CalleePolicy()
STARTED, STOPPED = VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame


class Answered(OneProcessor):
    """A call that was answered; ``said`` is what the agent was told to say."""

    def __init__(self, folder):
        self.record = FakeClockRecord(folder, "CA1")
        self.said, self.prepared, self.over = [], [], []
        self.callee = Callee(
            OUTGOING,
            CallTrace(self.record),
            say=self._keep(self.said),
            prepare=self._keep(self.prepared),
            on_over=self.over.append,
        )
        super().__init__(self.callee)

    @staticmethod
    def _keep(kept):
        async def keep(words):
            kept.append(words)

        return keep

    async def hears(self, text, ms):
        """``text`` is said and a pause follows; the clock stands 0.15 s into it."""
        await self.send(STARTED())
        self.record.at_ms += ms + 100
        await self.send(STOPPED(stop_secs=0.1))
        self.record.at_ms += 50
        await self.send(EagerTranscriptionFrame(text, "", "", result=Utterance(text, 0, 0, 0)))

    async def time(self, ms):
        """Time goes by, in silence: the machine looks at the clock with the next event."""
        self.record.at_ms += ms
        await self.send(BotStoppedSpeakingFrame(), upstream=True)

    async def line(self, signal):
        samples = on_line(signal, -60, np.random.default_rng(1))
        for at in range(0, samples.size - 159, 160):
            self.record.at_ms += 20
            await self.send(InputAudioRawFrame(samples[at : at + 160].tobytes(), 8000, 1))


@pytest.fixture
def call(tmp_path):
    return Answered(tmp_path)


async def test_first_words_are_no_turn_and_the_next_ones_are(call):
    async with call:
        await call.hears("Hello?", 500)
        assert not call.down.of(STARTED, STOPPED, EagerTranscriptionFrame)
        assert call.callee.holds
        await call.time(POLICY.hello_ms)
        assert call.said == [OUTGOING.greeting]
        assert call.up.of(UserStoppedSpeakingFrame)  # the recogniser begins another turn
        await call.send(TranscriptionFrame("Hello?", "", "", result=Utterance("Hello?", 0, 0, 0)))
        assert not call.down.of(TranscriptionFrame)
        await call.hears("What time do you open?", 1500)
        await call.send(TranscriptionFrame("What …", "", "", result=Utterance("What …", 0, 0, 0)))
    assert [len(call.down.of(kind)) for kind in (STARTED, STOPPED, TranscriptionFrame)] == [1] * 3
    assert call.prepared == [OUTGOING.greeting, OUTGOING.message]


async def test_the_message_is_left_after_the_beep_and_the_call_ended(call):
    async with call:
        await call.hears("Please leave a message after the tone.", 2000)
        await call.line(np.concatenate((np.zeros(4000), tone(1000, 400, -12))))
        assert call.said == []
        await call.line(np.zeros(8000))
        await call.time(0)
        assert call.said == [OUTGOING.message]
        assert call.callee.holds
        assert len(call.down.of(InputAudioRawFrame)) > 50  # audio always passes
        await call.send(BotStartedSpeakingFrame(), upstream=True)
        await call.time(3000)
        assert call.down.of(EndWorkerFrame)
    assert call.over == ["message left"]
    assert [event["action"] for event in events(call.record, "callee")] == ["leave", "hang_up"]
    (beep,) = events(call.record, "tone")
    assert beep["hz"] == pytest.approx(1000, abs=8)


async def test_a_greeting_that_was_too_early_is_cut(call):
    async with call:
        await call.hears("This is Tom.", 900)
        await call.time(POLICY.short_ms)
        await call.hears("Leave a message.", 900)
        assert call.down.of(InterruptionFrame)
        assert call.callee.holds
        passed = len(call.down.of(STARTED)), len(call.down.of(STOPPED))
        await call.hears("Thank you.", 500)
    assert call.said == [OUTGOING.greeting]
    assert passed == (1, 1)  # what had begun as a turn has ended
    assert len(call.down.of(STARTED)) == 1


async def test_words_of_ours_that_come_back_are_no_person(call):
    async with call:
        await call.hears("Please leave a message after the tone.", 2000)
        await call.time(POLICY.beep_ms)
        assert call.said == [OUTGOING.message]
        await call.hears("Please call us", 900)
        assert call.callee.holds
        await call.hears("Hello, I am at home", 900)
        assert not call.callee.holds
    assert len(call.down.of(STARTED)) == 1
    assert call.down.of(EagerTranscriptionFrame)[0].text == "Hello, I am at home"
