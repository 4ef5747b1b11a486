from timeit import repeat

import pytest

from rag.language import LANGUAGES, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What time do you open?", "en"),
        ("शनिवार को क्लिनिक कब खुलता है?", "hi"),
        ("শনিবার ক্লিনিক কখন খোলে?", "bn"),
        ("શનિવારે ક્લિનિક ક્યારે ખુલે છે?", "gu"),
        ("சனிக்கிழமை எப்போது திறக்கும்?", "ta"),
        ("శనివారం క్లినిక్ ఎప్పుడు తెరుస్తారు?", "te"),
        ("Dr. Sharma का नंबर", "hi"),
        ("Vitamin B12 की report कब", "hi"),
        ("What does नमस्ते mean in the greeting that you play?", "en"),
        ("café, naïve, Привет", "en"),
        ("शुल्क ₹५००", "hi"),
        ("", "en"),
        (" \n", "en"),
        ("12:30 ₹500 ?! 😀", "en"),
        ("१२ ৫০", "en"),
    ],
)
def test_language_of(text, language):
    assert language_of(text) == language


def test_a_danda_is_of_no_script():
    assert language_of("Open now।") == "en"
    assert language_of("আমি।।।।।।।।") == "bn"


def test_of_two_scripts_the_larger_counts_and_of_equals_the_first():
    assert language_of("क క్లినిక్") == "te"
    assert language_of("क ক") == "hi"
    assert language_of("ক क") == "bn"


def test_every_language_can_be_said():
    letters = {"a": "en", "अ": "hi", "অ": "bn", "અ": "gu", "அ": "ta", "అ": "te"}
    assert {letter: language_of(letter) for letter in letters} == letters
    assert sorted(letters.values()) == sorted(LANGUAGES)


def test_a_question_takes_few_microseconds():
    question = "क्या आप शनिवार को खुले हैं और कितने बजे तक मिल सकते हैं?"
    assert min(repeat(lambda: language_of(question), number=1000, repeat=5)) / 1000 < 20e-6
