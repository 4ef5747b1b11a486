"""A stand-in for the agent: answers SIP calls by the real library, speaks a given audio, listens.

No models: what is tried is the wire.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from baresip import Call
from numpy.typing import NDArray
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from frontdesk import WireError
from telephony.sip.flow import Kind
from telephony.sip.line import SipLine
from telephony.sip.plan import Listen, Plan
from telephony.sip.stack import Stack, answer, end, stack, start_of

Samples = NDArray[np.int16]
_AHEAD_S = 2


class Ear(FrameProcessor):
    """Keeps the caller's audio and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.audio = bytearray()
        self.keys: list[str] = []
        self.changed = asyncio.Condition()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Audio and keys end here."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self.audio += frame.audio
        elif isinstance(frame, InputDTMFFrame):
            self.keys.append(frame.button.value)
        else:
            await self.push_frame(frame, direction)
            return
        async with self.changed:
            self.changed.notify_all()

    async def has(self, condition: Callable[[], bool], timeout_s: float = 15) -> None:
        """Wait until what came is so."""
        async with asyncio.timeout(timeout_s), self.changed:
            await self.changed.wait_for(condition)

    def heard(self) -> Samples:
        """The caller's audio."""
        return np.frombuffer(bytes(self.audio), np.int16)


class _Listener:
    def __init__(self) -> None:
        self.marks: list[str] = []
        self.gone_cleanly: list[bool] = []
        self.holds: list[bool] = []
        self.worker: PipelineWorker | None = None

    async def gone(self, cleanly: bool = True) -> None:
        self.gone_cleanly.append(cleanly)
        if self.worker is not None:
            await self.worker.cancel()

    async def held(self, on: bool) -> None:
        self.holds.append(on)

    async def played(self, mark: str) -> None:
        self.marks.append(mark)

    async def failed(self, error: WireError) -> None:
        await self.gone(False)


class DeskCall:
    """One call at the stand-in."""

    def __init__(self, call: Call, rate_hz: int, longest_hold_s: float) -> None:
        self.start, host = start_of(call)
        self.listener, self.ear, self.call = _Listener(), Ear(), call
        self.line = SipLine(
            call,
            self.start,
            self.listener,
            rate_hz=rate_hz,
            host=host,
            longest_hold_s=longest_hold_s,
        )
        self.over = asyncio.Event()
        self._cuts = 0
        transport = self.line.transport
        self.worker = self.listener.worker = PipelineWorker(
            Pipeline([transport.input(), self.ear, transport.output()]),
            params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz),
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )

    async def say(self, samples: Samples, mark: str = "") -> None:
        """Speak; ``mark`` comes back when it was.

        Given a second at a time, as a voice gives sentences: Pipecat makes a frame of every 20 ms
        at once, and twenty speeches of five minutes would hold up everything for ten seconds.
        """
        rate_hz = self.line.rate_hz
        began, cuts = time.monotonic(), self._cuts
        for at in range(0, len(samples), rate_hz):
            ahead_s = at / rate_hz - _AHEAD_S
            await asyncio.sleep(max(0.0, began + ahead_s - time.monotonic()))
            if cuts != self._cuts:
                return
            piece = samples[at : at + rate_hz]
            await self.worker.queue_frame(OutputAudioRawFrame(piece.tobytes(), rate_hz, 1))
        if mark:
            await self.worker.queue_frame(OutputTransportMessageFrame(self.line.mark(mark)))

    async def interrupt(self) -> None:
        """As a caller who talks over the agent."""
        self._cuts += 1
        await self.worker.queue_frame(InterruptionFrame())

    async def run(self, saying: Samples | None) -> None:
        """Speak first, then go on until the call is over."""
        runner = WorkerRunner(handle_sigint=False)
        if saying is not None:

            async def begin(*_: object) -> None:
                await self.say(saying, "greeting")

            self.worker.event_handler("on_pipeline_started")(begin)
        await runner.add_workers(self.worker)
        try:
            await runner.run()
        finally:
            await end(self.call)
            self.over.set()


class Desk:
    """All calls at the stand-in, the first first."""

    def __init__(self, saying: Samples | None, full: bool, longest_hold_s: float) -> None:
        self.calls: list[DeskCall] = []
        self.refused = 0
        self.stack: Stack
        self._saying, self._full, self._longest_hold_s = saying, full, longest_hold_s
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()

    @property
    def uri(self) -> str:
        """Where it is called."""
        return f"sip:agent@127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """Of its UDP socket."""
        return self.stack.ports["udp"]

    def take(self, call: Call) -> None:
        """A call has come in."""
        task = asyncio.create_task(self._hold(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def nth(self, number: int, timeout_s: float = 10) -> DeskCall:
        """Call number ``number``, from 1, once it stands."""
        async with asyncio.timeout(timeout_s), self._changed:
            await self._changed.wait_for(lambda: len(self.calls) >= number)
        return self.calls[number - 1]

    async def all_over(self) -> None:
        """Wait until the callers of all calls have hung up."""
        for one in self.calls:
            await one.over.wait()

    async def stop(self) -> None:
        """End every call."""
        for one in self.calls:
            if not one.over.is_set():
                await one.worker.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _hold(self, call: Call) -> None:
        if self._full:
            self.refused += 1
            await end(call)
            return
        try:
            one = DeskCall(call, await answer(call), self._longest_hold_s)
        except WireError:
            self.refused += 1
            await end(call)
            return
        self.calls.append(one)
        async with self._changed:
            self._changed.notify_all()
        await one.run(self._saying)


@asynccontextmanager
async def desk(
    *,
    saying: Samples | None = None,
    full: bool = False,
    listen: Sequence[Kind] = ("udp",),
    longest_hold_s: float = 900,
    plan: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Desk]:
    """The stand-in behind a gate of its own; ``plan`` is the gate's, ``options`` the stack's."""
    one = Desk(saying, full, longest_hold_s)
    places = tuple(Listen(kind, "127.0.0.1", 0) for kind in listen)
    rates = {"invites_per_s": 50, "invites_per_s_in_all": 50}
    given = Plan(places, 0, 0, **{**rates, **(plan or {})})
    async with stack(given, one.take, **options) as one.stack:
        try:
            yield one
        finally:
            await one.stop()
