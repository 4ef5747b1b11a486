"""Voices of several languages: eSpeak NG, and which one speaks what."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frontdesk import ConfigError, Spoken
from speech.audio import levels, resample, to_float32
from speech.espeak import EspeakVoice
from speech.languages import language_of
from speech.phrased import Phrase
from speech.piper import Voice
from speech.voices import SpokenElsewhere, voice_for

SENTENCES = {
    "en": "The clinic opens at nine on Saturday.",
    "hi": "क्लिनिक शनिवार को सुबह नौ बजे खुलता है।",
    "gu": "ક્લિનિક શનિવારે સવારે નવ વાગ્યે ખુલે છે.",
    "te": "క్లినిక్ శనివారం ఉదయం తొమ్మిది గంటలకు తెరుచుకుంటుంది.",
    "bn": "ক্লিনিক শনিবার সকাল নয়টায় খোলে।",
    "ta": "கிளினிக் சனிக்கிழமை காலை ஒன்பது மணிக்கு திறக்கும்.",
}
ALL = tuple(SENTENCES)


@pytest.fixture(scope="module")
def espeak():
    return EspeakVoice(ALL)


@pytest.mark.parametrize("language", ALL)
def test_a_sentence_of_each_language_is_at_telephone_level(espeak, language):
    audio = espeak.render(Spoken(SENTENCES[language]))
    assert 1.5 < audio.size / 8000 < 6
    assert np.abs(audio[:200]).max() > 300
    assert np.abs(audio).max() < 0.71 * 32768
    assert 20 * np.log10(levels(to_float32(audio), 8000)[1]) == pytest.approx(-20, abs=3)


def alike(one, other):
    """eSpeak NG never makes the same samples twice; the length tells who said what."""
    return one.size == pytest.approx(other.size, rel=0.01)


def test_a_language_is_spoken_by_its_own_voice(espeak):
    hindi = Phrase(SENTENCES["hi"])
    assert alike(espeak.synthesise(hindi), EspeakVoice(["hi"]).synthesise(hindi))
    assert not alike(espeak.synthesise(hindi), EspeakVoice(["en"]).synthesise(hindi))


def test_the_fallback_is_understood(espeak, engines):
    question = "What time do you open on Saturday?"
    audio = resample(to_float32(espeak.render(Spoken(question))), 8000, 16000)
    assert engines.recogniser.transcribe(audio).text == question


def test_threads_do_not_mix_languages_or_words(espeak):
    phrases = [Phrase(SENTENCES[language]) for language in ALL]
    alone = [espeak.synthesise(phrase) for phrase in phrases]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(espeak.synthesise, phrases * 8))
    assert all(alike(one, alone[at % len(ALL)]) for at, one in enumerate(together))


def test_slower_takes_longer(espeak):
    words = SENTENCES["ta"]
    usual, slow = espeak.synthesise(Phrase(words)), espeak.synthesise(Phrase(words, 1.25))
    assert slow.size / usual.size == pytest.approx(1.25, abs=0.08)


@pytest.mark.parametrize("words", ["", " ", "...", "।"])
def test_no_words_are_no_samples(espeak, words):
    assert espeak.synthesise(Phrase(words)).size == 0


def test_a_text_with_a_nul_is_said_whole(espeak):
    whole = espeak.synthesise(Phrase("nine ten eleven"))
    assert alike(espeak.synthesise(Phrase("nine\0 ten eleven")), whole)


def test_beside_piper_only_other_languages_are_espeaks(engines, espeak):
    voice = voice_for("piper", ["en", "hi", "ta"])
    english, hindi = Phrase(SENTENCES["en"]), Phrase(SENTENCES["hi"])
    assert np.array_equal(voice.synthesise(english), engines.voice.synthesise(english))
    assert alike(voice.synthesise(hindi), espeak.synthesise(hindi))
    assert voice.identity != voice_for("piper", ["en", "hi"]).identity
    assert voice.language == "en"


def test_one_language_is_the_voice_itself():
    assert type(voice_for()) is Voice


@pytest.mark.parametrize(
    ("engine", "languages", "line"),
    [
        ("festival", ["en"], "no voice 'festival'"),
        ("piper", ["hi"], 'set voice.engine = "espeak"'),
        ("espeak", ["xx"], "does not speak 'xx'"),
        ("espeak", [], "needs a language"),
    ],
)
def test_what_cannot_speak_says_why(engine, languages, line):
    with pytest.raises(ConfigError, match=line):
        voice_for(engine, languages)


def test_where_a_service_speaks_nothing_is_rendered():
    voice = SpokenElsewhere()
    assert voice.is_ready(Spoken("Anything."))
    assert voice.prepare(Spoken("Anything.")) == 0
    assert voice.render(Spoken("Anything.")).size == 0


@pytest.mark.parametrize(
    ("text", "among", "language"),
    [
        ("Dr. Sharma का नंबर", ALL, "hi"),
        ("খোলা আছে।", ALL, "bn"),
        ("Open at 9", ALL, "en"),
        ("Open at 9", ("hi", "ta"), "hi"),
        ("ગુજરાતી", ("en", "hi"), "en"),
        ("café", ALL, "en"),
        ("", ALL, "en"),
    ],
)
def test_the_script_tells_the_language(text, among, language):
    assert language_of(text, among) == language
