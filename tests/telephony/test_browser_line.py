"""The page's wire format: strict about what comes in, never ahead of its time."""

import json

import numpy as np
import pytest
from pipecat.frames.frames import (
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)

from telephony.browser_line import RATE_HZ, BrowserSerializer
from tests.telephony.listening import Heard

PIECE = np.arange(320, dtype="<i2").tobytes()


@pytest.fixture
def page():
    heard = Heard()
    time = [0.0]
    wire = BrowserSerializer(heard, clock=lambda: time[0])
    wire.heard_by, wire.time = heard, time
    return wire


async def test_audio_goes_both_ways_as_it_is(page):
    frame = await page.deserialize(PIECE)
    assert (frame.audio, frame.sample_rate, frame.num_channels) == (PIECE, RATE_HZ, 1)
    assert await page.serialize(OutputAudioRawFrame(PIECE, RATE_HZ, 1)) == PIECE


async def test_an_interruption_clears_and_marks_come_back(page):
    assert json.loads(await page.serialize(InterruptionFrame())) == {"type": "clear"}
    mark = await page.serialize(OutputTransportMessageFrame(page.mark("played-1")))
    assert json.loads(mark) == {"type": "mark", "mark": "played-1"}
    assert await page.deserialize('{"type":"played","mark":"played-1"}') is None
    assert page.heard_by.marks == ["played-1"]


async def test_keys_and_the_end(page):
    key = await page.deserialize('{"type":"digit","digit":"5"}')
    assert isinstance(key, InputDTMFFrame)
    assert key.button.value == "5"
    assert await page.deserialize('{"type":"from a newer page"}') is None
    await page.deserialize('{"type":"stop"}')
    assert page.heard_by.gone_cleanly == [True]
    assert await page.deserialize(PIECE) is None
    assert await page.serialize(OutputAudioRawFrame(PIECE, RATE_HZ, 1)) is None
    assert await page.serialize(InterruptionFrame()) is None


@pytest.mark.parametrize(
    "bad",
    [
        b"\x00" * 321,
        bytes(2 * RATE_HZ + 2),
        "not JSON",
        "[]",
        "{}",
        '{"type":7}',
        '{"type":"played"}',
        '{"type":"played","mark":"' + "m" * 65 + '"}',
        '{"type":"digit"}',
        '{"type":"digit","digit":"' + "1" * 70000 + '"}',
    ],
)
async def test_what_breaks_the_protocol_ends_the_call_once(page, bad):
    assert await page.deserialize(bad) is None
    assert await page.deserialize(bad) is None
    assert len(page.heard_by.errors) == 1
    assert await page.deserialize(PIECE) is None


async def test_audio_that_comes_faster_than_it_is_spoken_ends_the_call(page):
    second = bytes(2 * RATE_HZ)
    for _ in range(5):
        assert await page.deserialize(second)
    page.time[0] = 1.0
    assert await page.deserialize(second)
    assert await page.deserialize(PIECE) is None
    assert [str(error) for error in page.heard_by.errors] == ["audio faster than it can be spoken"]
