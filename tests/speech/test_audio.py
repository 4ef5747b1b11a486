"""Sample conversion keeps level, length and type."""

import numpy as np
import pytest

from speech.audio import levels, resample, to_float32, to_int16


def tone(hz: int, rate_hz: int, secs: float = 0.5) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(int(rate_hz * secs)) / rate_hz)).astype(
        np.float32
    )


def test_resampling_keeps_a_tone():
    up = resample(tone(1000, 8000), 8000, 16000)
    assert up.dtype == np.float32
    assert up.size == 8000
    inner = slice(800, -800)
    assert np.abs(up[inner] - tone(1000, 16000)[inner]).max() < 0.002


def test_resampling_int16_stays_int16():
    down = resample(to_int16(tone(1000, 16000)), 16000, 8000)
    assert down.dtype == np.int16
    assert down.size == 4000
    assert abs(int(np.abs(down[400:-400]).max()) - 16384) < 100


def test_resampling_nothing_and_to_the_same_rate():
    x = tone(440, 8000)
    assert resample(x, 8000, 8000) is x
    assert resample(x[:0], 8000, 16000).size == 0


def test_int16_and_back():
    samples = np.array([-32768, -1, 0, 1, 32767], np.int16)
    assert to_float32(samples).tolist() == [-1.0, -1 / 32768, 0.0, 1 / 32768, 32767 / 32768]
    assert to_int16(to_float32(samples)).tolist() == samples.tolist()
    assert to_int16(np.array([2.0, -2.0], np.float32)).tolist() == [32767, -32768]


@pytest.mark.parametrize("convert", [to_int16, to_float32, lambda x: resample(x, 8000, 16000)])
def test_other_types_are_refused(convert):
    with pytest.raises(TypeError, match="int16 or float32"):
        convert(np.zeros(4, np.float64))


def test_stereo_is_refused():
    with pytest.raises(ValueError, match="one-dimensional"):
        resample(np.zeros((4, 2), np.float32), 8000, 16000)


def test_levels_leave_pauses_out():
    speech = tone(440, 8000, 1.0)
    paused = np.concatenate((speech, np.zeros(16000, np.float32), speech / 2))
    loudest, rms = levels(paused, 8000)
    assert loudest == pytest.approx(0.5 / 2**0.5, rel=0.01)
    assert rms == pytest.approx((0.125 * (1 + 1 / 4) / 2) ** 0.5, rel=0.01)


def test_levels_of_nothing_and_of_silence():
    assert levels(np.zeros(0, np.float32), 8000) == (0.0, 0.0)
    assert levels(np.ones(159, np.float32), 8000) == (0.0, 0.0)
    assert levels(np.zeros(8000, np.float32), 8000) == (0.0, 0.0)
