"""How much of what comes in is what went out."""

import numpy as np
import pytest

from speech.echo import NOTHING, likeness
from telephony.g711 import ulaw_decode, ulaw_encode

RATE = 8000
rng = np.random.default_rng(11)


def voiced(seconds, hz):
    """Something like a voice: a buzz through a slowly moving resonance."""
    t = np.arange(round(seconds * RATE)) / RATE
    pitch = hz * (1 + 0.1 * np.sin(2 * np.pi * 1.3 * t))
    buzz = np.sign(np.sin(2 * np.pi * np.cumsum(pitch) / RATE))
    shape = np.convolve(rng.normal(size=t.size), np.ones(400) / 20, "same")
    return (2500 * buzz * np.abs(shape) + rng.normal(0, 200, t.size)).astype(np.int16)


SAID = voiced(0.9, 110)


def late(samples, ms, db, size=1600):
    """The last ``size`` samples of an echo ``ms`` late and ``db`` down, through µ-law."""
    delay = RATE * ms // 1000
    end = samples.size - delay
    echo = samples[end - size : end] * 10 ** (db / 20) + rng.normal(0, 3, size)
    return ulaw_decode(ulaw_encode(echo.astype(np.int16)))


@pytest.mark.parametrize("ms", [0, 60, 150, 500])
@pytest.mark.parametrize("db", [-6, -20])
def test_an_echo_is_explained_and_measured(ms, db):
    found = likeness(late(SAID, ms, db), SAID, RATE)
    assert found.share > 0.9
    assert found.gain == pytest.approx(10 ** (db / 20), rel=0.3)


def test_a_room_spreads_an_echo_and_hides_no_more_than_half():
    size = RATE // 20
    room = rng.normal(size=size) * np.exp(-6.9 * np.arange(size) / size)
    room[0] = 2.0
    echoed = np.convolve(SAID, room / np.linalg.norm(room))[: SAID.size].astype(np.int16)
    assert likeness(late(echoed, 100, -20), SAID, RATE).share > 0.5


def test_another_voice_is_not_explained():
    assert likeness(voiced(0.2, 173), SAID, RATE).share < 0.4


def test_a_caller_over_an_echo_is_not_explained():
    caller = voiced(0.2, 173)
    assert likeness((late(SAID, 150, -20) + caller).astype(np.int16), SAID, RATE).share < 0.4


@pytest.mark.parametrize("heard", [np.zeros(1600, np.int16), np.zeros(0, np.int16)])
def test_silence_is_like_nothing(heard):
    assert likeness(heard, SAID, RATE) == NOTHING
    assert likeness(SAID[:1600], np.zeros(7200, np.int16), RATE) == NOTHING


def test_an_offset_is_no_echo():
    heard = (rng.normal(0, 30, 1600) + 4000).astype(np.int16)
    assert likeness(heard, (SAID // 50 + 4000).astype(np.int16), RATE).share < 0.4


def test_a_line_of_16_khz_is_judged_alike():
    said, heard = np.repeat(SAID, 2), np.repeat(late(SAID, 150, -20), 2)
    assert likeness(heard, said, 2 * RATE).share > 0.9


def test_what_was_played_must_reach_back_far_enough():
    with pytest.raises(ValueError, match="cannot look for"):
        likeness(SAID, SAID[:-1], RATE)
