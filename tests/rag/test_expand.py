import pytest

from rag.expand import LIMIT, made_questions
from rag.types import Passage


def made(text, heading="", language="en"):
    return made_questions(Passage("a#1", "a", heading, text, 0, 0, "", language=language))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Parking is free at the hotel.", "is parking free at the hotel"),
        ("Pets are not allowed.", "are pets allowed"),
        ("Check-in time is 3:30 pm.", "what time is check-in time"),
        ("The fee for a missed visit is 40 dollars.", "how much is the fee for a missed visit"),
        ("A sports form costs $15.", "how much does a sports form cost"),
        ("A refill takes two business days.", "how long does a refill take"),
        ("Blood test results take 10 days.", "how long do blood test results take"),
        ("The clinic opens at 8 a.m.", "what time does the clinic open"),
        ("On Saturday the lab is open from 9 a.m. to 11 a.m.", "when is the lab open on saturday"),
        ("Without insurance, a visit costs $120.", "how much does a visit cost without insurance"),
        ("There is a swimming pool on the roof.", "do you have swimming pool on the roof"),
        ("Yes, you can stay with children.", "can i stay with children"),
        ("Guests can use the gym.", "can i use the gym"),
        ("We accept cash.", "do you accept cash"),
        ("We do not take walk-ins.", "do you take walk-ins"),
        ("Call 555-0142 to cancel a booking.", "what number do i call to cancel a booking"),
        ("Bring a photo ID.", "what should i bring to my visit"),
        ("The lab is in Room 112.", "where is the lab"),
        ("You must arrive early.", "do i need to arrive early"),
    ],
)
def test_a_statement_becomes_the_question_it_answers(text, expected):
    assert expected in made(text)


def test_two_statements_in_one_sentence():
    found = made("A school form takes 5 business days and costs 15 dollars.")
    assert "how long does a school form take" in found
    assert "how much does a school form cost" in found


def test_the_value_is_never_in_the_question():
    found = made("The deposit is $250 and the lab opens at 7:15 a.m. on Monday.")
    assert found
    assert not any(value in question for question in found for value in ("250", "7:15"))


def test_a_pronoun_gives_way_to_the_heading():
    assert "how much does parking cost" in made("It costs $5.", heading="Parking")


def test_what_makes_none():
    assert made("Do you take cards?") == ()
    assert made("Thanks!") == ()
    assert made("पार्किंग मुफ़्त है।", language="hi") == ()
    assert made("") == ()


def test_they_are_few_short_and_differ():
    text = "The lab is open on weekdays from 7 a.m. to 3 p.m. The lab is open on weekdays. " * 3
    found = made(text)
    assert len(set(found)) == len(found) <= 2 * LIMIT
    assert all(3 <= len(question.split()) <= 16 for question in found)
    assert all(question == question.lower() for question in found)
