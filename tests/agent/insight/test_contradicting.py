"""What contradicts, and what only says it otherwise."""

import pytest

from agent.insight.contradicting import Said, contradiction

CLOSE = "what time do you close on saturday"
CONTRADICT = [
    (CLOSE, "On Saturday we close at 1 p.m.", "On Saturday we close at 2 p.m.", "1 p.m., now 2"),
    (CLOSE, "Saturday hours are 9 a.m. to 1 p.m.", "We are closed on Saturday.", "closed"),
    ("how much is a visit", "A visit costs $120.", "A visit costs 135 dollars.", "$120"),
    ("how much is a visit", "A visit is free.", "A visit costs $20.", "free, now $20"),
    ("how long does a refill take", "It takes 3 days.", "It takes 5 days.", "3 days, now 5 days"),
    ("what is your number", "Call 555-0133.", "Call 555-0199.", "phone: 555-0133, now 555-0199"),
    ("when is the flu clinic", "The flu clinic is on Tuesday.", "The flu clinic is on Friday.",
     "day: tuesday, now friday"),
    ("do you take checks", "We accept cash and personal checks.",
     "We accept cash, but no personal checks.", "denied now"),
    ("do you take checks", "Yes, we do.", "No, we do not.", "yes, now no"),
    ("can i bring my dog", "Dogs are allowed in the lobby.",
     "Dogs are not allowed in the lobby.", "denied now"),
    ("how often does the bus come", "The bus stops here every 20 minutes.",
     "The bus stops here every 30 minutes.", "every 20 minutes"),
]  # fmt: skip
AGREE = [
    (CLOSE, "On Saturday we close at 1 p.m.", "We close at 1:00 p.m. on Saturdays."),
    (CLOSE, "On Saturday we are open from 9 to 1.", "On Saturday we are open 9 a.m. to 1 p.m."),
    (CLOSE, "On Saturday we close at 1 p.m.", "On Saturday we close at 13:00."),
    (CLOSE, "On Saturday we close at 1 p.m.",
     "On Saturday we close at 1 p.m., and on Friday at 6 p.m."),
    ("how much is a visit", "A visit costs $120.", "A visit costs 120 dollars, a test $30."),
    ("how much is a visit", "A visit costs $120 for adults.", "A visit costs $60 for children."),
    ("how much is parking", "Parking costs 2 dollars an hour.", "Parking costs 10 dollars a day."),
    ("how long do results take", "Results take 7 days.", "Results take one week."),
    ("how often does the bus come", "The bus stops here every 20 minutes.",
     "The bus stops here three times an hour."),
    ("do you take checks", "We accept personal checks.", "Yes, we accept personal checks."),
    ("can i bring my dog", "Dogs are not allowed in the lobby.",
     "No, dogs are not allowed in the lobby."),
    ("where do i park", "Park in Lot A behind the clinic.", "Behind the clinic, in Lot A."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "old", "new", "detail"), CONTRADICT)
def test_another_value_day_or_yes_contradicts_either_way(question, old, new, detail):
    assert detail in contradiction(question, Said(old), Said(new))
    assert contradiction(question, Said(new), Said(old))


@pytest.mark.parametrize(("question", "old", "new"), AGREE)
def test_other_words_more_or_something_else_do_not(question, old, new):
    assert contradiction(question, Said(old), Said(new)) == ""
    assert contradiction(question, Said(new), Said(old)) == ""
