"""Smart Turn: Pipecat's own numbers on our session, 0.2 s later, and the last layer of ours."""

import numpy as np
import pytest
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

from frontdesk import SpeechError
from speech.audio import resample, to_float32
from speech.turn import SmartTurn


@pytest.fixture(scope="module")
def smart_turn():
    return SmartTurn()


@pytest.fixture(scope="module")
def question(over_telephone):
    speech = resample(
        to_float32(over_telephone("Can you tell me when you open on Saturday?")), 8000, 16000
    )
    return np.concatenate((speech, np.zeros(1600, np.float32)))


def test_a_whole_question_is_complete_and_half_of_one_is_not(smart_turn, question):
    assert smart_turn.probability(question) > 0.7
    assert smart_turn.probability(question[: question.size // 2]) < 0.2


def test_agrees_with_pipecat_on_the_same_audio(smart_turn, question):
    reference = LocalSmartTurnAnalyzerV3()
    silence = np.zeros(3200, np.float32)
    for audio in (question, question[:9000], np.tile(question, 5)):
        expected = reference._predict_endpoint(np.concatenate((audio, silence)))["probability"]
        without = reference._predict_endpoint(audio)["probability"]
        assert smart_turn.listen(audio).own == pytest.approx(expected, abs=1e-6)
        assert abs(without - expected) > 1e-3  # so that leaving the silence out would be seen


def test_a_pause_after_whole_words_does_not_sound_like_an_end(smart_turn, over_telephone):
    """“Can I get a flu shot” is a question, and the voice tells that it was not the end of one."""
    whole = over_telephone("Can I get a flu shot?")
    longer = over_telephone("Can I get a flu shot on Saturday morning?")
    begun = longer[: whole.size * 9 // 10]
    own, probability = [], []
    for audio in (whole, begun):
        heard = resample(to_float32(audio), 8000, 16000)
        heard = np.concatenate((heard, np.zeros(1600, np.float32)))
        own.append(smart_turn.listen(heard).own)
        probability.append(smart_turn.probability(heard))
    assert probability[0] > 0.5 > probability[1]
    assert probability[0] - probability[1] > own[0] - own[1]


def test_only_the_last_8_seconds_count(smart_turn, question):
    eight = np.tile(question, 5)[-8 * 16000 :]
    longer = np.concatenate((np.full(16000, 0.5, np.float32), eight))
    assert smart_turn.probability(longer) == smart_turn.probability(eight)


@pytest.mark.parametrize(
    "audio", [np.zeros(0), np.full(16000, np.nan), np.full(10, np.inf)], ids=["empty", "nan", "inf"]
)
def test_nothing_is_still_a_probability(smart_turn, audio):
    assert 0 <= smart_turn.probability(audio.astype(np.float32)) <= 1


def test_a_failing_model_is_a_speech_error(smart_turn, monkeypatch):
    monkeypatch.setattr("speech.turn.compute_whisper_log_mel_features", lambda _: 1 / 0)
    with pytest.raises(SpeechError, match="turn model failed: division by zero"):
        smart_turn.probability(np.zeros(16000, np.float32))


def test_wrong_audio_is_an_error(smart_turn):
    with pytest.raises(SpeechError, match="1-d float32"):
        smart_turn.probability(np.zeros(16000, np.int16))
