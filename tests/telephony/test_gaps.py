"""What is missing before a frame, and what stands for it."""

import numpy as np
import pytest

from telephony.gaps import MAX_FILL_MS, Timeline, filling


@pytest.mark.parametrize(
    ("stamps", "missing"),
    [
        ([0, 20, 40], [0, 0, 0]),
        ([5000, 5020], [0, 0]),  # a stream need not begin at 0
        ([0, 20, 80, 100], [0, 0, 40, 0]),
        ([0, 60, 20, 80], [0, 40, 0, 0]),  # late: its place was filled already
        ([0, 20, 20, 40], [0, 0, 0, 0]),  # twice
        ([0, 20 + MAX_FILL_MS, 40 + MAX_FILL_MS], [0, MAX_FILL_MS, 0]),
        ([0, 520, 540, 580], [0, MAX_FILL_MS, 0, 20]),  # the rest of it is left out
        ([9000, 0, 20, 60], [0, 0, 0, 20]),  # a clock set back
    ],
)
def test_missing_milliseconds(stamps, missing):
    line = Timeline()
    assert [line.missing_ms(stamp, 20) for stamp in stamps] == missing


def test_frames_of_any_length():
    line = Timeline()
    assert [line.missing_ms(*frame) for frame in ((0, 60), (60, 10), (80, 20))] == [0, 0, 10]


def test_the_last_frame_fades_out():
    frame = np.array([1000, -2000], np.int16)
    assert filling(frame, 2).tolist() == [1000, -2000]
    assert filling(frame, 9).tolist() == [1000, -2000, 500, -1000, 250, -500, 0, 0, 0]
    assert filling(frame, 3).tolist() == [1000, -2000, 500]
    assert filling(frame[:0], 3).tolist() == [0, 0, 0]
    assert filling(frame, 0).dtype == np.int16
