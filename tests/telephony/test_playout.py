import numpy as np

from telephony.g711 import ulaw_decode, ulaw_encode
from telephony.playout import PlayoutBuffer

QUIET = bytes([0xFF])
LOUD = ulaw_encode(np.array([5000], np.int16))


def test_media_plays_at_once_or_behind_what_is_queued():
    buffer = PlayoutBuffer()
    buffer.add(LOUD * 100, 1000)
    buffer.add(LOUD * 100, 1010)
    buffer.add(LOUD * 10, 2000)
    assert buffer.end == 2010
    played = buffer.played(2100)
    assert np.flatnonzero(played).tolist() == [*range(1000, 1200), *range(2000, 2010)]
    assert played[1000] == ulaw_decode(LOUD)[0]


def test_heard_gives_the_audible_span_once():
    buffer = PlayoutBuffer()
    buffer.add(QUIET * 30 + LOUD * 40 + QUIET * 30, 0)
    assert buffer.heard(30) is None
    assert buffer.heard(50) == (30, 50)
    assert buffer.heard(100) == (50, 70)
    assert buffer.heard(200) is None


def test_heard_spans_two_messages():
    buffer = PlayoutBuffer()
    buffer.add(QUIET * 10 + LOUD * 10, 0)
    buffer.add(LOUD * 5 + QUIET * 15, 0)
    assert buffer.heard(160) == (10, 25)


def test_clear_cuts_inside_a_message_and_counts():
    buffer = PlayoutBuffer()
    buffer.add(LOUD * 160, 0)
    buffer.add(LOUD * 160, 0)
    assert buffer.heard(100) == (0, 100)
    assert buffer.clear(100) == []
    assert buffer.cleared == 220
    assert buffer.end == 100
    buffer.add(LOUD * 20, 150)
    assert buffer.heard(200) == (150, 170)
    assert np.flatnonzero(buffer.played(400)).tolist() == [*range(100), *range(150, 170)]


def test_clearing_an_empty_buffer_drops_nothing():
    buffer = PlayoutBuffer()
    buffer.add(LOUD * 10, 0)
    assert buffer.clear(500) == []
    assert buffer.cleared == 0
    assert np.count_nonzero(buffer.played(600)) == 10


def test_a_mark_waits_for_the_audio_before_it():
    buffer = PlayoutBuffer()
    buffer.add(LOUD * 160, 0)
    buffer.mark("a")
    buffer.add(LOUD * 160, 0)
    buffer.mark("b")
    assert buffer.next_mark == 160
    assert buffer.due_marks(159) == []
    assert buffer.due_marks(160) == ["a"]
    assert buffer.due_marks(1000) == ["b"]
    assert buffer.next_mark is None


def test_a_clear_returns_the_marks_of_what_it_dropped():
    buffer = PlayoutBuffer()
    buffer.add(LOUD * 160, 0)
    buffer.mark("a")
    buffer.mark("b")
    assert buffer.clear(10) == ["a", "b"]
    assert buffer.due_marks(1000) == []


def test_a_mark_on_a_silent_line_is_due_at_once():
    buffer = PlayoutBuffer()
    buffer.mark("a")
    assert buffer.due_marks(7) == ["a"]
