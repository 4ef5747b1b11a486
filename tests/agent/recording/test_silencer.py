"""Which turns are silenced, whatever order frames and events come in."""

import asyncio

import numpy as np
import pytest

from agent.recording import check_recording, read_recording
from agent.recording.silencer import Silencer
from agent.records import CallRecord, read_record
from tests.agent.recording.taped import Taped, noise


class Call:
    """A call on a clock that the test moves: somebody speaks all the time."""

    def __init__(self, folder):
        self.taped = Taped(folder)
        taped = self.taped

        class Clocked(CallRecord):
            def now_ms(self):
                return taped.now_ms

        def redact(kind, fields):
            return {**fields, "redacted": ["name"]} if fields.get("heard") == "jane" else fields

        self.record = Clocked(folder, "CA1", redact=redact)
        self.record.recording = self.taped.recording
        self.record.event("recording", path="call.wav", rate_hz=8000)
        self.silencer = Silencer(self.taped.recording, self.record)
        self.hears(1000)

    def hears(self, ms):
        self.taped.hears(noise(ms / 1000, int(self.taped.now_ms)))

    def turn(self, ms=2000):
        """A turn that its frame ends."""
        self.silencer.sounds()
        self.hears(200)
        self.silencer.begins()
        self.hears(ms)

    async def event(self, kind, heard, turn):
        verdict = {"say": "", "decision": "", "reason": "", "score": 0, "citations": []}
        self.record.event(kind, turn=turn, heard=heard, **verdict)
        await asyncio.sleep(0)

    def silent_ms(self):
        """From when to when the caller is silent, in seconds, once all is proven."""
        self.silencer.finish()
        self.taped.recording.close()
        self.record.close("over")
        assert check_recording(self.taped.path, read_record(self.record.path)) == ""
        samples, _ = read_recording(self.taped.path)
        silent = ~samples[: len(samples) // 80 * 80, 0].reshape(-1, 80).any(axis=1)
        edges = np.flatnonzero(np.diff(np.r_[0, silent.astype(int), 0]))
        return [(int(a) * 10, int(b) * 10) for a, b in edges.reshape(-1, 2)]


@pytest.fixture
async def call(tmp_path):
    return Call(tmp_path)


@pytest.mark.parametrize("late", [False, True])
async def test_a_turn_with_a_name_in_it(call, late):
    """Its end may come to the recorder after its words came to the record."""
    call.turn()
    if not late:
        call.silencer.ends()
    await call.event("verdict", "jane", 1)
    if late:
        call.silencer.ends()
    call.hears(1000)
    call.turn()
    call.silencer.ends()
    await call.event("verdict", "when do you open", 2)
    call.hears(1000)
    assert call.silent_ms() == [(500, 3200)]


async def test_turns_that_are_answered_together(call):
    """The caller went on: the words of both are in the second's event."""
    call.turn()
    call.silencer.ends()
    call.hears(1000)
    call.turn()
    call.silencer.ends()
    await call.event("verdict", "jane", 2)
    call.hears(1000)
    assert call.silent_ms() == [(500, 3300), (3700, 6400)]


async def test_what_a_slower_recogniser_heard_counts_too(call):
    call.turn()
    call.silencer.ends()
    await call.event("second_opinion", "jane", 1)
    await call.event("verdict", "rain", 1)
    call.hears(1000)
    assert call.silent_ms() == [(500, 3200)]


async def test_a_sound_that_was_no_turn(call):
    call.silencer.sounds()
    call.hears(1000)
    await call.event("ignored", "jane", 0)
    call.hears(1000)
    assert call.silent_ms() == [(500, 2000)]


async def test_whoever_answers_a_call_that_we_placed(call):
    """What they say before there is a conversation is told by no frame."""
    await call.event("callee", "hello", 0)
    call.hears(1000)
    await call.event("callee", "jane", 0)
    call.hears(1000)
    assert call.silent_ms() == [(500, 2000)]


async def test_what_was_never_put_into_words(call):
    call.turn()
    call.silencer.ends()
    await call.event("verdict", "when do you open", 1)
    call.hears(1000)
    call.turn()
    assert call.silent_ms() == [(3700, 6400)]


async def test_nothing_where_nothing_is_personal(call):
    for number in (1, 2):
        call.turn()
        call.silencer.ends()
        await call.event("verdict", "when do you open", number)
    await call.event("ignored", "a far voice", 2)
    call.hears(1000)
    assert call.silent_ms() == []
