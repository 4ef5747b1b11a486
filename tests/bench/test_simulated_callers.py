"""Random callers: the same ones for the same seed, and able to say what they are made to say."""

import random

import numpy as np
import pytest

from agent.keypad_settings import KeySettings
from agent.settings import SAMPLE_KB
from bench.recordings import AUDIO
from bench.simulated import voices
from bench.simulated.made import conversation, material
from bench.simulated.plan import Conversation, Expect, Gold, Noise, Turn
from bench.simulated.sound import AROUND_S, caller_turns, digest, over_noise
from bench.simulated.voices import MADE, cast_of
from frontdesk import ConfigError
from rag import questions
from speech.audio import to_float32

QUESTIONS = SAMPLE_KB / questions.QUESTIONS_FILE
CALLS = 300
QUIET = "What time do you guys open on Saturday?"


@pytest.fixture(scope="module")
def cast():
    return cast_of(QUESTIONS, AUDIO)


@pytest.fixture(scope="module")
def found(cast):
    return material(questions.read(QUESTIONS), cast, KeySettings(), 12.0)


def calls_of(found, seed, numbers):
    return [conversation(found, number, seed) for number in numbers]


def test_a_call_of_a_seed_is_the_same_whatever_others_there_are(found):
    calls = calls_of(found, 7, range(1, 40))
    random.Random(3).shuffle(numbers := list(range(1, 40)))
    again = {call.number: call for call in calls_of(found, 7, numbers)}
    assert [again[call.number] for call in calls] == calls
    assert calls_of(found, 8, range(1, 40)) != calls


def test_the_audio_of_a_seed_is_the_same_to_the_sample(found, cast):
    calls = [call for call in calls_of(found, 7, range(1, 60)) if call.voice != "piper"][:5]
    piper = next(c for c in calls_of(found, 7, range(1, 400)) if c.voice == "piper")
    assert {call.voice in MADE for call in calls} == {True, False}
    assert any(call.noise for call in calls)

    def sent(order):
        voices._made.cache_clear()
        voices._piper.cache_clear()  # nothing that was rendered before
        return {call.number: digest(caller_turns(call, cast)) for call in order}

    first = sent([*calls, piper])
    assert first == sent([piper, *reversed(calls)])
    assert len(set(first.values())) == len(first)


def test_callers_do_everything_that_callers_do(found):
    calls = calls_of(found, 1, range(1, CALLS))
    turns = [turn for call in calls for turn in call.turns]
    kinds = {"answer", "refuse", "follow-up", "changed mind", "talk", "person", "goodbye"}
    assert {turn.kind for turn in turns} == {*kinds, "prompt", "typed"}
    assert {call.ends for call in calls} == {"hangs up", "goodbye", "abruptly"}
    assert {call.voice for call in calls} == set(found.cast.voices)
    assert 0.3 < np.mean([call.line.perfect and call.noise is None for call in calls]) < 0.6
    assert any(turn.cuts_in_ms for turn in turns)
    assert all(call.hangs_up_s for call in calls if call.ends == "abruptly")
    expected = [turn.gold.expect for call in calls for turn in call.turns[:-1]]
    assert Expect.GOODBYE not in expected, "after goodbye nobody is there to answer"


def test_a_recorded_voice_says_only_what_it_recorded(found, cast):
    for call in calls_of(found, 1, range(1, CALLS)):
        for words in (word for turn in call.turns for word in (turn.words, turn.but) if word):
            assert cast.says(call.voice, words), (call.voice, words)


def test_keys_that_the_business_has_not_are_not_pressed(cast):
    keys = KeySettings(person="", repeat="", numbers=False)
    found = material(questions.read(QUESTIONS), cast, keys, 12.0)
    assert not any(turn.keys for c in calls_of(found, 1, range(1, CALLS)) for turn in c.turns)


def test_without_a_question_to_answer_no_caller_can_be_made(cast):
    rows = [row for row in questions.read(QUESTIONS) if not row.facts]
    with pytest.raises(ConfigError, match=r"write some, or name a --script"):
        material(rows, cast, KeySettings(), 12.0)


@pytest.mark.parametrize("snr_db", [20.0, 5.0])
def test_noise_is_as_loud_as_it_says(cast, snr_db):
    speech = cast.speak("gongitsune", QUIET)
    mixed = over_noise(speech, Noise("hum", snr_db), seed=5)
    around = int(AROUND_S * 8000)
    assert len(mixed) == len(speech) + 2 * around
    noise = to_float32(mixed)[around:-around] - to_float32(speech)
    spoken = to_float32(speech)[np.abs(speech) > 300]
    measured = 10 * np.log10(np.mean(spoken**2) / np.mean(noise**2))
    assert measured == pytest.approx(snr_db, abs=1)
    before = to_float32(mixed)[:around]
    assert np.sqrt(np.mean(before**2)) > 0, "it is there before the first word"


def test_a_changed_mind_is_two_sentences_and_the_pause_between_them(cast):
    turn = Turn(
        Gold(Expect.ANSWER, (("closed",),)), QUIET, but="Okay, and what about Sunday?", pause_ms=500
    )
    (sent,) = caller_turns(Conversation("both", 1, "slt", (turn,)), cast)
    second = cast.speak("slt", turn.but)
    assert np.array_equal(sent.audio[-len(second) :], second)
    before = sent.audio[: -len(second)]
    assert not before[-4000:].any(), "half a second of silence"
    assert np.abs(before[-4001].astype(int)) > 300, "right behind the last audible sample"


def test_another_business_s_questions_are_not_said_in_recordings_of_the_sample(tmp_path):
    file = tmp_path / "questions.jsonl"
    row = '{"id": "q001", "text": "Do you fix brakes?", "audio": [{"voice": "rms", "asr": "x"}]}'
    file.write_text(f"{row}\n", "utf-8")
    assert cast_of(file, AUDIO).recorded == {}
    assert cast_of(tmp_path / "none.jsonl", AUDIO).voices == tuple(MADE)


def test_a_voice_that_has_not_said_it_names_those_that_can(cast):
    with pytest.raises(ConfigError, match=r"'rms' has no recording of 'Hm\?'.*piper"):
        cast.speak("rms", "Hm?")
