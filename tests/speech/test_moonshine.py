"""The recogniser on speech, and on everything that is not speech."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frontdesk import SpeechError
from speech.audio import resample, to_float32
from speech.moonshine import tidy, without_loop
from speech.recogniser import MAX_AUDIO_MS

SECOND = 16000


@pytest.fixture(scope="module")
def saturday(over_telephone):
    return resample(to_float32(over_telephone("What time do you open on Saturday?")), 8000, 16000)


def test_hears_a_question(engines, saturday):
    utterance = engines.recogniser.transcribe(saturday)
    assert utterance.text == "What time do you open on Saturday?"
    assert utterance.audio_ms == pytest.approx(saturday.size / 16)
    assert 0 < utterance.decode_ms < 5000
    assert -0.5 < utterance.confidence < 0
    assert utterance.language == "en"


@pytest.mark.parametrize("gain", [0.03, 0.1, 1.4])
def test_level_does_not_matter(engines, saturday, gain):
    text = engines.recogniser.transcribe(saturday * np.float32(gain)).text
    assert text == "What time do you open on Saturday?"


def test_an_offset_of_the_line_does_not_matter(engines, saturday):
    for offset in (-0.3, 0.3):
        heard = engines.recogniser.transcribe(saturday * np.float32(0.05) + np.float32(offset))
        assert heard.text == "What time do you open on Saturday?"


def test_threads_hear_the_same(engines, saturday):
    with ThreadPoolExecutor(4) as threads:
        texts = set(threads.map(lambda _: engines.recogniser.transcribe(saturday).text, range(8)))
    assert texts == {"What time do you open on Saturday?"}


RNG = np.random.default_rng(7)
NOT_SPEECH = {
    "empty": np.zeros(0),
    "one sample": np.ones(1),
    "under 0.1 s": RNG.normal(0, 0.1, 1500),
    "digital silence": np.zeros(3 * SECOND),
    "below -60 dBFS": RNG.normal(0, 0.0005, 3 * SECOND),
    "hiss": RNG.normal(0, 0.05, 3 * SECOND),
    "hum": 0.1 * np.sin(2 * np.pi * 60 * np.arange(3 * SECOND) / SECOND),
    "constant": np.full(SECOND, 0.3),
    "click": np.eye(1, 3 * SECOND, 3000)[0],
    "not a number": np.full(SECOND, np.nan),
    "infinite": np.full(SECOND, np.inf),
}


@pytest.mark.parametrize("name", NOT_SPEECH)
def test_what_is_not_speech_is_empty(engines, name):
    utterance = engines.recogniser.transcribe(NOT_SPEECH[name].astype(np.float32))
    assert (utterance.text, utterance.confidence) == ("", -math.inf)


def test_a_burst_of_bad_samples_does_not_spoil_the_rest(engines, saturday):
    audio = saturday.copy()
    audio[100:110] = np.nan
    assert engines.recogniser.transcribe(audio).text == "What time do you open on Saturday?"


def test_the_last_30_seconds_count(engines, saturday):
    audio = np.concatenate((np.zeros(40 * SECOND, np.float32), saturday))
    utterance = engines.recogniser.transcribe(audio)
    assert utterance.audio_ms == MAX_AUDIO_MS
    assert "Saturday" in utterance.text


@pytest.mark.parametrize("error", [ValueError("shape"), MemoryError(), KeyError("past")])
def test_however_the_model_fails_it_is_a_speech_error(engines, saturday, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("speech.moonshine.Decoding", fail)
    with pytest.raises(SpeechError, match=r"^recogniser failed: ") as raised:
        engines.recogniser.transcribe(saturday)
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    "audio", [np.zeros((2, 100), np.float32), np.zeros(SECOND), np.zeros(SECOND, np.int16)]
)
def test_wrong_audio_is_an_error(engines, audio):
    with pytest.raises(SpeechError, match="1-d float32"):
        engines.recogniser.transcribe(audio)


def test_loops_are_cut():
    assert without_loop([1, 2, 3] * 6) == [1, 2, 3]
    assert without_loop([9, 8, *[5, 6, 7, 4] * 4, 1]) == [9, 8, 5, 6, 7, 4]
    assert without_loop([7] * 40) == [7]


def test_ordinary_repetition_stays():
    for tokens in ([5, 5, 5, 5], [1, 2, 3, 1, 2, 3], list(range(50)), []):
        assert without_loop(tokens) == tokens


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  What  time? ", "What time?"),
        ("You", ""),
        ("You.", ""),
        ("Do you?", "Do you?"),
        ("...", ""),
        ("♪ [music] hello", "music hello"),
        ("\ufffdyes\x00", "yes"),
        ("", ""),
    ],
)
def test_artefacts_go(raw, text):
    assert tidy(raw) == text
