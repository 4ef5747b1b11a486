"""How long to wait: numbers half said, sentences half said, and what is whole."""

import pytest

from agent.completeness import completeness
from agent.half_said import half_said
from agent.patience import finished, patience_ms
from agent.turns import TurnPolicy
from speech.types import Hint

POLICY = TurnPolicy(settle_ms=200, unsure_ms=850, dangling_ms=1200, complete_probability=0.65)


@pytest.mark.parametrize(
    "text",
    [
        "My number is 555",
        "my phone number is",
        "You can reach me at five one nine.",
        "You can reach me at 068-403-",
        "Two, seven, three.",
        "it's six nine four",
        "Five.",
        "555-0123 4",
        "The number is over for four.",  # “oh four four”, misheard
        "area code 415",
        "my name is J O",
        "it is spelled B.",
        "my birthday is March",
    ],
)
def test_what_is_half_said_waits_however_it_sounds(text):
    assert half_said(text)
    assert patience_ms(text, 0.999, POLICY) == POLICY.dangling_ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "My number is 555-0123.",
        "Two, seven, three, four, six, four, six.",
        "It's four one five, five five five, oh one two three",
        "You can reach me at triple five, oh one double two.",
        "my number is five fifty five, twenty one eleven",
        "Can I come at five thirty?",
        "do you open at 8",
        "Do I need to call twenty four hours before?",
        "are you open on July 4",
        "are you closed in March",
        "What is your phone number?",
        "is plan B covered",
        "What about vitamin D?",
        "my son is 5",
    ],
)
def test_other_words_and_whole_numbers_do_not(text):
    assert not half_said(text)


def test_after_asking_for_digits_any_number_is_one_to_complete():
    assert not half_said("on floor twelve, room 50")
    assert half_said("on floor twelve, room 50", Hint.DIGITS)
    assert not half_said("555 0123", Hint.DIGITS)
    assert half_said("in April", Hint.DATE)
    assert patience_ms("in April", 0.999, POLICY) == POLICY.settle_ms
    assert patience_ms("in April", 0.999, POLICY, expects=Hint.DATE) == POLICY.dangling_ms


@pytest.mark.parametrize(
    ("whole", "begun"),
    [
        ("do you accept dogs", "do you accept"),
        ("is there parking nearby", "is there"),
        ("what time does the kitchen close", "what time does the kitchen"),
        ("can I pay with a credit card", "can I pay with a credit"),
        ("what does a double room cost", "what does a double"),
    ],
)
def test_a_whole_sentence_reads_more_complete_than_its_beginning(whole, begun):
    assert completeness(whole) > completeness(begun) + 1


def test_nothing_said_reads_neither_way():
    assert completeness("") == completeness("…") == 0.0


def test_sound_and_words_together_decide_how_long_to_wait():
    whole, begun = "is there parking nearby", "is there parking for"
    assert patience_ms(whole, 0.9, POLICY) == POLICY.settle_ms
    assert patience_ms(whole, 0.3, POLICY) == POLICY.unsure_ms
    assert patience_ms(whole, 0.001, POLICY) == POLICY.dangling_ms
    assert patience_ms(begun, 0.8, POLICY) == POLICY.unsure_ms
    assert patience_ms("is there parking and", 0.999, POLICY) == POLICY.dangling_ms
    assert finished(whole, 0.9) > finished(whole, 0.6) > finished(begun, 0.6)


def test_without_evidence_the_cap_holds():
    assert patience_ms(None, 0.9, POLICY) == POLICY.cap_ms
    assert patience_ms("is there parking nearby", None, POLICY) == POLICY.cap_ms


def test_a_caller_who_pauses_is_given_more_time():
    whole = "is there parking nearby"
    probability = 0.7
    assert patience_ms(whole, probability, POLICY) == POLICY.settle_ms
    assert patience_ms(whole, probability, POLICY, resumed=8) == POLICY.unsure_ms
    chances = [finished(whole, probability, resumed) for resumed in range(4)]
    assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_a_certain_model_is_no_error(probability):
    assert 0 <= finished("is there parking nearby", probability) <= 1
