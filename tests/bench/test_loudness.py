"""The active speech level of ITU-T P.56, and the steps that would click."""

import numpy as np
import pytest

from bench.loudness import active_level, bench_loudness, measure
from frontdesk import Spoken

RATE_HZ = 8000
SECONDS = np.arange(10 * RATE_HZ) / RATE_HZ
TONE = (0.1 * np.sin(2 * np.pi * 440 * SECONDS)).astype(np.float32)
TONE_DB = 20 * np.log10(0.1 / 2**0.5)


def test_a_tone_is_active_all_the_time():
    level, share = active_level(TONE, RATE_HZ)
    assert level == pytest.approx(TONE_DB, abs=0.05)
    assert share == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("gain_db", [0, -20])
def test_pauses_count_for_the_hangover_only(gain_db):
    paused = np.where(SECONDS % 2 < 1, TONE, 0).astype(np.float32) * np.float32(
        10 ** (gain_db / 20)
    )
    level, share = active_level(paused, RATE_HZ)
    # A second of tone in two, and 0.2 s after it, a little more for the envelope's decay.
    assert 0.6 < share < 0.68
    assert level == pytest.approx(TONE_DB + gain_db + 10 * np.log10(0.5 / share), abs=0.05)


def test_silence_has_no_level():
    assert active_level(np.zeros(800, np.float32), RATE_HZ) == (-np.inf, 0.0)


def test_steps_at_edges_and_joins_are_seen():
    whole = np.rint(TONE * 32768).astype(np.int16)
    smooth = measure([whole[:4000], whole[4000:]], RATE_HZ)
    assert smooth is not None
    assert smooth.join_step < 0.04
    assert smooth.peak_db == pytest.approx(-20, abs=0.1)
    clicks = measure([whole[5:4000], whole[4000:] + 3277], RATE_HZ)
    assert clicks is not None
    assert clicks.join_step > 0.09
    assert clicks.edge_step > 0.09
    assert clicks.offset > 0.09
    assert measure([np.zeros(0, np.int16)], RATE_HZ) is None


def test_the_spread_is_of_observed_values():
    loud = np.rint(TONE * 32768).astype(np.int16)
    rendered = {"one": loud, "two": loud // 10, "three": loud // 10}
    figures = bench_loudness(
        lambda words: [rendered[words.text]], [Spoken(text) for text in rendered], RATE_HZ
    )
    assert figures["sentences"] == 3
    assert figures["active_db"]["max"] == pytest.approx(TONE_DB, abs=0.1)
    assert (
        figures["active_db"]["p50"]
        == figures["active_db"]["min"]
        == pytest.approx(TONE_DB - 20, abs=0.1)
    )
