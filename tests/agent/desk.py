"""The grounded answer over a real session: the clinic's index, a clock that the test moves."""

import asyncio

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.grounded import GroundedAnswer
from agent.session import Session
from agent.trace import CallTrace
from rag import Policy
from speech.types import Utterance
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events

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

    def __init__(self, clinic, folder, standing=None, **options):
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
            Session(clinic, Policy(), standing),
            CallTrace(self.record),
            run=run,
            prepare=prepare,
            **options,
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
