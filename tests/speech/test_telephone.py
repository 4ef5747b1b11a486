"""The band and the steps of a telephone line."""

import numpy as np
import pytest

from speech import mulaw
from speech.audio import to_int16
from speech.telephone import RATE_HZ, over_the_line


def tone(hz):
    at = np.arange(RATE_HZ) / RATE_HZ
    return to_int16((0.5 * np.sin(2 * np.pi * hz * at)).astype(np.float32))


@pytest.mark.parametrize(
    ("hz", "least_db", "most_db"),
    [(60, -99, -25), (150, -99, -12), (1000, -0.5, 0.5), (3000, -0.5, 0.5), (3900, -99, -25)],
)
def test_the_band(hz, least_db, most_db):
    inner = slice(500, -500)
    sent, come = tone(hz)[inner] / 32768, over_the_line(tone(hz))[inner]
    assert least_db <= 20 * np.log10(come.std() / sent.std()) <= most_db


def test_nothing_is_late_and_all_is_of_mu_law():
    come = over_the_line(tone(1000))
    assert come.size == RATE_HZ
    assert np.corrcoef(come, tone(1000))[0, 1] > 0.999
    samples = to_int16(come)
    assert np.array_equal(mulaw.decode(mulaw.encode(samples)), samples)


def test_no_sound_is_none():
    assert over_the_line(np.zeros(0, np.int16)).size == 0
