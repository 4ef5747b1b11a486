"""The Pipecat processor that drives the turn machine: it sits between recogniser and answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

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
    StartFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from agent.trace import CallTrace
from agent.turns import (
    Action,
    AgentStarted,
    AgentStopped,
    Clock,
    Event,
    Heard,
    SoundsComplete,
    SpeechStarted,
    SpeechStopped,
    TurnMachine,
    TurnPolicy,
)
from frontdesk import SpeechError

# Smart Turn listens to the last 8 s (pipecat.audio.turn.smart_turn.base_smart_turn).
_TURN_MODEL_S = 8

TurnModel = Callable[[np.ndarray, int], Awaitable[float]]
"""Probability that the turn is over, from int16 mono audio and its rate in Hz."""


class TurnTaking(FrameProcessor):
    """Turns VAD frames, transcripts and the agent's own speech into turns.

    Broadcasts ``UserStartedSpeakingFrame`` and ``UserStoppedSpeakingFrame`` around each turn of
    the caller and an interruption when the caller speaks up. ``on_silence`` is called with
    ``Action.PROMPT`` or ``Action.GIVE_UP`` when nobody has spoken for long, ``on_no_media`` when
    no audio has arrived for ``media_timeout_s``. Input audio ends here.
    """

    def __init__(
        self,
        policy: TurnPolicy,
        trace: CallTrace,
        turn_model: TurnModel,
        *,
        on_silence: Callable[[Action], Awaitable[None]],
        on_no_media: Callable[[], Awaitable[None]],
        media_timeout_s: float,
    ) -> None:
        super().__init__()
        self._trace = trace
        self._machine = TurnMachine(policy, trace.now_ms())
        self._turn_model = turn_model
        self._on_silence = on_silence
        self._on_no_media = on_no_media
        self._media_timeout_ms = media_timeout_s * 1000
        self._last_media_ms = trace.now_ms()
        self._audio = bytearray()
        self._rate_hz = 0
        self._wake = asyncio.Event()
        self._clock: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Feed the machine; pass everything but input audio on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self._keep(frame)
            return
        if isinstance(frame, StartFrame):
            self._clock = self.create_task(self._tick())
        elif isinstance(frame, (EndFrame, CancelFrame)):
            await self._stop_tasks()
        await self.push_frame(frame, direction)
        event = self._event(frame, direction)
        if event is not None:
            await self._step(event)

    async def cleanup(self) -> None:
        """End the clock with the call."""
        await self._stop_tasks()
        await super().cleanup()

    def _event(self, frame: Frame, direction: FrameDirection) -> Event | None:
        match frame:
            case VADUserStartedSpeakingFrame():
                return SpeechStarted()
            case VADUserStoppedSpeakingFrame():
                silence_ms = frame.stop_secs * 1000
                self._trace.silent_since(self._trace.now_ms() - silence_ms)
                self._trace.stage("paused")
                return SpeechStopped(silence_ms)
            case EagerTranscriptionFrame() | TranscriptionFrame():
                self._trace.stage("heard")
                return Heard(frame.text)
            case BotStartedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                return AgentStarted()
            case BotStoppedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                return AgentStopped()
        return None

    async def _step(self, event: Event) -> None:
        for action in self._machine.step(event, self._trace.now_ms()):
            await self._do(action)
        self._wake.set()

    async def _do(self, action: Action) -> None:
        match action:
            case Action.INTERRUPT:
                await self.broadcast_interruption()
            case Action.START_TURN:
                self._trace.begin_turn()
                await self.broadcast_frame(UserStartedSpeakingFrame)
            case Action.ASK_TURN_MODEL:
                if self._asking is not None and not self._asking.done():
                    await self.cancel_task(self._asking)
                self._asking = self.create_task(self._ask())
            case Action.END_TURN:
                self._trace.stage("turn_ended")
                await self.broadcast_frame(UserStoppedSpeakingFrame)
            case Action.PROMPT | Action.GIVE_UP:
                await self._on_silence(action)

    async def _ask(self) -> None:
        audio = np.frombuffer(bytes(self._audio), np.int16)
        try:
            probability = await self._turn_model(audio, self._rate_hz)
        except SpeechError as error:  # then the transcript and the silence decide alone
            logger.warning("no end-of-turn judgement: {}", error)
            probability = 0.0
        self._trace.stage("turn_model")
        await self._step(SoundsComplete(probability))

    def _keep(self, frame: InputAudioRawFrame) -> None:
        self._last_media_ms = self._trace.now_ms()
        self._rate_hz = frame.sample_rate
        self._audio += frame.audio
        limit = _TURN_MODEL_S * 2 * frame.sample_rate
        if len(self._audio) > 2 * limit:
            del self._audio[:-limit]

    async def _tick(self) -> None:
        """Wake at the machine's deadline, or to see that the media went away."""
        while True:
            now = self._trace.now_ms()
            media_deadline = self._last_media_ms + self._media_timeout_ms
            if now >= media_deadline:
                await self._on_no_media()
                return
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
