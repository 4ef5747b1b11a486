"""Sample conversion keeps level, length and type, in one piece and in many."""

import numpy as np
import pytest

from speech.audio import Resampler, levels, resample, to_float32, to_int16


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


def in_chunks(samples: np.ndarray, from_hz: int, to_hz: int, chunk: int) -> np.ndarray:
    stream = Resampler(from_hz, to_hz)
    ready = [stream.feed(samples[at : at + chunk]) for at in range(0, samples.size, chunk)]
    return np.concatenate([*ready, stream.flush()])


def spurious_db(wave: np.ndarray, hz: int, rate_hz: int) -> float:
    """All that is not the tone (5 Hz about it), in dB below the tone, the first second aside."""
    inner = wave[rate_hz : wave.size // rate_hz * rate_hz - rate_hz].astype(np.float64)
    power = np.abs(np.fft.rfft(inner * np.hanning(inner.size))) ** 2
    near = np.abs(np.fft.rfftfreq(inner.size, 1 / rate_hz) - hz) < 5
    return float(10 * np.log10(power[~near].sum() / power[near].sum()))


@pytest.mark.parametrize(("from_hz", "to_hz"), [(8000, 16000), (16000, 8000), (22050, 8000)])
def test_a_minute_in_20_ms_chunks_is_the_whole_minute(from_hz, to_hz):
    whole = tone(1000, from_hz, 60)
    joined = in_chunks(whole, from_hz, to_hz, from_hz // 50)
    assert joined.dtype == np.float32
    expected = resample(whole, from_hz, to_hz)
    assert joined.size == expected.size == 60 * to_hz
    assert np.abs(joined - expected).max() < 1e-6
    assert spurious_db(joined, 1000, to_hz) < -120
    clicking = [
        resample(whole[at : at + from_hz // 50], from_hz, to_hz)
        for at in range(0, whole.size, from_hz // 50)
    ]
    assert spurious_db(np.concatenate(clicking), 1000, to_hz) > -60


def test_a_stream_of_int16_in_uneven_chunks():
    whole = to_int16(tone(440, 8000, 2))
    joined = in_chunks(whole, 8000, 16000, 333)
    assert joined.dtype == np.int16
    assert np.abs(joined.astype(int) - resample(whole, 8000, 16000).astype(int)).max() <= 1
    assert np.array_equal(in_chunks(whole, 8000, 8000, 333), whole)


def test_a_stream_can_begin_again():
    stream = Resampler(8000, 16000)
    once = np.concatenate((stream.feed(tone(440, 8000)), stream.flush()))
    again = np.concatenate((stream.feed(tone(440, 8000)), stream.flush()))
    assert np.array_equal(once, again)


def test_int16_and_back():
    samples = np.array([-32768, -1, 0, 1, 32767], np.int16)
    assert to_float32(samples).tolist() == [-1.0, -1 / 32768, 0.0, 1 / 32768, 32767 / 32768]
    assert to_int16(to_float32(samples)).tolist() == samples.tolist()
    assert to_int16(np.array([2.0, -2.0], np.float32)).tolist() == [32767, -32768]


@pytest.mark.parametrize(
    "convert",
    [
        to_int16,
        to_float32,
        lambda x: resample(x, 8000, 16000),
        lambda x: Resampler(8000, 16000).feed(x),
    ],
)
def test_other_types_are_refused(convert):
    with pytest.raises(TypeError, match="int16 or float32"):
        convert(np.zeros(4, np.float64))


def test_stereo_is_refused():
    with pytest.raises(ValueError, match="one-dimensional"):
        resample(np.zeros((4, 2), np.float32), 8000, 16000)
    with pytest.raises(ValueError, match="one-dimensional"):
        Resampler(8000, 16000).feed(np.zeros((4, 2), np.float32))


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
