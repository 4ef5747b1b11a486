"""The wire of a replayed call: no wire. 20 ms of the caller in, 20 ms of the agent out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, cast

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    TTSAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_transport import TransportParams

from frontdesk import TransferError
from frontdesk.errors import TransferProblem
from telephony.capabilities import Capabilities
from telephony.own_transport import OwnInput, OwnOutput, OwnTransport
from telephony.start import CallStart
from telephony.wire import Line

FRAME_S = 0.02


class Caller(Protocol):
    """Who speaks into the line."""

    def next(self, now_s: float, spoken: Spoken) -> bytes | None:
        """The 20 ms (int16 mono) from ``now_s`` on; None to hang up."""
        ...


class Spoken:
    """When the agent speaks, on the loop's clock: what a caller reacts to."""

    def __init__(self) -> None:
        self.since_s: float | None = None
        """When the voice of the moment began; None while the agent is silent."""
        self.until_s: float | None = None
        """Until when something was to be heard; None where nothing was yet."""

    def wrote(self, now_s: float) -> None:
        """20 ms of the agent's voice leave."""
        if self.since_s is None or self.until_s is None or now_s > self.until_s + FRAME_S / 2:
            self.since_s = now_s
        self.until_s = now_s + FRAME_S

    def quiet_s(self, now_s: float) -> float | None:
        """How long the agent has been silent; None where it has not spoken yet."""
        return None if self.until_s is None else now_s - self.until_s


class SimulatedLine(Line):
    """One call on a simulated clock. ``transfer_problem`` is what keeps a person away, or ''."""

    capabilities = Capabilities(name="replay", audio="16-bit", transfer="simulated")

    def __init__(
        self,
        caller: Caller,
        rate_hz: int,
        on_gone: Callable[[], Awaitable[None]],
        transfer_problem: str = "",
    ) -> None:
        self.start = CallStart("replay", "replay")
        self.rate_hz = rate_hz
        self.spoken = Spoken()
        self._problem = transfer_problem
        self.transport = OwnTransport(
            _Input(caller, rate_hz, self.spoken, on_gone), _Output(rate_hz, self.spoken)
        )

    async def hang_up(self) -> None:
        """Nobody is there."""

    async def transfer(self, to: str, *, summary: str = "") -> None:
        """As the case says.

        Raises:
            TransferError: with its problem.
        """
        if self._problem:
            raise TransferError(cast(TransferProblem, self._problem))


class _Input(OwnInput):
    def __init__(
        self,
        caller: Caller,
        rate_hz: int,
        spoken: Spoken,
        on_gone: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(TransportParams(audio_in_enabled=True))
        self._caller = caller
        self._rate_hz = rate_hz
        self._spoken = spoken
        self._on_gone = on_gone

    async def listen(self) -> None:
        """20 ms every 20 ms, until the caller hangs up."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while (audio := self._caller.next(due, self._spoken)) is not None:
            due += FRAME_S
            await asyncio.sleep(due - loop.time())
            await self.push_frame(InputAudioRawFrame(audio, self._rate_hz, num_channels=1))
        await self._on_gone()


class _Output(OwnOutput):
    """Takes 20 ms every 20 ms."""

    def __init__(self, rate_hz: int, spoken: Spoken) -> None:
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_10ms_chunks=2,
                audio_out_end_silence_secs=1,
            )
        )
        self._rate_hz = rate_hz
        self._spoken = spoken
        self._due = 0.0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._due = 0.0

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Take one chunk when it is due."""
        loop = asyncio.get_running_loop()
        self._due = max(self._due, loop.time())
        await asyncio.sleep(self._due - loop.time())
        if isinstance(frame, TTSAudioRawFrame):
            self._spoken.wrote(loop.time())
        self._due += len(frame.audio) / 2 / self._rate_hz
        return True
