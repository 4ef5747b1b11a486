"""What leaves the house has harmless values of the same shape."""

import re

import pytest

from agent.luhn import passes_luhn
from agent.privacy import find, kept_values, stand_ins


@pytest.mark.parametrize(
    ("said", "shape"),
    [
        ("my number is 312-917-4412", r"my number is 202-555-01\d\d"),
        ("call nine one seven four four one two", r"call five five five zero one \w+ \w+"),
        ("card 4539 1488 0343 6467", r"card (\d{4} ){3}\d{4}"),
        ("write to k.jensen@corp.org", r"write to \w+\.\w+@example\.com"),
        ("it's kai dot lee at gmail dot com", r"it's \w+ dot \w+ at example dot com"),
        ("born 1988-11-02", r"born 1980-\d\d-\d\d"),
        ("born on May 5th, 1958", r"born on \w+ \d, 1980"),
        ("born the fifth of may nineteen fifty", r"born the \w+ of \w+ nineteen eighty"),
        ("My name is Kavita Rao.", r"My name is [A-Z]\w+ [A-Z]\w+\."),
        ("policy XYZ884420193", r"policy XXX\d{9}"),
        ("[name] at [phone number]", r"Jane at 202-555-0142"),
    ],
)
def test_a_value_has_a_stand_in_of_its_shape(said, shape):
    given = stand_ins(said)
    assert re.fullmatch(shape, given)
    assert given != said
    assert given == stand_ins(said), "always the same one"


def test_the_same_value_is_the_same_one_elsewhere():
    first, second = stand_ins("my phone is 312-917-4412"), stand_ins("call 312 917 4412 today")
    assert re.findall(r"\d\d$", first) == re.findall(r"01(\d\d) today", second)


def test_cards_are_those_for_tests_and_pass_as_cards():
    given = re.sub(r"\D", "", stand_ins("my visa is 4539148803436467"))
    assert given != "4539148803436467"
    assert passes_luhn(given)


def test_the_documents_own_number_is_left_and_never_drawn():
    keep = kept_values([f"Call 555-01{n:02}." for n in range(99)])
    assert stand_ins("call 555-0142 or my phone 917-4412", keep) == (
        "call 555-0142 or my phone 555-0199"
    )


def test_what_is_left_is_nobodys_question():
    asked = "do you open at 8 on the 4th of july"
    assert stand_ins(asked) == asked
    assert not find(asked)
