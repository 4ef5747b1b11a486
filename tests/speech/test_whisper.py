"""Whisper on speech in several languages, and on what is no speech."""

from dataclasses import replace

import numpy as np
import pytest

from frontdesk import ConfigError, ModelFileError, SpeechError
from frontdesk.models import locate, manifest
from speech.audio import resample, to_float32
from speech.recognisers import recogniser_for
from speech.types import Hint
from speech.whisper import Whisper, is_in_another_script, is_invented
from speech.whisper_files import files

SECOND = 16000
QUESTION = "What time do you open on Saturday?"
RNG = np.random.default_rng(7)
NOT_SPEECH = {
    "empty": np.zeros(0),
    "under 0.1 s": RNG.normal(0, 0.1, 1500),
    "digital silence": np.zeros(3 * SECOND),
    "below -60 dBFS": RNG.normal(0, 0.0005, 3 * SECOND),
    "hiss": RNG.normal(0, 0.05, 3 * SECOND),
    "hum": 0.1 * np.sin(2 * np.pi * 60 * np.arange(3 * SECOND) / SECOND),
    "click": np.eye(1, 3 * SECOND, 3000)[0],
    "not a number": np.full(SECOND, np.nan),
}


@pytest.fixture(scope="module")
def tiny():
    return Whisper("whisper-tiny-en")


@pytest.fixture(scope="module")
def saturday(over_telephone):
    return resample(to_float32(over_telephone(QUESTION)), 8000, SECOND)


def test_tiny_hears_a_question(tiny, saturday):
    utterance = tiny.transcribe(saturday)
    assert utterance.text == QUESTION
    assert utterance.language == "en"
    assert -0.5 < utterance.confidence < 0
    assert utterance.audio_ms == pytest.approx(saturday.size / 16)


@pytest.mark.parametrize("name", NOT_SPEECH)
def test_what_is_not_speech_is_empty(tiny, name):
    utterance = tiny.transcribe(NOT_SPEECH[name].astype(np.float32))
    assert (utterance.text, utterance.confidence) == ("", float("-inf"))


def test_hotwords_and_hints_lead_the_prompt(tiny):
    def shown(hint, hotwords):
        prompt = tiny._prompt("en", hint, hotwords)
        return tiny._tokenizers["en"].tokenizer.decode(prompt, skip_special_tokens=True)

    assert shown(Hint.NONE, ["walk-ins", "Dr. Okafor"]) == " walk-ins, Dr. Okafor"
    assert shown(Hint.NONE, []) == ""
    assert shown(Hint.DIGITS, ["walk-ins"]) == " walk-ins. 7."
    assert len(tiny._prompt("en", Hint.NONE, ["appointment"] * 500)) < 230


@pytest.mark.slow
def test_base_tells_which_of_its_languages_is_spoken(saturday):
    base = recogniser_for("whisper", languages=["en", "hi", "ta"])
    utterance = base.transcribe(saturday)
    assert (utterance.text, utterance.language) == (QUESTION, "en")
    only_hindi = recogniser_for("whisper", languages=["hi"])
    assert only_hindi.transcribe(saturday).language == "hi"
    assert only_hindi._model is base._model


@pytest.mark.parametrize(
    ("model", "languages", "line"),
    [
        ("whisper-huge", ["en"], "no Whisper model 'whisper-huge'"),
        ("whisper-tiny-en", ["hi"], "does not know the language 'hi'; it knows en"),
        ("whisper-tiny-en", [], "needs a language"),
    ],
)
def test_what_cannot_hear_says_why(model, languages, line):
    with pytest.raises(ConfigError, match=line):
        Whisper(model, languages=languages)


def test_other_audio_is_an_error(tiny):
    with pytest.raises(SpeechError, match="1-d float32"):
        tiny.transcribe(np.zeros(SECOND))


def test_a_folder_that_is_no_model_is_an_error(tmp_path):
    with pytest.raises(SpeechError, match="cannot load the Whisper model"):
        Whisper(str(tmp_path))


def test_parts_are_joined_in_order():
    first, second = (locate(f"whisper-base-part{n}").read_bytes() for n in (1, 2))
    assert files("whisper-base")["model.bin"] == first + second


def test_an_altered_part_is_refused(monkeypatch):
    entry = manifest()["whisper-base-part2"]
    monkeypatch.setitem(manifest(), "whisper-base-part2", replace(entry, sha256="0" * 64))
    with pytest.raises(ModelFileError, match=r"'whisper-base-part2' .* altered"):
        files("whisper-base")


@pytest.mark.parametrize(
    ("text", "confidence", "invented"),
    [
        ("What time do you open?", -0.2, False),
        ("What time do you open?", -1.1, True),
        ("Thank you for watching!", -0.3, True),
        ("no no no no", -0.3, False),
        ("Okay, " * 20, -0.3, True),
        ("क्या खून की जाँच के लिए समय लेना पड़ता है?", -0.3, False),
    ],
)
def test_what_is_invented(text, confidence, invented):
    assert is_invented(text, confidence) is invented


@pytest.mark.parametrize(
    ("text", "language", "another"),
    [
        ("खून की जाँच", "hi", False),
        ("CT scan की कीमत", "hi", False),
        ("ทุกดีค่า", "te", True),
        ("خون", "hi", True),
        ("Café", "en", False),
        ("खून", "en", True),
        ("Привет", "ru", False),
    ],
)
def test_what_is_in_another_script(text, language, another):
    assert is_in_another_script(text, language) is another
