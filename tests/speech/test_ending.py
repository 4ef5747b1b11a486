"""The recogniser's encoder tells how finished a turn sounds."""

import numpy as np
import pytest

from speech import ending
from speech.audio import resample, to_float32


@pytest.fixture(scope="module")
def question(over_telephone):
    speech = over_telephone("Can you tell me when you open on Saturday?")
    return resample(to_float32(speech), 8000, 16000)


def finished(engines, audio, silence_s):
    silence = np.zeros(round(16000 * silence_s), np.float32)
    return engines.recogniser.transcribe(np.concatenate((audio, silence))).finished


@pytest.mark.parametrize("silence_s", [0.04, 0.1])
def test_a_whole_question_sounds_finished_and_a_part_of_it_does_not(engines, question, silence_s):
    whole = finished(engines, question, silence_s)
    parts = [finished(engines, question[: int(question.size * s)], silence_s) for s in (0.3, 0.5)]
    assert whole > 0.7
    assert max(parts) < 0.4


def test_spans_are_means_before_the_end_and_of_what_was_appended():
    states = np.repeat(np.arange(100, dtype=np.float32)[:, None], 2, axis=1)  # 2.5 s, 40 a second
    appended, last, before, long_before = ending.features(states, 2.5, 0.3)[::2]
    assert appended == pytest.approx(np.arange(88, 100).mean())
    assert last == pytest.approx(np.arange(84, 88).mean())
    assert before == pytest.approx(np.arange(79, 84).mean())
    assert long_before == pytest.approx(np.arange(72, 79).mean())


def test_no_turn_is_too_short_to_judge():
    for frames in (1, 2, 13):
        states = np.ones((frames, 288), np.float32)
        assert 0 <= ending.finished(states, frames / 40, 0.3) <= 1


def test_a_turn_with_nothing_in_it_is_neither(engines):
    assert engines.recogniser.transcribe(np.zeros(16000, np.float32)).finished == 0.5
