"""Beeps of many kinds are found; keys, ringing, busy, music and speech are none."""

import numpy as np
import pytest

from bench.callees import on_line, tone
from bench.recordings import AUDIO, clips
from speech.beep import BeepDetector
from telephony.caller import load_audio

RATE = 8000
SIT = ((985.2, 380), (1428.5, 276), (1776.7, 380))
KEYS = [(low, high) for low in (697, 770, 852, 941) for high in (1209, 1336, 1477)]


def silence(ms):
    return np.zeros(ms * RATE // 1000)


def both(low, high, ms, db=-15, twist_db=0):
    return (tone(low, ms, db) + tone(high, ms, db + twist_db)) / 1.5


def tones(*parts, noise_db=-60, frame=160):
    signal = np.concatenate((silence(500), *parts, silence(500)))
    samples = on_line(signal, noise_db, np.random.default_rng(3))
    detector = BeepDetector(RATE)
    return [t for at in range(0, samples.size, frame) for t in detector.feed(samples[at:][:frame])]


@pytest.mark.parametrize("hz", [400, 440, 620, 850, 1000, 1400, 1777, 2000])
@pytest.mark.parametrize("ms", [150, 300, 1000])
@pytest.mark.parametrize("noise_db", [-60, -25])
def test_a_beep_is_found_where_it_is(hz, ms, noise_db):
    (found,) = tones(tone(hz, ms, -15), noise_db=noise_db)
    assert found.alone
    assert found.hz == pytest.approx(hz, abs=8)
    assert found.started_ms == pytest.approx(500, abs=30)
    assert found.ended_ms == pytest.approx(500 + ms, abs=30)


def test_the_size_of_the_frames_does_not_matter():
    assert tones(tone(900, 300, -15), frame=37) == tones(tone(900, 300, -15), frame=1600)


def test_it_listens_at_16_khz_too():
    beep = np.repeat(on_line(tone(1000, 400, -15), -60, np.random.default_rng(3)), 2)
    quiet = np.zeros(8000, np.int16)
    (found,) = BeepDetector(16000).feed(np.concatenate((quiet, beep, quiet)))
    assert (found.hz, found.ms) == (pytest.approx(1000, abs=8), pytest.approx(400, abs=30))


def test_a_click_in_it_makes_no_two_of_one():
    beep = tone(1000, 600, -15)
    beep[2400:2480] = 0.5
    (found,) = tones(beep)
    assert found.ms == pytest.approx(600, abs=30)


@pytest.mark.parametrize(
    "parts",
    [
        *([both(low, high, 200), silence(100)] for low, high in KEYS),
        [both(770, 1336, 200, twist_db=6)],
        [both(440, 480, 2000)],  # ringing, North America
        [both(480, 620, 500), silence(500), both(480, 620, 500)],  # engaged
        [tone(1000, 80, -15)],
        [tone(250, 500, -15)],
    ],
)
def test_what_is_no_beep(parts):
    assert tones(*parts) == []


def test_pitches_in_a_row_are_not_alone():
    special = tones(*(tone(hz, ms, -15) for hz, ms in SIT))
    assert [round(one.hz, -1) for one in special] == [990, 1430, 1780]
    scale = tones(*(tone(440 * 2 ** (step / 12), 250, -15) for step in (0, 2, 4, 5, 7)))
    assert len(scale) == 5
    assert not any(one.alone for one in (*special, *scale))


def test_speech_is_no_beep():
    spoken = [load_audio(AUDIO / clip["file"]) for clip in clips() if not clip["noise"]][:60]
    detector = BeepDetector(RATE)
    found = [one for samples in spoken for one in detector.feed(samples) if one.alone]
    assert sum(samples.size for samples in spoken) > 60 * RATE
    assert found == []


def test_a_beep_behind_speech_is_found():
    speech = load_audio(AUDIO / clips()[0]["file"]) / 32768
    (found,) = tones(speech, silence(200), tone(1000, 400, -15))
    assert found.ended_ms == pytest.approx(500 + speech.size / 8 + 200 + 400, abs=30)
