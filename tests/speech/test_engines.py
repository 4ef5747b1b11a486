"""All calls are made from one set of models, whichever those are."""

import dataclasses

import pytest

from frontdesk import ConfigError, Spoken
from speech.engines import Engines, Hearing, Speaking
from speech.espeak import EspeakVoice
from speech.moonshine import Moonshine
from speech.recognisers import recogniser_for
from speech.vad import DEFAULT_PARAMS

STT = "pipecat.services.openai.stt:OpenAISTTService"
TTS = "pipecat.services.openai.tts:OpenAITTSService"


def test_calls_share_models_and_nothing_else(engines):
    one, other = engines.stt(), engines.stt()
    assert one is not other
    assert one._recogniser is other._recogniser is engines.recogniser
    assert engines.tts()._voice is engines.tts()._voice is engines.voice
    vads = [engines.vad_analyzer(8000) for _ in range(2)]
    assert vads[0]._model._session is vads[1]._model._session
    assert vads[0]._model is not vads[1]._model
    assert vads[0].params == DEFAULT_PARAMS


def test_other_words_change_the_recogniser_only(engines):
    other = engines.listening_for(["walk-ins"])
    assert isinstance(other.recogniser, Moonshine)
    assert other.recogniser is not engines.recogniser
    assert dataclasses.replace(other, recogniser=engines.recogniser) == engines


def test_services_stand_in_for_both(monkeypatch):
    key = {"api_key": "k"}
    made = Engines.load(Hearing(STT, arguments=key), Speaking(TTS, arguments=key))
    assert made.recogniser is None
    assert made.listening_for(["walk-ins"]) is made
    assert made.voice.is_ready(Spoken("Anything."))
    assert made.stt() is not made.stt()
    assert made.tts() is not made.tts()


def test_the_voice_of_another_engine():
    voice = Speaking("espeak", ("hi", "en")).voice(16000)
    assert isinstance(voice, EspeakVoice)
    assert (voice.sample_rate_hz, voice.language) == (16000, "hi")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("moonshine", "", ["hi"]), 'set recogniser.engine = "whisper"'),
        (("moonshine", "large"), "leave recogniser.model empty"),
        (("sherpa",), r"sherpa needs recogniser\.model, a folder"),
        (("sherpa", "/none"), r"no tokens\.txt"),
        (("vosk",), "no recogniser 'vosk': moonshine, whisper, sherpa, or package"),
    ],
)
def test_a_recogniser_that_cannot_be_says_why(arguments, line):
    with pytest.raises(ConfigError, match=line):
        recogniser_for(*arguments)
