"""One processor in a real Pipecat pipeline, driven frame by frame."""

import asyncio
from dataclasses import dataclass

from pipecat.frames.frames import (
    CancelFrame,
    DataFrame,
    EndFrame,
    EndWorkerFrame,
    SystemFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from agent.records import CallRecord, read_record

PARAMS = PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000)


class FakeClockRecord(CallRecord):
    """A record whose clock stands still until the test moves it."""

    at_ms = 0.0

    def now_ms(self):
        return self.at_ms


@dataclass
class Passed(DataFrame):
    """Reaches the end after every data frame before it."""


@dataclass
class PassedSystem(SystemFrame):
    """Reaches the end after every system frame before it."""


class End(FrameProcessor):
    """Collects what reaches one end; keeps the pipeline alive through a hang-up."""

    def __init__(self, direction):
        super().__init__()
        self.frames, self._direction, self._changed = [], direction, asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if direction == self._direction:
            self.frames.append(frame)
            self._changed.set()
        if not isinstance(frame, EndWorkerFrame):
            await self.push_frame(frame, direction)

    def of(self, *kinds):
        return [frame for frame in self.frames if isinstance(frame, kinds)]

    async def wait_for(self, kind, count=1):
        async with asyncio.timeout(10):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.of(kind)[count - 1]


class OneProcessor:
    """``async with OneProcessor(processor) as pipe``: the processor between two ends, running."""

    def __init__(self, processor):
        self.up, self.down = End(FrameDirection.UPSTREAM), End(FrameDirection.DOWNSTREAM)
        self._worker = PipelineWorker(
            Pipeline([self.up, processor, self.down]),
            params=PARAMS,
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
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

    async def __aexit__(self, *exc):
        if not self._running.done():
            await self._worker.queue_frame(EndFrame())
        await asyncio.wait_for(self._running, 10)

    async def send(self, *frames, upstream=False):
        """Send ``frames``, each after the one before was handled."""
        direction = FrameDirection.UPSTREAM if upstream else FrameDirection.DOWNSTREAM
        end = self.up if upstream else self.down
        for frame in frames:
            mark = PassedSystem() if isinstance(frame, SystemFrame) else Passed()
            await self._worker.queue_frame(frame, direction)
            await self._worker.queue_frame(mark, direction)
            async with asyncio.timeout(10):
                while mark not in end.frames:
                    end._changed.clear()
                    await end._changed.wait()

    async def cancel(self):
        await self._worker.queue_frame(CancelFrame())
        await asyncio.wait_for(self._running, 10)


async def settle():
    """Let every task that can go on go on."""
    await asyncio.sleep(0.02)


async def within(seconds, condition):
    """Wait until ``condition()``; what is tested has no event for it."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def events(record, kind=None):
    """The events of ``record``, or those of one kind."""
    return [e for e in read_record(record.path) if kind in (None, e["event"])]
