"""The Pipecat processor that drives the turn machine: it sits between recogniser and answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterimTranscriptionFrame,
    StartFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.backchannel import takes_turn
from agent.doubt import Doubts
from agent.playback import Playback
from agent.trace import CallTrace
from agent.turns import (
    Action,
    AgentAsked,
    AgentStarted,
    AgentStopped,
    Clock,
    Event,
    Heard,
    SignOfLife,
    SoundsComplete,
    SpeechStarted,
    SpeechStopped,
    TurnMachine,
    TurnPolicy,
)
from frontdesk import SpeechError
from speech.audio import Int16
from speech.hints import HintFrame
from speech.streaming import joined
from speech.types import Utterance

# Smart Turn listens to the last 8 s (pipecat.audio.turn.smart_turn.base_smart_turn).
_TURN_MODEL_S = 8
# How often a sound that is doubted is looked at again: a caller over an echo may wait this long.
_DOUBT_MS = 40.0
# Stands for the number of a turn where a sound was none.
_NO_TURN = 0

_Words = InterimTranscriptionFrame | EagerTranscriptionFrame | TranscriptionFrame
TurnModel = Callable[[np.ndarray, int], Awaitable[float]]
"""Probability that the turn is over, from int16 mono audio and its rate in Hz."""


class TurnTaking(FrameProcessor):
    """Turns VAD frames, transcripts and the agent's own speech into turns.

    Broadcasts ``UserStartedSpeakingFrame`` and ``UserStoppedSpeakingFrame`` around each turn of
    the caller and an interruption when the caller speaks up. A sound that turns out to be no turn
    (an echo of ``playback``, a far voice) is closed with a ``UserStoppedSpeakingFrame`` upstream,
    for the recogniser; its transcripts end here, as input audio does. One that comes when the
    caller has gone on already, in a turn of its own, goes on at the head of that turn's.

    ``on_silence`` is called with ``Action.PROMPT`` or ``Action.GIVE_UP`` when nobody has spoken for
    long, ``on_no_media`` when no audio has arrived for ``media_timeout_s``; it returns True
    where that is no reason to end the call. ``on_agent`` is called with whether the agent speaks.
    ``turn_model`` is None where the recogniser tells how finished a turn sounds.
    """

    def __init__(
        self,
        policy: TurnPolicy,
        trace: CallTrace,
        turn_model: TurnModel | None,
        *,
        on_silence: Callable[[Action], Awaitable[None]],
        on_no_media: Callable[[], Awaitable[bool | None]],
        media_timeout_s: float,
        playback: Playback | None = None,
        on_agent: Callable[[bool], None] = lambda speaks: None,
    ) -> None:
        super().__init__(enable_direct_mode=True)  # else a queue and a task for each 20 ms
        self._trace = trace
        self._machine = TurnMachine(policy, trace.now_ms())
        self._turn_model = turn_model
        self._on_silence = on_silence
        self._on_no_media = on_no_media
        self._media_timeout_ms = media_timeout_s * 1000
        self._on_agent = on_agent
        self._playback = playback or Playback()
        self._doubts = Doubts(self._playback)
        self._doubted_ms = 0.0
        self._turn_ms = 0.0
        self._last_words = self._saying = ""
        self._owed: deque[int] = deque()
        self._late: list[Utterance] = []
        self._last_media_ms = trace.now_ms()
        self._audio = bytearray()
        self._rate_hz = 0
        self._wake = asyncio.Event()
        self._clock: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Feed the machine; pass on everything but input audio and what was heard of no turn."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            await self._keep(frame)
            return
        if isinstance(frame, StartFrame):
            self._clock = self.create_task(self._tick())
        elif isinstance(frame, (EndFrame, CancelFrame)):
            await self._stop_tasks()
        elif isinstance(frame, TranscriptionFrame):
            await self._final(frame)
            return
        event = self._event(frame, direction)
        if isinstance(frame, (InterimTranscriptionFrame, EagerTranscriptionFrame)):
            if not self._machine.is_open and event is not None:
                await self._step(event)
                event = None
            if not self._machine.is_open:
                return
        await self.push_frame(frame, direction)
        if event is not None:
            await self._step(event)

    async def cleanup(self) -> None:
        """End the clock with the call."""
        await self._stop_tasks()
        await super().cleanup()

    def _event(self, frame: Frame, direction: FrameDirection) -> Event | None:
        match frame:
            case VADUserStartedSpeakingFrame():
                now = self._trace.now_ms()
                self._doubted_ms = now
                if not self._machine.is_open:
                    self._last_words = ""
                return SpeechStarted(self._doubts.at_start(self._heard_lately, self._rate_hz, now))
            case VADUserStoppedSpeakingFrame():
                silence_ms = frame.stop_secs * 1000
                self._trace.silent_since(self._trace.now_ms() - silence_ms)
                self._trace.stage("paused")
                return SpeechStopped(silence_ms)
            case InterimTranscriptionFrame():
                self._trace.passing("hearing", heard=frame.text)
                return self._words(frame, provisional=True)
            case EagerTranscriptionFrame():
                self._trace.stage("heard")
                return self._words(frame)
            case BotStartedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self._on_agent(True)
                return AgentStarted()
            case BotStoppedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self._on_agent(False)
                return AgentStopped()
            case HintFrame():
                return AgentAsked(frame.hint)
            case InputDTMFFrame():
                return SignOfLife()
        return None

    def _words(self, frame: _Words, *, provisional: bool = False) -> Heard:
        self._last_words = text = frame.text
        saying = self._saying if self._machine.is_open else self._said_now()
        means_it = takes_turn(text, saying, self._playback.reply) if saying else bool(text)
        finished = frame.result.finished if isinstance(frame.result, Utterance) else None
        return Heard(text, provisional, means_it, finished)

    def _said_now(self) -> str:
        """The sentence of the agent's that what comes in now may have been heard over."""
        now = self._trace.now_ms()
        return self._playback.saying(now) if self._playback.is_near(now) else ""

    async def _final(self, frame: TranscriptionFrame) -> None:
        """Pass on what was heard in the turn that ended last.

        Our own recognisers send one text for every end of a turn, in order; another's may send
        none, or many.
        """
        heard = frame.result
        if not self._owed or not isinstance(heard, Utterance):
            event = self._words(frame)
        else:
            turn = self._owed.popleft()
            if turn == _NO_TURN:
                return
            event = replace(self._words(frame), over=True)
            if turn != self._trace.turn:  # alone it would be answered as if it were all
                self._late.append(heard)
                await self._step(event)
                return
            if self._late:
                frame.result = whole = joined([*self._late, heard])
                frame.text = whole.text
                self._late.clear()
        self._trace.stage("heard")
        await self.push_frame(frame)
        await self._step(event)

    async def is_alive(self) -> None:
        """Somebody is on the line, though nothing was said: the wait for words begins anew."""
        await self._step(SignOfLife())

    async def _step(self, event: Event) -> None:
        for action in self._machine.step(event, self._trace.now_ms()):
            await self._do(action)
        self._wake.set()

    async def _do(self, action: Action) -> None:
        match action:
            case Action.INTERRUPT:
                await self.broadcast_interruption()
                self._saying = self._said_now()
            case Action.START_TURN:
                self._turn_ms = self._trace.now_ms()
                self._trace.begin_turn()
                await self.broadcast_frame(UserStartedSpeakingFrame)
            case Action.ASK_TURN_MODEL if self._turn_model is not None:
                if self._asking is not None and not self._asking.done():
                    await self.cancel_task(self._asking)
                self._asking = self.create_task(self._ask(self._turn_model))
            case Action.END_TURN:
                self._trace.stage("turn_ended")
                self._owed.append(self._trace.turn)
                self._learn()
                await self.broadcast_frame(UserStoppedSpeakingFrame)
            case Action.IGNORE:
                self._owed.append(_NO_TURN)
                self._trace.event("ignored", heard=self._last_words)
                await self.push_frame(UserStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
            case Action.PROMPT | Action.GIVE_UP:
                await self._on_silence(action)

    async def _ask(self, turn_model: TurnModel) -> None:
        audio = np.frombuffer(bytes(self._audio), np.int16)
        try:
            probability = await turn_model(audio, self._rate_hz)
        except SpeechError as error:  # then the transcript and the silence decide alone
            logger.warning("no end-of-turn judgement: {}", error)
            probability = 0.0
        self._trace.stage("turn_model")
        await self._step(SoundsComplete(probability))

    async def _keep(self, frame: InputAudioRawFrame) -> None:
        now = self._last_media_ms = self._trace.now_ms()
        self._rate_hz = frame.sample_rate
        self._audio += frame.audio
        limit = _TURN_MODEL_S * 2 * frame.sample_rate
        if len(self._audio) > 2 * limit:
            del self._audio[:-limit]
        doubt = self._machine.doubt
        if doubt is not None and now - self._doubted_ms >= _DOUBT_MS:
            self._doubted_ms = now
            if not self._doubts.still(doubt, self._heard_lately, self._rate_hz, now):
                await self._step(SpeechStarted())

    @property
    def _heard_lately(self) -> Int16:
        """The last quarter of a second that came in."""
        return np.frombuffer(bytes(self._audio[-(self._rate_hz // 4 * 2) :]), np.int16)

    def _learn(self) -> None:
        """How loud the caller is, from a turn that was not spoken over the agent."""
        now = self._trace.now_ms()
        if not self._rate_hz or self._playback.is_near(self._turn_ms) or not self._last_words:
            return
        size = round((now - self._turn_ms) * self._rate_hz / 1000)
        turn = np.frombuffer(bytes(self._audio[-2 * max(1, size) :]), np.int16)
        self._doubts.caller_spoke(turn, self._rate_hz)

    async def _tick(self) -> None:
        """Wake at the machine's deadline, or to see that the media went away."""
        while True:
            now = self._trace.now_ms()
            media_deadline = self._last_media_ms + self._media_timeout_ms
            if now >= media_deadline:
                if not await self._on_no_media():
                    return
                self._last_media_ms = now
            deadline = self._machine.deadline_ms
            until = media_deadline if deadline is None else min(deadline, media_deadline)
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), max(0.0, until - now) / 1000)
            except TimeoutError:
                await self._step(Clock())

    async def _stop_tasks(self) -> None:
        for task in (self._clock, self._asking):
            if task is not None and not task.done():
                await self.cancel_task(task)
        self._clock = self._asking = None
