"""What of a reply was heard: by the clock, by marks, and to the word."""

import numpy as np
import pytest

from agent.playback import ECHO_REACH_MS, Playback
from agent.played import played
from frontdesk import Spoken

TWO = Spoken("We open at 8. On Sunday the clinic is closed all day.")
FIRST, SECOND = "We open at 8.", "On Sunday the clinic is closed all day."
RATE = 8000


def tone(ms, value=1000):
    return np.full(RATE * ms // 1000, value, np.int16).tobytes()


def playing(ms=4000, at=1000.0):
    """``TWO``, ``ms`` long, heard from ``at`` on."""
    playback = Playback()
    playback.begin(TWO)
    playback.queued(tone(ms), RATE)
    playback.completed()
    playback.started(at)
    return playback


def test_sentences_share_the_time_by_what_is_read_aloud():
    cut = played(TWO, 2500, 4000)
    assert (cut.whole, cut.sentence, cut.rest) == (FIRST, SECOND, Spoken(SECOND))
    assert cut.words
    assert SECOND.startswith(cut.words)
    assert cut.words != SECOND
    assert cut.heard == f"{FIRST} {cut.words}"
    assert cut.begun == TWO.text


def test_nothing_heard_leaves_all_to_say():
    cut = played(TWO, 0, 4000)
    assert (cut.heard, cut.begun, cut.rest) == ("", "", TWO)


@pytest.mark.parametrize("position_ms", [3800, 4000, 9000])
def test_a_cut_at_the_very_end_leaves_nothing(position_ms):
    cut = played(TWO, position_ms, 4000)
    assert (cut.heard, cut.sentence, cut.rest) == (TWO.text, "", Spoken(""))


def test_audio_that_is_still_to_come_counts():
    begun = played(TWO, 500, 600, complete=False)
    assert begun.rest == TWO, "the first 0.6 s are not the whole reply"


def test_the_clock_says_what_was_heard():
    playback = playing()
    assert playback.position_ms(900) == 0
    assert playback.position_ms(3500) == 2500
    assert playback.position_ms(9000) == 4000, "no more than there was"
    assert playback.saying(1100) == FIRST
    assert playback.cut(3500).whole == FIRST
    assert playback.position_ms(9000) == 2500, "a cut reply goes no further"


def test_a_mark_corrects_the_clock():
    playback = Playback()
    playback.begin(TWO)
    playback.queued(tone(1000), RATE)
    first = playback.mark()
    playback.queued(tone(3000), RATE)
    playback.completed()
    playback.started(1000)
    playback.marked(first, 2300)  # 300 ms later than the clock said
    assert playback.position_ms(3500) == 2200


def test_marks_that_come_back_for_what_was_dropped_say_nothing():
    playback = playing()
    name = playback.mark()
    assert playback.awaited
    playback.cut(1500)
    assert not playback.awaited
    playback.marked(name, 1501)
    playback.marked("never sent", 1502)
    assert playback.position_ms(9000) == 500


def test_what_was_played_lately():
    playback = playing(ms=1000)
    heard = playback.lately(1500, 800, RATE)
    assert heard.size == 6400
    assert not heard[: 300 * 8].any()
    assert (heard[300 * 8 :] == 1000).all()
    playback.ended(2000)
    assert (playback.lately(2200, 300, RATE)[: 100 * 8] == 1000).all()
    assert not playback.lately(2200, 300, RATE)[100 * 8 :].any()
    assert playback.is_near(2000 + ECHO_REACH_MS - 1)
    assert not playback.is_near(2000 + ECHO_REACH_MS + 1)


def test_what_was_cut_was_not_played():
    playback = playing(ms=1000)
    playback.cut(1200)
    assert not playback.lately(1500, 300, RATE).any()


def test_other_rates_come_out_at_the_lines():
    playback = Playback()
    playback.begin(TWO)
    playback.queued(np.full(16000, 1000, np.int16).tobytes(), 16000)
    playback.completed()
    playback.started(0)
    heard = playback.lately(500, 400, RATE)
    assert heard.size == 3200
    assert abs(int(heard[1600]) - 1000) < 20
