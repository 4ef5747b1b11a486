"""Listed words repair what was misheard, and are not put into what nobody said of them."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from speech.audio import resample
from speech.moonshine import Moonshine

AUDIO = Path(__file__).resolve().parent.parent / "audio"
WORDS = """
    Sunday Monday Tuesday Wednesday Thursday Friday Saturday weekday Eve appointment appointments
    cancel missed visit fee notice refill refills refilled prescription controlled medicine
    medicines blood test results vitamin flu shot vaccine insurance Medicare Medicaid walk-in
    walk-ins follow-up X-ray checkup parking pass accessible records telehealth clinic doctor
    nurse patient COVID sick note copay
""".split()

# Each also when played louder, softer or with a little noise, but for one try in eight of some.
REPAIRED = [
    (
        "espeak_us/q006",
        "When will I get my blood test reloads?",
        "When will I get my blood test results?",
    ),
    (
        "kal16/q053",
        "How long does it take to refill a control medicine?",
        "How long does it take to refill a controlled medicine?",
    ),
    (
        "awb/q067",
        "What does a foolish heart cost for my kid?",
        "What does a flu shot cost for my kid?",
    ),
    (
        "gongitsune/q160",
        "How much is a monthly parking-back?",
        "How much is a monthly parking pass?",
    ),
]
OUT_OF_SCOPE = [
    ("joe/q182", "Who won the game last night?"),
    ("kal16/q185", "How do I fix a flat tire?"),
    ("joe/q186", "What's the capital of Australia?"),
    ("awb/q195", "How do I reset the password on my laptop?"),
    ("rms/q196", "What's the score of the football game?"),
    ("slt/q189", "What time does the grocery store close?"),
    ("espeak_us/q184", "How do I get to the airport from downtown?"),
    ("gongitsune/q199", "Do you sell concert tickets?"),
]
# Clips about other things that are heard wrong, with the listed words and without.
OUT_OF_SCOPE_MISHEARD = [
    "awb/q181", "slt/q183", "rms/q190", "gongitsune/q190", "kal16/q191", "espeak_us/q194",
    "slt/q197", "espeak_us/q202",
]  # fmt: skip


@pytest.fixture(scope="module")
def leaning():
    return Moonshine(WORDS)


def clip(name: str) -> np.ndarray:
    samples, rate_hz = soundfile.read(AUDIO / f"{name}.flac", dtype="float32")
    return resample(samples, rate_hz, 16000)


@pytest.mark.parametrize(("name", "without", "with_words"), REPAIRED, ids=[r[0] for r in REPAIRED])
def test_repairs(engines, leaning, name, without, with_words):
    assert engines.recogniser.transcribe(clip(name)).text == without
    assert leaning.transcribe(clip(name)).text == with_words


@pytest.mark.parametrize(("name", "text"), OUT_OF_SCOPE, ids=[name for name, _ in OUT_OF_SCOPE])
def test_other_subjects_are_heard_as_they_are(leaning, name, text):
    assert leaning.transcribe(clip(name)).text == text


@pytest.mark.parametrize("name", OUT_OF_SCOPE_MISHEARD)
def test_other_subjects_do_not_turn_into_listed_words(leaning, name):
    text = leaning.transcribe(clip(name)).text
    listed = {word.lower() for word in WORDS}
    assert text
    assert not [word for word in text.lower().strip("?.").split() if word.strip(",") in listed]


RNG = np.random.default_rng(7)
TIME = np.arange(3 * 16000) / 16000


@pytest.mark.parametrize(
    "sound",
    [
        np.zeros(48000),
        RNG.normal(0, 0.05, 48000),
        RNG.normal(0, 0.01, 48000),
        RNG.normal(0, 0.05, 160000),
        0.1 * np.sin(2 * np.pi * 60 * TIME),
        0.2 * (np.sin(2 * np.pi * 697 * TIME) + np.sin(2 * np.pi * 1209 * TIME)),
        np.eye(1, 48000, 3000)[0],
    ],
    ids=["silence", "hiss", "quiet hiss", "10 s of hiss", "hum", "a key", "a click"],
)
def test_noise_does_not_turn_into_listed_words(leaning, sound):
    assert leaning.transcribe(sound.astype(np.float32)).text == ""


def test_words_that_are_nowhere_near_change_nothing():
    text = Moonshine(["☎", "żółć"]).transcribe(clip("espeak_us/q006")).text
    assert text == "When will I get my blood test reloads?"
