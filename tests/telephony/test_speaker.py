"""The loudspeaker's queue: real time, marks where they belong, a memory for the canceller."""

import asyncio

import pytest

from telephony.speaker import _AHEAD, _LOOKS, _MOST_KEPT, _MOST_LATE, Speaker

SIZE = 4
SILENCE = bytes(SIZE)


def piece(number):
    return bytes([number]) * SIZE


@pytest.fixture
async def speaker():
    made = Speaker(SIZE)
    made.marks, made.told = [], asyncio.Event()

    async def tell(name):
        made.marks.append(name)
        made.told.set()

    made.opened(asyncio.get_running_loop(), tell)
    return made


async def test_pieces_in_order_and_silence_between(speaker):
    await speaker.play(piece(1))
    await speaker.play(b"\x02")
    assert speaker.next(4, 0.0) == piece(1) + b"\x02\0\0\0", "40 ms are two pieces"
    assert speaker.next(2, 0.0) == SILENCE


async def test_a_writer_waits_for_the_device(speaker):
    for number in range(_AHEAD):
        await asyncio.wait_for(speaker.play(piece(number)), 5)
    waiting = asyncio.create_task(speaker.play(piece(99)))
    await asyncio.sleep(0)
    assert not waiting.done()
    speaker.next(2, 0.0)
    assert await asyncio.wait_for(waiting, 5)


async def test_a_mark_is_told_once_what_is_before_it_was_heard(speaker):
    await speaker.play(piece(1))
    speaker.mark("m1")
    await speaker.play(piece(2))
    speaker.next(2, 0.0)
    await asyncio.sleep(0)
    assert speaker.marks == []
    speaker.next(2, 0.0)
    await asyncio.wait_for(speaker.told.wait(), 5)
    assert speaker.marks == ["m1"]


async def test_a_clear_drops_what_is_queued_and_tells_its_marks(speaker):
    for number in range(_AHEAD):
        await speaker.play(piece(number))
    waiting = asyncio.create_task(speaker.play(piece(9)))
    speaker.mark("m1")
    await asyncio.sleep(0)
    speaker.clear()
    assert await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(speaker.told.wait(), 5)
    assert speaker.marks == ["m1"]
    assert speaker.next(2, 0.0) == SILENCE


async def test_what_was_played_is_handed_out_once(speaker):
    await speaker.play(piece(1))
    speaker.next(4, 0.0)
    assert speaker.heard_with() == piece(1)
    assert speaker.heard_with() == SILENCE
    assert speaker.heard_with() == b"", "the microphone is ahead"


async def test_what_waited_since_a_device_stood_still_comes_at_once(speaker):
    late = 2 * _MOST_LATE
    speaker.next(2 * late, 0.0)
    sizes = []
    for _ in range(_LOOKS + 1):
        sizes.append(len(speaker.heard_with()) // SIZE)
        speaker.next(2, 0.0)
    assert sizes == [1] * (_LOOKS - 1) + [1 + late - _MOST_LATE, 1]


async def test_without_a_microphone_nothing_piles_up(speaker):
    for _ in range(3 * _MOST_KEPT):
        speaker.next(2, 0.0)
    kept = 0
    while speaker.heard_with():
        kept += 1
    assert kept <= _MOST_KEPT + _LOOKS


async def test_a_device_that_does_not_start_is_not_waited_for_for_ever(speaker):
    assert not await speaker.runs(0.01)
    for _ in range(20):
        speaker.next(2, 0.0)
    assert await speaker.runs(5)
