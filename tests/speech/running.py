"""One service running in a Pipecat pipeline, and a recogniser that waits to be let."""

import asyncio
import threading

import numpy as np
from pipecat.frames.frames import (
    EndFrame,
    InputAudioRawFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from speech.pool import checkpoint
from speech.types import Hint, Utterance

PARAMS = PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000)


class End(FrameProcessor):
    """Collects what reaches one end of the pipeline, and lets a test wait for it."""

    def __init__(self, direction: FrameDirection) -> None:
        super().__init__()
        self.frames, self._direction, self._changed = [], direction, asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if direction == self._direction:
            self.frames.append(frame)
            self._changed.set()
        await self.push_frame(frame, direction)

    def of(self, *kinds):
        return [frame for frame in self.frames if isinstance(frame, kinds)]

    async def wait_for(self, kind, count=1):
        async with asyncio.timeout(20):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.of(kind)[count - 1]


class Call:
    """Services between two ends, running."""

    def __init__(self, *services) -> None:
        self.up, self.down = End(FrameDirection.UPSTREAM), End(FrameDirection.DOWNSTREAM)
        self._worker = PipelineWorker(
            Pipeline([self.up, *services, self.down]),
            params=PARAMS,
            enable_rtvi=False,
            cancel_on_idle_timeout=False,
        )

    async def __aenter__(self):
        started = asyncio.Event()

        @self._worker.event_handler("on_pipeline_started")
        async def _(*_):
            started.set()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self._worker)
        self._running = asyncio.create_task(runner.run())
        await asyncio.wait_for(started.wait(), 10)
        return self

    async def __aexit__(self, *_):
        await self.send(EndFrame())
        await asyncio.wait_for(self._running, 20)

    async def send(self, *frames):
        for frame in frames:
            await self._worker.queue_frame(frame)

    async def commit(self):
        """What the turn logic downstream does."""
        await self.down.push_frame(UserStoppedSpeakingFrame(), FrameDirection.UPSTREAM)

    async def hear(self, samples):
        """Audio of one caller in 20 ms frames."""
        await self.send(
            *(
                InputAudioRawFrame(samples[at : at + 160].tobytes(), 8000, 1)
                for at in range(0, samples.size, 160)
            )
        )


class Recogniser:
    """Hears "1.00 s" in a second of audio, when it is let: ``gate`` holds back what is decoded at
    a pause or an end, ``interim_gate`` interims; ``seconds`` and ``interims`` were asked for.
    """

    def __init__(self):
        self.seconds, self.interims, self.hints = [], [], []
        self.gate, self.begun = threading.Event(), threading.Semaphore(0)
        self.interim_gate, self.interim_begun = threading.Event(), threading.Semaphore(0)
        self.gate.set()
        self.interim_gate.set()

    def transcribe(self, audio, *, hint=Hint.NONE, width=4):
        seconds = round(audio.size / 16000, 2)
        self.hints.append(hint)
        if width == 1:
            self.interims.append(seconds)
            self.interim_begun.release()
            assert self.interim_gate.wait(10)
        else:
            self.seconds.append(seconds)
            self.begun.release()
            assert self.gate.wait(10)
        checkpoint()
        return Utterance(f"{seconds:.2f} s", audio.size / 16, 1.0, -0.1)

    async def running(self):
        assert await asyncio.to_thread(self.begun.acquire, timeout=10)

    async def running_interim(self):
        assert await asyncio.to_thread(self.interim_begun.acquire, timeout=10)


START, STOP = VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
SECOND = np.full(8000, 1000, np.int16)
SILENCE = np.zeros(8000, np.int16)
