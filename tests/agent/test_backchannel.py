"""Words over the agent's voice: which of them want the turn."""

import pytest

from agent.backchannel import is_mistaken, takes_turn
from agent.session import Session
from rag import Policy

SAYING = "On Saturday the clinic is open from 9 a.m. to 1 p.m."


@pytest.mark.parametrize(
    "text", ["", "Mhm.", "Mm-hmm.", "Uh-huh.", "Right.", "Okay.", "Yeah.", "I see.", "M. H. M.."]
)
def test_who_only_listens_does_not_take_the_turn(text):
    assert takes_turn(text, SAYING) is False


@pytest.mark.parametrize(
    "text",
    ["Stop.", "No.", "Wait a moment.", "Okay, and on Sunday?", "What?", "Thanks.", "On Saturday?"],
)
def test_who_means_it_does(text):
    assert takes_turn(text, SAYING) is True


def test_an_echo_comes_back_while_the_next_sentence_is_said():
    reply = "Thanks for calling the clinic. How can I help you?"
    assert takes_turn("Thanks for calling the", "How can I help you?", reply) is False


def test_yes_answers_a_question():
    assert takes_turn("Yes.", "Shall I go on?") is True
    assert takes_turn("Yes.", SAYING) is False
    assert takes_turn("", "Shall I go on?") is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On Saturday the clinic is open", False),
        ("saturday the clinic his open from 9", False),
        ("Is the clinic open on Sunday from 9", True),
        ("the clinic", True),
    ],
)
def test_the_agents_own_words_are_an_echo(text, expected):
    assert takes_turn(text, SAYING) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("Don't hurt.", True), ("Sunday?", False), ("bananas", True)]
)
def test_a_word_or_two_that_lead_nowhere_were_no_question(clinic, text, expected):
    assert is_mistaken(Session(clinic, Policy()).reply(text).verdict) is expected


def test_a_whole_question_that_leads_nowhere_was_one(clinic):
    assert not is_mistaken(Session(clinic, Policy()).reply("What's the Wi-Fi password?").verdict)


@pytest.mark.parametrize(
    ("text", "confidence", "expected"),
    [("Bye.", -0.9, True), ("Bye.", -0.1, False), ("Thanks, bye bye.", -0.9, False)],
)
def test_nobody_is_hung_up_on_for_one_word_half_heard(clinic, text, confidence, expected):
    verdict = Session(clinic, Policy()).reply(text).verdict
    assert is_mistaken(verdict, confidence) is expected
