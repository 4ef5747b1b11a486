"""Any audio file becomes what a telephone carries, or one line says why not."""

import numpy as np
import pytest
import soundfile

from frontdesk import ConfigError
from telephony import recording
from telephony.g711 import alaw_encode, ulaw_encode
from telephony.recording import AUDIO_SUFFIXES, load_audio


def tone(rate_hz: int, secs: float = 0.5) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * 440 * np.arange(int(rate_hz * secs)) / rate_hz)


EXPECTED = 32768 * tone(8000)


@pytest.mark.parametrize(
    ("name", "rate_hz", "channels", "subtype", "within"),
    [
        ("a.wav", 8000, 1, "FLOAT", 2),
        ("a.wav", 48000, 2, "DOUBLE", 40),
        ("a.wav", 16000, 2, "PCM_24", 40),
        ("a.wav", 16000, 1, "PCM_32", 40),
        ("a.wav", 8000, 1, "PCM_U8", 300),
        ("a.wav", 8000, 1, "ULAW", 600),
        ("a.wav", 8000, 6, "ALAW", 600),
        ("a.aiff", 11025, 1, "PCM_16", 40),
        ("a.flac", 44100, 2, "PCM_24", 40),
        ("a.ogg", 16000, 1, "VORBIS", 1500),
        ("a.mp3", 16000, 2, "MPEG_LAYER_III", 1500),
    ],
)
def test_every_format_is_the_same_tone(tmp_path, name, rate_hz, channels, subtype, within):
    wave = np.tile(tone(rate_hz)[:, None], channels)
    soundfile.write(tmp_path / name, wave, rate_hz, subtype=subtype)
    audio = load_audio(tmp_path / name)
    assert audio.dtype == np.int16
    # An MP3 may be padded at either end: compare the level in the middle, and the others whole.
    if name == "a.mp3":
        assert abs(audio.size - 4000) < 1000
        assert np.abs(audio[1000:3000]).max() == pytest.approx(16384, abs=within)
    else:
        assert audio.size == 4000
        assert np.abs(audio - EXPECTED)[200:-200].max() <= within


@pytest.mark.parametrize(
    ("name", "encode"), [("a.ulaw", ulaw_encode), ("a.UL", ulaw_encode), ("a.alaw", alaw_encode)]
)
def test_headerless_telephone_audio(tmp_path, name, encode):
    (tmp_path / name).write_bytes(encode(EXPECTED.astype(np.int16)))
    assert np.abs(load_audio(tmp_path / name) - EXPECTED).max() <= 600


def test_too_loud_is_clipped_and_channels_that_cancel_are_not_lost(tmp_path):
    soundfile.write(tmp_path / "loud.wav", 6 * tone(8000), 8000, subtype="FLOAT")
    loud = load_audio(tmp_path / "loud.wav")
    assert (loud.min(), loud.max()) == (-32768, 32767)
    upside_down = np.stack([tone(8000), -tone(8000)], axis=1)
    soundfile.write(tmp_path / "phase.wav", upside_down, 8000, subtype="PCM_16")
    assert np.abs(load_audio(tmp_path / "phase.wav") - EXPECTED).max() <= 2


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.wav", ulaw_encode(EXPECTED.astype(np.int16)), "ormat not recognised; convert it"),
        ("a.m4a", b"\0\0\0\x20ftypM4A " + bytes(400), "convert it: ffmpeg"),
        ("a.raw", bytes(800), "without a header its rate"),
        ("a.ulaw", b"", "is empty"),
        ("a.ulaw", bytes(600 * 8000 + 1), "runs for more than 10 minutes"),
        ("a.wav", b"", "cannot read"),
    ],
)
def test_what_cannot_be_read_says_so_in_one_line(tmp_path, name, data, line):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=line) as caught:
        load_audio(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert (tmp_path / name).suffix in AUDIO_SUFFIXES


def test_no_samples_no_numbers_and_no_end(tmp_path, monkeypatch):
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 8000)
    soundfile.write(tmp_path / "nan.wav", np.full(800, np.nan), 8000, subtype="FLOAT")
    soundfile.write(tmp_path / "long.wav", np.zeros(16001), 8000)
    with pytest.raises(ConfigError, match="is empty"):
        load_audio(tmp_path / "none.wav")
    with pytest.raises(ConfigError, match="no numbers"):
        load_audio(tmp_path / "nan.wav")
    monkeypatch.setattr(recording, "MAX_SECONDS", 2)
    with pytest.raises(ConfigError, match="more than"):
        load_audio(tmp_path / "long.wav")
    soundfile.write(tmp_path / "long.wav", np.zeros(16000), 8000)
    assert load_audio(tmp_path / "long.wav").size == 16000
