"""A call over AudioSocket: its line, and Pipecat's transport that keeps the time itself."""

from __future__ import annotations

import asyncio
import time

from loguru import logger
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_transport import TransportParams

from frontdesk import WireError
from telephony.audiosocket import AUDIO_KINDS, KINDS, RATES_HZ, Kind, Packet, Reader, packed
from telephony.capabilities import Capabilities
from telephony.guarded import keypad
from telephony.next_steps import NEXT_STEPS
from telephony.own_transport import OwnInput, OwnOutput, OwnTransport
from telephony.start import CallStart
from telephony.wire import Line, Listener

FRAME_S = 0.02
_READ_BYTES = 4096
_LATE_S = 0.1
"""Later than this, the clock begins anew: what was missed is not sent in a burst."""


class AudioSocketLine(Line):
    """One accepted connection, behind the packet that names the call.

    ``reader`` and ``writer`` are its streams, ``packets`` holds what was read beyond the UUID.
    """

    capabilities = Capabilities(
        name="Asterisk (AudioSocket)",
        audio="16-bit 8 kHz or 16 kHz, binary",
        digits_in="message",
        hang_up="message",
        transfer="the dialplan",
        caller_number=True,
        checked_by="address; UUID of ours",
        tested="the real peer",
    )

    def __init__(
        self,
        start: CallStart,
        listener: Listener,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        packets: Reader,
        *,
        rate_hz: int = 8000,
    ) -> None:
        self.start = start
        self.rate_hz = rate_hz
        self._writer = writer
        self._over = False
        self.transport = OwnTransport(
            _Input(self, listener, reader, packets), _Output(self, writer)
        )

    async def hang_up(self) -> None:
        """Say so and close."""
        if not self._over:
            self._over = True
            try:
                self._writer.write(packed(Kind.HANG_UP))
                async with asyncio.timeout(1):
                    await self._writer.drain()
            except (OSError, TimeoutError) as error:
                kind = type(error).__name__
                logger.debug("call {}: gone before the hang-up ({})", self.start.call_id, kind)
        self._writer.close()

    async def transfer(self, to: str, *, summary: str = "") -> None:
        """Have the dialplan dial ``to`` once this call is over.

        Raises:
            TransferError: ``to`` is no address.
        """
        NEXT_STEPS.dial(self.start.call_id, to)

    @property
    def over(self) -> bool:
        """Whether either side has hung up."""
        return self._over

    def ended(self) -> None:
        """The far end has hung up."""
        self._over = True


class _Input(OwnInput):
    def __init__(
        self,
        line: AudioSocketLine,
        listener: Listener,
        reader: asyncio.StreamReader,
        packets: Reader,
    ) -> None:
        super().__init__(TransportParams(audio_in_enabled=True))
        self._line = line
        self._listener = listener
        self._reader = reader
        self._packets = packets

    async def listen(self) -> None:
        """Until either side closes."""
        try:
            while data := await self._reader.read(_READ_BYTES):
                for packet in self._packets.feed(data):
                    if packet.kind == Kind.HANG_UP:
                        data = b""
                        break
                    frame = heard(packet, self._line.rate_hz)
                    if frame:
                        await self.push_frame(frame)
                if not data:
                    break
        except WireError as error:
            self._line.ended()
            await self._listener.failed(error)
            return
        except OSError:
            self._line.ended()
            await self._listener.gone(cleanly=False)
            return
        self._line.ended()
        await self._listener.gone()  # closing the socket is a hang-up too


def heard(packet: Packet, rate_hz: int) -> Frame | None:
    """The audio or keypad frame in ``packet``; None for kinds that are unknown.

    Raises:
        WireError: it is audio of another rate or half a sample, an error, or a second UUID.
    """
    if packet.kind in AUDIO_KINDS:
        if RATES_HZ.get(Kind(packet.kind)) != rate_hz:
            raise WireError(f"audio that is not at {rate_hz} Hz; see audiosocket.rate_hz")
        if len(packet.payload) % 2:
            raise WireError("audio of half a sample")
        if not packet.payload:
            return None
        return InputAudioRawFrame(audio=packet.payload, sample_rate=rate_hz, num_channels=1)
    if packet.kind == Kind.DTMF:
        return keypad(packet.payload.decode("latin-1"))
    if packet.kind == Kind.ERROR:
        raise WireError("Asterisk reports an error")
    if packet.kind == Kind.UUID:
        raise WireError("a second UUID")
    return None


class _Output(OwnOutput):
    """Writes 20 ms every 20 ms, by a clock that does not drift."""

    def __init__(self, line: AudioSocketLine, writer: asyncio.StreamWriter) -> None:
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_10ms_chunks=2,
                audio_out_end_silence_secs=1,  # the last word is heard before the hang-up
                audio_out_write_timeout_secs=2.0,
            )
        )
        self._line = line
        self._writer = writer
        self._due = 0.0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._due = 0.0

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Send one chunk when it is due.

        The sleep is before the write, so that an interruption cancels what was not yet sent.
        """
        if self._line.over:
            return False
        now = time.monotonic()
        self._due = self._due if now - self._due < _LATE_S else now
        await asyncio.sleep(max(0.0, self._due - now))
        self._due += len(frame.audio) / 2 / self._line.rate_hz
        try:
            self._writer.write(packed(KINDS[self._line.rate_hz], frame.audio))
            await self._writer.drain()
        except OSError:
            return False  # the reading side says so
        return True
