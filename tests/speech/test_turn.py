"""Smart Turn: the numbers of Pipecat's own analyzer, on our session, 0.2 s later."""

import numpy as np
import pytest
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

from frontdesk import SpeechError
from speech.audio import resample, to_float32


@pytest.fixture(scope="module")
def question(over_telephone):
    speech = resample(
        to_float32(over_telephone("Can you tell me when you open on Saturday?")), 8000, 16000
    )
    return np.concatenate((speech, np.zeros(1600, np.float32)))


def test_a_whole_question_is_complete_and_half_of_one_is_not(engines, question):
    assert engines.smart_turn.probability(question) > 0.8
    assert engines.smart_turn.probability(question[: question.size // 2]) < 0.3


def test_agrees_with_pipecat_on_the_same_audio(engines, question):
    reference = LocalSmartTurnAnalyzerV3()
    silence = np.zeros(3200, np.float32)
    for audio in (question, question[:9000], np.tile(question, 5)):
        expected = reference._predict_endpoint(np.concatenate((audio, silence)))["probability"]
        without = reference._predict_endpoint(audio)["probability"]
        assert engines.smart_turn.probability(audio) == pytest.approx(expected, abs=1e-6)
        assert abs(without - expected) > 1e-3  # so that leaving the silence out would be seen


def test_only_the_last_8_seconds_count(engines, question):
    eight = np.tile(question, 5)[-8 * 16000 :]
    longer = np.concatenate((np.full(16000, 0.5, np.float32), eight))
    assert engines.smart_turn.probability(longer) == engines.smart_turn.probability(eight)


@pytest.mark.parametrize(
    "audio", [np.zeros(0), np.full(16000, np.nan), np.full(10, np.inf)], ids=["empty", "nan", "inf"]
)
def test_nothing_is_still_a_probability(engines, audio):
    assert 0 <= engines.smart_turn.probability(audio.astype(np.float32)) <= 1


def test_a_failing_model_is_a_speech_error(engines, monkeypatch):
    monkeypatch.setattr("speech.turn.compute_whisper_log_mel_features", lambda _: 1 / 0)
    with pytest.raises(SpeechError, match="turn model failed: division by zero"):
        engines.smart_turn.probability(np.zeros(16000, np.float32))


def test_wrong_audio_is_an_error(engines):
    with pytest.raises(SpeechError, match="1-d float32"):
        engines.smart_turn.probability(np.zeros(16000, np.int16))
