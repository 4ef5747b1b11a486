"""AudioSocket's packets, and the line on it over a real connection."""

import asyncio
import time
import uuid
from contextlib import asynccontextmanager

import numpy as np
import pytest
from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.workers.runner import WorkerRunner

from frontdesk import TransferError, WireError
from telephony.audiosocket import Kind, Packet, Reader, call_id_of, packed
from telephony.audiosocket_line import AudioSocketLine, heard
from telephony.expected_calls import Announced, ExpectedCalls
from telephony.far_end import HangUp, Media
from telephony.far_ends.audiosocket import AudioSocketFarEnd
from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.next_steps import NEXT_STEPS
from telephony.start import CallStart
from tests.telephony.listening import Heard

ID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
TONE = (8000 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)).astype(np.int16)


# Packets


def test_packets_as_asterisk_writes_them():
    assert packed(Kind.HANG_UP) == b"\x00\x00\x00"
    assert packed(Kind.DTMF, b"7") == b"\x03\x00\x01\x37"
    assert packed(Kind.AUDIO_8, bytes(320))[:3] == b"\x10\x01\x40"
    assert packed(Kind.UUID, uuid.UUID(ID).bytes)[:3] == b"\x01\x00\x10"


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 100, 1000])
def test_a_stream_may_be_cut_anywhere(cut):
    stream = (
        packed(Kind.AUDIO_8, bytes(range(200))) + packed(Kind.DTMF, b"1") + packed(Kind.HANG_UP)
    )
    reader, packets = Reader(), []
    for at in range(0, len(stream), cut):
        packets += reader.feed(stream[at : at + cut])
    assert packets == [Packet(0x10, bytes(range(200))), Packet(3, b"1"), Packet(0, b"")]


def test_a_packet_that_is_too_long_is_not_waited_for():
    with pytest.raises(WireError, match="over 32000"):
        list(Reader().feed(b"\x10\xff\xff"))


@pytest.mark.parametrize("packet", [Packet(0x10, bytes(16)), Packet(1, bytes(15)), Packet(1, b"")])
def test_the_first_packet_names_the_call(packet):
    assert call_id_of(Packet(1, uuid.UUID(ID).bytes)) == ID
    with pytest.raises(WireError):
        call_id_of(packet)


@pytest.mark.parametrize(
    ("packet", "why"),
    [
        (Packet(0x12, bytes(320)), "8000 Hz"),
        (Packet(0x11, bytes(320)), "8000 Hz"),
        (Packet(0x10, bytes(3)), "half a sample"),
        (Packet(0xFF, b"\x01"), "error"),
        (Packet(1, bytes(16)), "second"),
    ],
)
def test_what_breaks_the_protocol(packet, why):
    with pytest.raises(WireError, match=why):
        heard(packet, 8000)


def test_what_is_unknown_is_ignored():
    for packet in (Packet(0x42, b"?"), Packet(0x10, b""), Packet(3, b"A"), Packet(3, b"\xff")):
        assert heard(packet, 8000) is None
    assert heard(Packet(0x12, bytes(640)), 16000).sample_rate == 16000


# The far end that tests call with


def test_the_far_end_reads_what_the_agent_writes():
    far_end = AudioSocketFarEnd(ID.replace("-", ""))
    assert far_end.begin({}) == [packed(Kind.UUID, uuid.UUID(ID).bytes)]
    ulaw = ulaw_encode(TONE[:160])
    (frame,) = far_end.media(0, ulaw)
    assert far_end.read(frame[:100]) == []
    assert far_end.read(frame[100:]) == [Media(ulaw)]
    assert far_end.read(packed(Kind.HANG_UP)) == [HangUp()]
    with pytest.raises(WireError):
        far_end.read(packed(Kind.DTMF, b"1"))


# The line


class Ear(FrameProcessor):
    """Keeps what the caller says, and says what it is told to."""

    def __init__(self):
        super().__init__()
        self.frames = []
        self.moved = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if type(frame).__name__ in ("InputAudioRawFrame", "InputDTMFFrame"):
            self.frames.append(frame)
            self.moved.set()
        else:
            await self.push_frame(frame, direction)


class Telling(Heard):
    """A listener that a test can wait for."""

    def __init__(self, moved):
        super().__init__()
        self.moved = moved

    async def gone(self, cleanly=True):
        await super().gone(cleanly)
        self.moved.set()

    async def failed(self, error):
        await super().failed(error)
        self.moved.set()


class Wired:
    def __init__(self, line, ear, listener, reader, writer):
        self.line, self.ear, self.listener = line, ear, listener
        self.reader, self.writer = reader, writer

    async def until(self, true):
        async with asyncio.timeout(5):
            while not true():
                self.ear.moved.clear()
                await self.ear.moved.wait()


@asynccontextmanager
async def wired(rate_hz=8000):
    """A line in a running pipeline; the test holds Asterisk's side of its connection."""
    taken = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda *both: taken.set_result(both), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    ear = Ear()
    listener = Telling(ear.moved)
    line = AudioSocketLine(CallStart(ID, ID), listener, *await taken, Reader(), rate_hz=rate_hz)
    worker = PipelineWorker(
        Pipeline([line.transport.input(), ear, line.transport.output()]),
        params=PipelineParams(audio_in_sample_rate=rate_hz, audio_out_sample_rate=rate_hz),
        enable_rtvi=False,
        enable_turn_tracking=False,
        idle_timeout_secs=None,
    )
    runner = WorkerRunner(handle_sigint=False)
    started = asyncio.Event()

    async def ready(*_):
        started.set()

    worker.event_handler("on_pipeline_started")(ready)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await asyncio.wait_for(started.wait(), 10)
    try:
        yield Wired(line, ear, listener, reader, writer)
    finally:
        await worker.cancel(reason="test over")
        await asyncio.wait_for(running, 10)
        await line.hang_up()
        writer.close()
        server.close()


async def test_audio_and_keys_come_in_bit_for_bit():
    async with wired() as call:
        call.writer.write(packed(Kind.AUDIO_8, TONE[:160].tobytes()) + packed(Kind.DTMF, b"#"))
        call.writer.write(packed(Kind.AUDIO_8, TONE[160:170].tobytes()))
        await call.until(lambda: len(call.ear.frames) == 3)
        first, key, last = call.ear.frames
        assert isinstance(first, InputAudioRawFrame)
        assert first.audio + last.audio == TONE[:170].tobytes()
        assert key.button.value == "#"


@pytest.mark.parametrize("rate_hz", [8000, 16000])
async def test_what_is_said_leaves_in_time_not_at_once(rate_hz):
    async with wired(rate_hz) as call:
        packets = Reader()
        frame = OutputAudioRawFrame(TONE[: rate_hz // 5].tobytes(), rate_hz, 1)
        await call.ear.push_frame(frame)
        came, said = [], b""
        while len(said) < rate_hz // 5 * 2:
            data = await asyncio.wait_for(call.reader.read(4096), 5)
            for packet in packets.feed(data):
                assert packet.kind == (Kind.AUDIO_8 if rate_hz == 8000 else Kind.AUDIO_16)
                came.append(time.monotonic())
                said += packet.payload
        assert said == TONE[: rate_hz // 5].tobytes()
        assert len(came) == 10
        assert came[-1] - came[0] > 0.15  # of 180 ms: nothing at the far end could be flushed


@pytest.mark.parametrize("how", ["message", "close"])
async def test_the_caller_hangs_up(how):
    async with wired() as call:
        if how == "message":
            call.writer.write(packed(Kind.HANG_UP))
        else:
            call.writer.close()
        await call.until(lambda: call.listener.gone_cleanly)
        assert call.listener.gone_cleanly == [True]
        await call.line.hang_up()  # no error, nothing to say


async def test_the_agent_hangs_up_once():
    async with wired() as call:
        await call.line.hang_up()
        await call.line.hang_up()
        assert await asyncio.wait_for(call.reader.read(), 5) == packed(Kind.HANG_UP)


async def test_a_broken_stream_ends_its_call():
    async with wired() as call:
        call.writer.write(b"\x10\xff\xff" + bytes(1000))
        await call.until(lambda: call.listener.errors)
        assert "over 32000 bytes" in str(call.listener.errors[0])


async def test_a_transfer_is_the_dialplans():
    line = AudioSocketLine(CallStart(ID, ID), Heard(), None, None, Reader())
    await line.transfer("202")
    assert NEXT_STEPS.take(ID) == "dial,202"
    with pytest.raises(TransferError):
        await line.transfer("202&303")


# Calls that the dialplan has announced


def test_a_uuid_is_good_once_and_for_a_minute():
    now = [0.0]
    expected = ExpectedCalls(lambda: now[0])
    handed = expected.announce(caller="+15555550100", called="100")
    assert expected.take(handed) == Announced(handed, "+15555550100", "100")
    assert expected.take(handed) is None
    assert expected.take(str(uuid.uuid4())) is None
    late = expected.announce()
    now[0] = 61
    assert expected.take(late) is None


def test_a_caller_who_comes_back_keeps_the_first_id():
    expected = ExpectedCalls()
    handed = expected.announce(returned="busy", call_id=ID)
    assert handed != ID
    assert expected.take(handed) == Announced(ID, returned="busy")


def test_a_thousand_that_never_come_are_forgotten():
    expected = ExpectedCalls()
    first = expected.announce()
    handed = [expected.announce() for _ in range(1000)]
    assert expected.take(first) is None
    assert expected.take(handed[-1]) is not None


def test_mu_law_survives_the_far_end():
    every = bytes(range(256))
    (packet,) = AudioSocketFarEnd(ID).media(0, every)
    (asked,) = AudioSocketFarEnd(ID).read(packet)
    assert np.array_equal(ulaw_decode(asked.payload), ulaw_decode(every))
