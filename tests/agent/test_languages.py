"""A business whose documents are in Hindi: what is heard, answered and spoken, all for real.

What Whisper base makes of eSpeak NG's Hindi is Devanagari but not the words (docs/languages.md),
so the Hindi question goes on as text.
"""

import dataclasses

import pytest

from frontdesk import Spoken
from rag import Decision, Policy, answer, make_query, open_index
from rag.embedders import make
from speech.audio import resample
from speech.languages import language_of
from speech.recognisers import recogniser_for
from speech.telephone import over_the_line
from speech.voices import voice_for
from tests.rag.shop_kb import floors, write_kb

SATURDAY = "शनिवार को क्लिनिक सुबह 9 बजे खुलता है।"
HOURS = f"# समय\n\n{SATURDAY}\n\nरविवार को क्लिनिक बंद रहता है।\n"
PARKING = "# पार्किंग\n\nगाड़ी क्लिनिक के पीछे मुफ़्त खड़ी की जा सकती है।\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = write_kb(tmp_path_factory.mktemp("hindi"), hours=HOURS, parking=PARKING)
    index = open_index(folder, make("e5"))
    by_hand = {language: floors(index.embedder.hash) for language in ("en", "hi")}
    return dataclasses.replace(index, calibrations=by_hand)


@pytest.fixture(scope="module")
def voice():
    return voice_for("piper", ["en", "hi"])


def over_the_telephone(voice, words):
    return resample(over_the_line(voice.render(Spoken(words))), 8000, 16000)


@pytest.mark.slow
def test_hindi_is_heard_as_nothing_else_answered_and_spoken_in_hindi(index, voice):
    question = "शनिवार को क्लिनिक कितने बजे खुलता है?"
    whisper = recogniser_for("whisper", languages=["hi"])
    heard = whisper.transcribe(over_the_telephone(voice, question))
    assert heard.language == "hi"
    assert not heard.text or language_of(heard.text) == "hi"

    verdict = answer(make_query(question), index, Policy())
    assert verdict.decision is Decision.ANSWERED
    assert verdict.say.text == SATURDAY
    spoken = voice.render(verdict.say)
    only_hindi = voice_for("espeak", ["hi"]).render(verdict.say)
    assert spoken.size == pytest.approx(only_hindi.size, rel=0.01)


@pytest.mark.slow
def test_an_english_question_of_a_caller_finds_the_hindi_document(index, voice):
    whisper = recogniser_for("whisper", languages=["en", "hi"])
    heard = whisper.transcribe(over_the_telephone(voice, "When does it open on Saturday?"))
    assert heard.language == "en"
    verdict = answer(make_query(heard.text), index, Policy())
    assert verdict.hits[0].passage.id == "kb-hours#1"
