"""Recordings as browsers get them."""

import io

import numpy as np
import pytest
import soundfile

from agent.console.recording import Recording, byte_range
from frontdesk import WireError
from telephony.g711 import ulaw_decode, ulaw_encode
from tests.agent.console.stored import recorded


def test_any_range_is_that_part_of_the_whole(tmp_path):
    sides = recorded(tmp_path, "a", seconds=1.0)
    recording = Recording.open(tmp_path / "a.wav")
    whole = b"".join(recording.pcm(0, recording.size))
    assert len(whole) == recording.size
    samples, rate_hz = soundfile.read(io.BytesIO(whole), dtype="int16")
    assert rate_hz == 8000
    np.testing.assert_array_equal(samples, ulaw_decode(ulaw_encode(sides)).reshape(-1, 2))
    for start, end in (
        (0, 1),
        (10, 44),
        (43, 45),
        (44, 45),
        (45, 46),
        (47, 4097),
        (31_001, 32_044),
    ):
        assert b"".join(recording.pcm(start, end)) == whole[start:end], (start, end)


def test_a_file_cut_short_by_a_kill_plays_as_far_as_it_goes(tmp_path):
    recorded(tmp_path, "a", seconds=1.0)
    path = tmp_path / "a.wav"
    path.write_bytes(path.read_bytes()[:-8001])
    recording = Recording.open(path)
    assert recording.frames == (16_000 - 8001) // 2
    assert len(b"".join(recording.pcm(0, recording.size))) == recording.size


def test_peaks_are_those_of_the_samples_on_their_side(tmp_path):
    recorded(tmp_path, "a", seconds=2.0)
    caller, agent = Recording.open(tmp_path / "a.wav").peaks(8)
    loud = pytest.approx(12_000 / 32_768, abs=0.02)
    assert list(caller) == [loud] * 4 + [pytest.approx(0, abs=0.001)] * 4
    assert list(agent) == [pytest.approx(0, abs=0.001)] * 4 + [loud] * 4
    one_frame = tmp_path / "b.wav"
    one_frame.write_bytes(
        (tmp_path / "a.wav").read_bytes()[: Recording.open(tmp_path / "a.wav").start]
    )
    assert Recording.open(one_frame).peaks(8).shape == (2, 1)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("subtype", ["PCM_16", "ULAW"])
def test_only_stereo_mu_law_is_taken(tmp_path, channels, subtype):
    path = tmp_path / "a.wav"
    soundfile.write(path, np.zeros((80, channels), np.int16), 8000, subtype=subtype)
    if (channels, subtype) == (2, "ULAW"):
        assert Recording.open(path).frames == 80
    else:
        with pytest.raises(WireError, match="not stereo"):
            Recording.open(path)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"RIFF\0\0\0\0WAVEdata\0\0\0\0", b"\xff" * 5000])
def test_what_is_no_recording_is_refused(tmp_path, content):
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    with pytest.raises(WireError):
        Recording.open(path)


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-99", (0, 100)),
        ("bytes=100-", (100, 1000)),
        ("bytes=-10", (990, 1000)),
        ("bytes=-5000", (0, 1000)),
        ("bytes=990-5000", (990, 1000)),
        ("", None),
        ("bytes=0-1,5-6", None),
        ("bytes=9-1", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=٣-٤", None),
        ("lines=0-1", None),
    ],
)
def test_a_range_is_read_as_the_rfc_says(header, part):
    assert byte_range(header, 1000) == part


def test_a_range_without_an_end_is_given_by_the_megabyte():
    assert byte_range("bytes=5-", 10_000_000) == (5, 5 + 1_048_576)
    assert byte_range("bytes=5-9999999", 10_000_000) == (5, 10_000_000)


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=-0", "bytes=" + "9" * 5000 + "-"])
def test_a_range_that_is_not_there_is_said_to_be_so(header):
    with pytest.raises(ValueError, match="not there"):
        byte_range(header, 1000)
