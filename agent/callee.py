"""The Pipecat processor that keeps the agent silent until whoever was called has finished.

It sits between recogniser and turn-taking, in calls that the agent has placed, and drives
:class:`agent.answering_machine.AnsweringMachine`. What a voicemail says, or a person's first
words, are no turn: they end here. Once there is a conversation all passes through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    EndWorkerFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    StartFrame,
    TranscriptionFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.answering_machine import Action, AnsweringMachine, Beeped, Event
from agent.backchannel import takes_turn
from agent.callee_policy import CalleePolicy
from agent.callee_words import words_of
from agent.outgoing import Outgoing
from agent.trace import CallTrace
from agent.turns import AgentStarted, AgentStopped, Clock, Heard, SpeechStarted, SpeechStopped
from frontdesk import Spoken
from speech.beep import BeepDetector
from speech.types import Utterance

_HELD = (
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
    InterimTranscriptionFrame,
    EagerTranscriptionFrame,
    EagerEndOfTurnCancelFrame,
)
# What a recogniser makes of a click is rarely two words.
_FEWEST_WORDS = 2
_ECHO_SHARE = 0.6


class Callee(FrameProcessor):
    """Greets a person, leaves a message after a beep, hangs up on what is neither.

    ``say`` speaks, at once what ``prepare`` has rendered; ``on_over`` is told why the call ends,
    before it does.
    """

    def __init__(
        self,
        outgoing: Outgoing,
        trace: CallTrace,
        *,
        say: Callable[[Spoken], Awaitable[None]],
        prepare: Callable[[Spoken], Awaitable[None]],
        on_over: Callable[[str], None],
        policy: CalleePolicy | None = None,
    ) -> None:
        super().__init__(enable_direct_mode=True)  # as TurnTaking: no queue for each 20 ms
        self._outgoing = outgoing
        self._trace = trace
        self._say, self._prepare = say, prepare
        self._on_over = on_over
        self._machine = AnsweringMachine(policy or CalleePolicy(), trace.now_ms())
        self._beeps: BeepDetector | None = None
        self._fed = 0
        self._sounds = False
        self._passed_sound = False
        self._heard = ""
        self._owed = 0
        self._wake = asyncio.Event()
        self._clock: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[None] | None = None

    @property
    def holds(self) -> bool:
        """Whether there is no conversation: nobody is prompted, and no turn is answered."""
        return self._machine.holds

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Feed the machine; pass on what belongs to a conversation."""
        await super().process_frame(frame, direction)
        match frame:
            case StartFrame():
                self._clock = self.create_task(self._tick())
                self._preparing = self.create_task(self._render())
            case EndFrame() | CancelFrame():
                await self._stop_tasks()
            case InputAudioRawFrame():
                await self._listen(frame)
            case TranscriptionFrame():
                await self._final(frame)
                return
            case _:
                await self._feed(frame, direction)
        if not (isinstance(frame, _HELD) and self.holds and direction is FrameDirection.DOWNSTREAM):
            await self._pass(frame, direction)

    async def cleanup(self) -> None:
        """Leave no task behind."""
        await self._stop_tasks()
        await super().cleanup()

    async def _pass(self, frame: Frame, direction: FrameDirection) -> None:
        if direction is FrameDirection.DOWNSTREAM:
            if isinstance(frame, VADUserStartedSpeakingFrame):
                self._passed_sound = True
            elif isinstance(frame, VADUserStoppedSpeakingFrame):
                self._passed_sound = False
        await self.push_frame(frame, direction)

    async def _feed(self, frame: Frame, direction: FrameDirection) -> None:
        """Tell the machine what ``frame`` says, if anything."""
        up = direction is FrameDirection.UPSTREAM
        match frame:
            case BotStartedSpeakingFrame() if up:
                await self._step(AgentStarted())
            case BotStoppedSpeakingFrame() if up:
                await self._step(AgentStopped())
            case VADUserStartedSpeakingFrame() if not up:
                self._sounds = True
                await self._step(SpeechStarted())
            case VADUserStoppedSpeakingFrame() if not up:
                self._sounds = False
                await self._step(SpeechStopped(frame.stop_secs * 1000))
            case InterimTranscriptionFrame() | EagerTranscriptionFrame():
                provisional = isinstance(frame, InterimTranscriptionFrame)
                await self._step(self._words(frame.text, provisional))

    async def _final(self, frame: TranscriptionFrame) -> None:
        """Of what was heard before there was a conversation, nothing is passed on."""
        ours = isinstance(frame.result, Utterance)
        if self._owed and ours:
            self._owed -= 1
        elif self.holds:
            await self._step(self._words(frame.text, False))
        else:
            await self.push_frame(frame)

    def _words(self, text: str, provisional: bool) -> Heard:
        self._heard = text
        return Heard(text, provisional, _is_said_by_a_person(text, self._outgoing.message))

    async def _listen(self, frame: InputAudioRawFrame) -> None:
        if not self._machine.watches:
            return
        if self._beeps is None:
            self._beeps = BeepDetector(frame.sample_rate)
        samples = np.frombuffer(frame.audio, np.int16)
        self._fed += samples.size
        fed_ms, now = self._fed * 1000 / frame.sample_rate, self._trace.now_ms()
        for tone in self._beeps.feed(samples):
            ended_ms = now - (fed_ms - tone.ended_ms)
            self._trace.event("tone", hz=round(tone.hz), ms=round(tone.ms), alone=tone.alone)
            await self._step(Beeped(tone.hz, tone.ms, ended_ms, tone.alone))

    async def _step(self, event: Event) -> None:
        for action in self._machine.step(event, self._trace.now_ms()):
            self._trace.event(
                "callee",
                action=action.value,
                found=self._machine.found.value,
                why=self._machine.why,
                heard=self._heard,
            )
            await self._do(action)
        self._wake.set()

    async def _do(self, action: Action) -> None:
        match action:
            case Action.GREET:
                await self._speak(self._outgoing.greeting)
            case Action.SAY_WHO:
                await self._speak(self._outgoing.who)
            case Action.LEAVE:
                await self._speak(self._outgoing.message)
            case Action.STOP:
                if self._passed_sound:  # the turn that it was taken for ends by itself
                    await self._pass(VADUserStoppedSpeakingFrame(), FrameDirection.DOWNSTREAM)
                await self.broadcast_interruption()
            case Action.CONVERSE:
                await self._hand_on()
            case Action.HANG_UP:
                self._on_over(self._machine.why)
                await self.push_frame(EndWorkerFrame(reason=self._machine.why))

    async def _speak(self, words: Spoken) -> None:
        """Say ``words``; what was heard so far is over, for the recogniser too."""
        self._owed += 1
        await self.push_frame(UserStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
        await self._say(words)

    async def _hand_on(self) -> None:
        """The words of the moment are a turn: have it begin as any other."""
        await self._pass(VADUserStartedSpeakingFrame(), FrameDirection.DOWNSTREAM)
        if not self._sounds:
            await self._pass(VADUserStoppedSpeakingFrame(), FrameDirection.DOWNSTREAM)

    async def _tick(self) -> None:
        """Wake at the machine's deadline."""
        while self._machine.watches:
            deadline = self._machine.deadline_ms
            wait_s = None if deadline is None else max(0.0, deadline - self._trace.now_ms()) / 1000
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), wait_s)
            except TimeoutError:
                await self._step(Clock())

    async def _render(self) -> None:
        """Nobody waits for the voice once it is the agent's turn."""
        for words in (self._outgoing.greeting, self._outgoing.message):
            await self._prepare(words)

    async def _stop_tasks(self) -> None:
        tasks = (self._clock, self._preparing)
        self._clock = self._preparing = None
        for task in tasks:
            if task is not None and not task.done() and task is not asyncio.current_task():
                await self.cancel_task(task)


def _is_said_by_a_person(text: str, message: Spoken) -> bool:
    """Whether ``text``, heard while ``message`` was left, is neither a noise nor our own echo."""
    words, ours = words_of(text).split(), set(words_of(message.text).split())
    if len(words) < _FEWEST_WORDS or not takes_turn(text):
        return False
    return sum(word in ours for word in words) < _ECHO_SHARE * len(words)
