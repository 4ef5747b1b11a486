"""Facts that a model may not swap, drop a day of, or turn round."""

import pytest

from agent.generation.shown import Shown
from agent.generation.stated import answers, stands
from rag import make_query

SWIM = "A swim costs $5 for adults and $3 for children."
WEEK = "We are open on weekdays from 8 a.m. to 6 p.m. and on Saturday from 9 a.m. to 1 p.m."
STAY = "Check-in is from 3 p.m. and check-out is until 11 a.m."
FEES = "The deposit is $50 per night. The cancellation fee is $40. Cancel at least 24 hours before."
TESTS = "Lab results take 3 business days and X-ray results take 5 business days."


@pytest.mark.parametrize(
    ("question", "passage", "said", "problem"),
    [
        ("how much is a swim for a child", SWIM, "Children pay $3 for a swim.", ""),
        ("how much is a swim for a child", SWIM, "Children pay $5 for a swim.", "said of adult"),
        ("when do you open on saturday", WEEK, "On Saturday we open at 9 a.m.", ""),
        ("when do you open on saturday", WEEK, "We open at 9 a.m.", ""),
        ("when do you open on saturday", WEEK, "On Saturday we open at 8 a.m.", "holds on"),
        ("when do you open on saturday", WEEK, "We open at 8 a.m.", "holds on"),
        ("when do you open", WEEK, "We open at 9 a.m.", "holds on saturday alone"),
        ("when do you close on saturday", WEEK, "We close at 1 p.m.", ""),
        ("when do you close on saturday", WEEK, "We close at 9 a.m.", "opening, not closing"),
        ("when do you open on saturday", WEEK, "We open at 1 p.m.", "closing, not opening"),
        ("when is check out", STAY, "You can check out by 11 a.m.", ""),
        ("when is check out", STAY, "You can check out until 3 p.m.", "said of check-in"),
        ("how much is the deposit", FEES, "The deposit is $50 per night.", ""),
        ("how much is the deposit", FEES, "The deposit is $40.", "not of deposit"),
        ("how much is the deposit", FEES, "The deposit is $50 per person.", "not per person"),
        ("when can i cancel", FEES, "You can cancel at least 24 hours before.", ""),
        ("when can i cancel", FEES, "Cancel exactly 24 hours before.", "at least"),
        ("when do i get x-ray results", TESTS, "X-ray results take 5 business days.", ""),
        ("when do i get x-ray results", TESTS, "X-ray results take 3 business days.", "5 day"),
    ],
)
def test_a_fact_is_said_of_what_its_passage_says_it_of(question, passage, said, problem):
    check = stands(make_query(question), said, [Shown("kb-x#1", passage)])
    assert check.name == "facts_in_passage"
    assert problem in check.detail
    assert check.passed is (problem == "")


def test_a_heading_says_what_day_the_facts_below_are_of():
    passage = [Shown("kb-x#1", "We open at 9 a.m.", heading="Saturday")]
    query = make_query("when do you open on saturday")
    assert stands(query, "On Saturday we open at 9 a.m.", passage).passed


def test_a_fact_must_be_the_one_that_was_asked_for():
    query = make_query("when do you close on saturday")
    assert answers(query, "On Saturday we close at 1 p.m.", None).passed
    check = answers(query, "On Sunday we close at 1 p.m.", None)
    assert (check.name, check.passed) == ("facts", False)
    assert "sunday" in check.detail
