"""The figures of who answered, on outcomes that are known; and the yardstick beside them."""

import numpy as np
import pytest

from bench.amd import by_lengths
from bench.answering_machine import Outcome, figures_of
from bench.callees import HALVES, RATE_HZ, Answered, on_line, tone


def answered(kind, words_end_ms=1000.0, beep_end_ms=None):
    audio = np.zeros(RATE_HZ, np.int16)
    return Answered("one", kind, HALVES[0], "made", audio, words_end_ms, beep_end_ms)


def test_figures_tell_every_mistake_apart():
    person, voicemail = answered("person"), answered("voicemail", beep_end_ms=3000.0)
    figures = figures_of(
        [
            Outcome(person, greeted_ms=1600.0),
            Outcome(person, greeted_ms=900.0),  # talked over
            Outcome(person, left_ms=[6000.0]),  # taken for a machine
            Outcome(person, hung_up="a menu answered"),
            Outcome(voicemail, left_ms=[3300.0]),
            Outcome(voicemail, left_ms=[2900.0]),  # before the beep
            Outcome(voicemail, left_ms=[2900.0, 3400.0]),  # and again behind it
            Outcome(voicemail, greeted_ms=1500.0, left_ms=[3300.0]),
            Outcome(voicemail, greeted_ms=1500.0),
            Outcome(answered("menu"), hung_up="a menu answered"),
            Outcome(answered("no line"), greeted_ms=2000.0),
        ]
    )
    people, voicemails = figures["people"], figures["voicemails"]
    assert (people["n"], people["taken_for_machine"], people["talked_over"]) == (4, 2, 1)
    assert people["wait"]["p50_ms"] == 600
    assert voicemails["message_left"] == 4
    assert (voicemails["greeted_first"], voicemails["greeted_first_and_message_left"]) == (2, 1)
    assert voicemails["begun_before_the_beep"] == 1
    assert voicemails["begun_again_after_it"] == 1
    assert figures["menus"] == {"n": 1, "hung_up": 1, "greeted": 0, "message_left": 0}
    assert figures["no_line"]["greeted"] == 1


@pytest.mark.parametrize(
    ("voice_ms", "decision"),
    [([], "machine"), ([600], "person"), ([1800], "machine"), ([300, 300, 300], "machine")],
)
def test_the_yardstick_goes_by_lengths(voice_ms, decision):
    pause = np.zeros(RATE_HZ // 10)
    parts = [part for ms in voice_ms for part in (tone(300, ms, -12), pause)]
    signal = np.concatenate((np.zeros(RATE_HZ // 2), *parts, np.zeros(4 * RATE_HZ)))
    audio = on_line(signal, -66, np.random.default_rng(1))
    assert by_lengths(audio, RATE_HZ) == decision
