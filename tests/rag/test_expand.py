import pytest

from rag.expand import LIMIT, made_questions
from rag.expand.other_words import in_other_words
from rag.types import Passage


def made(text, heading="", language="en"):
    return made_questions(Passage("a#1", "a", heading, text, 0, 0, "", language=language))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Parking is free at the hotel.", "how much is parking"),
        ("Parking is free at the hotel.", "is parking free"),
        ("Pets are not allowed.", "are pets allowed"),
        ("Check-in time is 3:30 pm.", "what time is check in"),
        ("3:30 pm is the check-in time for guests.", "what time is check in"),
        ("The fee for a missed visit is 40 dollars.", "how much is the fee for a missed visit"),
        ("A sports form costs $15.", "how much does a sports form cost"),
        ("Family leave forms cost $15.", "how much do family leave forms cost"),
        ("A refill takes two business days.", "how long does a refill take"),
        ("Blood test results take 10 days.", "how long do blood test results take"),
        ("The usual wait is 30 to 60 minutes.", "how long is the usual wait"),
        ("The fee is due within 30 days.", "when is the fee due"),
        ("The clinic opens at 8 a.m.", "what time do you open"),
        ("The gate of Lot A closes at 7 p.m.", "what time does the gate of lot a close"),
        (
            "On Saturday the lab is open from 9 to 11 a.m.",
            "what time does the lab open on saturday",
        ),
        ("We're open from 9 a.m. to 6 p.m.", "what time do you close"),
        ("We are closed on May Day and on Labor Day.", "are you open on may day and on labor day"),
        ("Without insurance, a visit costs $120.", "how much does a visit cost without insurance"),
        ("There is a swimming pool on the roof.", "is there a swimming pool on the roof"),
        ("There is no charge for a refill.", "how much is a refill"),
        ("It has vegan options.", "are there vegan options"),
        ("Street parking isn't available here.", "is there street parking"),
        ("Credit cards are accepted.", "do you accept credit cards"),
        ("A deposit is required for groups.", "do i need deposit for groups"),
        ("Yes, you can stay with children.", "can i stay with children"),
        ("Guests can use the gym.", "can i use the gym"),
        ("We accept cash.", "do you accept cash"),
        ("We do not take walk-ins.", "do you take walk ins"),
        ("Accepts cash.", "do you accept cash"),
        ("Insurance does not pay the fee.", "does insurance pay the fee"),
        ("Call 555-0142 to cancel a booking.", "what number do i call to cancel a booking"),
        ("To cancel a booking, call 555-0142.", "what number do i call to cancel a booking"),
        ("The nurse line at 555-0142 is free.", "what is the number of the nurse line"),
        ("Bring a photo ID.", "what should i bring to my visit"),
        ("The lab is in Room 112.", "where is the lab"),
        ("You must arrive early.", "do i need to arrive early"),
        ("Patients must fast for 8 hours.", "how long do i need to fast"),
    ],
)
def test_a_statement_becomes_the_question_it_answers(text, expected):
    assert expected in made(text)


def test_two_statements_in_one_sentence():
    found = made("A school form takes 5 business days and costs 15 dollars.")
    assert "how long does a school form take" in found
    assert "how much does a school form cost" in found
    found = made("A yearly exam costs $150, and a sports exam costs $55.")
    assert "how much does a sports exam cost" in found


def test_the_value_is_never_in_the_question():
    found = made("The deposit is $250 and the lab opens at 7:15 a.m. on Monday.")
    assert found
    assert not any(value in question for question in found for value in ("250", "7:15"))


def test_a_pronoun_gives_way_to_the_heading():
    assert "how much does parking cost" in made("It costs $5.", heading="Parking")


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("how much is the fee for a missed visit", "what do you charge for a missed visit"),
        ("how much does a visit cost", "what do you charge for a visit"),
        ("what time does the gate close", "what time does the gate shut"),
        ("can i park behind the house", "can i leave the car behind the house"),
        ("when is the deposit due", "when is the money down due"),
        ("what should i bring to my visit", "what should i take along to my visit"),
        ("is the park open", "is the leave the car open"),
        ("where is the lab", ""),
        ("does parking help", ""),
    ],
)
def test_other_words_for_the_same(question, other):
    assert in_other_words(question) == other


def test_one_of_a_sentence_has_a_second_wording():
    found = made("The gate closes at 7 p.m. A visit costs $30.")
    assert found == (
        "what time does the gate close",
        "what time does the gate shut",
        "how much does a visit cost",
        "what do you charge for a visit",
    )


def test_a_number_of_a_question_is_one_of_the_passage():
    found = made("A flu shot for a child under 18 costs $20. Two adults are seen at a time.")
    assert "how much does a flu shot for a child under 18 cost" in found
    assert "are 2 adults seen at a time" in found


def test_what_makes_none():
    assert made("Do you take cards?") == ()
    assert made("Thanks!") == ()
    assert made("पार्किंग मुफ़्त है।", language="hi") == ()
    assert made("") == ()
    assert made("The pool is " + "very " * 100 + "warm.") == ()


def test_they_are_few_short_and_differ():
    text = "The lab is open on weekdays from 7 a.m. to 3 p.m. The lab is open on weekdays. " * 3
    found = made(text)
    assert len(set(found)) == len(found) <= 2 * (LIMIT + 1)
    assert all(3 <= len(question.split()) <= 16 for question in found)
    assert all(question == question.lower() for question in found)
