"""The processor behind the voice: marks out and back, and when the agent counts as done."""

import asyncio

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    InterruptionFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)

import agent.playing
from agent.playback import Playback
from agent.playing import Playing
from agent.trace import CallTrace
from frontdesk import Spoken
from tests.agent.one_processor import FakeClockRecord, OneProcessor, settle

RATE = 8000


def audio(ms):
    return TTSAudioRawFrame(bytes(2 * RATE * ms // 1000), RATE, 1)


class Wire(OneProcessor):
    """``Playing`` in front of a wire that returns marks when the test says so, if it has any."""

    def __init__(self, folder, *, marks=True):
        self.record, self.playback = FakeClockRecord(folder, "CA1"), Playback()
        self.playing = Playing(
            self.playback, CallTrace(self.record), (lambda name: {"mark": name}) if marks else None
        )
        super().__init__(self.playing)

    @property
    def marks(self):
        return [f.message["mark"] for f in self.down.of(OutputTransportMessageFrame)]

    async def speaks(self, *pieces_ms):
        self.playback.begin(Spoken("We open at 8. On Sunday we are closed."))
        await self.send(*map(audio, pieces_ms), TTSStoppedFrame())
        await self.send(BotStartedSpeakingFrame(), upstream=True)

    async def has_left(self):
        await self.send(BotStoppedSpeakingFrame(), upstream=True)

    def is_done(self):
        return bool(self.up.of(BotStoppedSpeakingFrame))


@pytest.mark.parametrize(
    ("pieces_ms", "marks"), [([1500, 2000], 2), ([20] * 60, 2), ([300], 1), ([], 0)]
)
async def test_a_mark_goes_out_behind_enough_audio_and_behind_the_last(tmp_path, pieces_ms, marks):
    async with Wire(tmp_path) as wire:
        await wire.speaks(*pieces_ms)
        assert len(wire.marks) == marks == len(set(wire.marks))
        kinds = [type(f) for f in wire.down.frames if not isinstance(f, BotStartedSpeakingFrame)]
        if marks == 2 and len(pieces_ms) == 2:
            pair = [TTSAudioRawFrame, OutputTransportMessageFrame]
            assert [k for k in kinds if k in pair] == [*pair, *pair]


async def test_the_agent_speaks_until_the_last_mark_is_back(tmp_path):
    async with Wire(tmp_path) as wire:
        await wire.speaks(1500, 2000)
        wire.record.at_ms = 3500
        await wire.has_left()
        first, last = wire.marks
        await wire.playing.marked(first)
        await settle()
        assert not wire.is_done()
        await wire.playing.marked(last)
        await wire.up.wait_for(BotStoppedSpeakingFrame)


async def test_a_lost_mark_does_not_hang_the_call(tmp_path, monkeypatch):
    monkeypatch.setattr(agent.playing, "_MARK_TIMEOUT_S", 0.01)
    async with Wire(tmp_path) as wire:
        await wire.speaks(1500)
        await wire.has_left()
        await wire.up.wait_for(BotStoppedSpeakingFrame)
        assert not wire.playback.awaited


async def test_a_cut_reply_is_waited_for_no_longer(tmp_path):
    async with Wire(tmp_path) as wire:
        await wire.speaks(1500)
        await wire.has_left()
        await wire.send(InterruptionFrame())
        await wire.up.wait_for(BotStoppedSpeakingFrame)


async def test_without_marks_the_clock_decides(tmp_path):
    async with Wire(tmp_path, marks=False) as wire:
        await wire.speaks(1500)
        wire.record.at_ms = 700
        assert wire.playback.position_ms(700) == 700
        await wire.has_left()
        await wire.up.wait_for(BotStoppedSpeakingFrame)
        assert wire.marks == []


async def test_no_task_outlives_the_call(tmp_path):
    before = asyncio.all_tasks()
    async with Wire(tmp_path) as wire:
        await wire.speaks(1500)
        await wire.has_left()
    await settle()
    assert asyncio.all_tasks() - before == set()
