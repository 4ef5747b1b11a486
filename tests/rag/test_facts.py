"""Facts of sentences, what questions ask for, and whether the one answers the other."""

import pytest

from rag.facts import Contrasts, fits, read, slots, stands

WEEKDAYS = {"monday", "tuesday", "wednesday", "thursday", "friday"}


def values(sentence):
    return [(fact.kind, fact.value.value, fact.value.unit) for fact in read(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The doors open at 8:15 a.m.", [("time", "08:15", "")]),
        ("On Fridays we see patients from 8 until 1.", [("time", "8-1", "")]),
        ("Open 3 p.m. to 6 p.m.", [("time", "15:00-18:00", "")]),
        ("We are closed on Sunday.", [("time", "closed", "")]),
        ("It is $58 and half an hour.", [("money", "58", "$"), ("duration", "0.5", "hour")]),
        ("It takes two and a half hours.", [("duration", "2.5", "hour")]),
        ("Call 555-0134.", [("phone", "5550134", "")]),
        ("Children are checked free of charge.", [("money", "0", "")]),
        ("Parts are billed at cost plus 15%.", [("percentage", "15", "%")]),
        ("We close for the year on December 24.", [("date", "december 24", "")]),
        ("Find us at 12 High Street.", [("address", "12 high street", "")]),
        ("The beach is 3 miles away.", [("distance", "3", "mile")]),
        ("You must be 18 or older.", [("age", "18", "")]),
        ("Sheets are changed twice a week.", [("frequency", "twice a week", "week")]),
        ("The room seats 40.", [("count", "40", "")]),
        ("Dogs are welcome.", [("statement", "", "")]),
    ],
)  # fmt: skip
def test_values_are_read_with_kind_and_unit(sentence, expected):
    assert values(sentence) == expected


def test_a_fact_has_its_own_days_and_sides_in_a_sentence_of_several():
    weekdays, saturday = read("We open at 8 from Monday to Friday and at 9 on Saturday.")
    assert weekdays.qualifiers.days == WEEKDAYS
    assert saturday.qualifiers.days == {"saturday"}
    assert weekdays.attribute == saturday.attribute == {"opening"}
    arriving, leaving = read("Check-in is from 3 p.m. and check-out is by 11 a.m.")
    assert ("check-in" in arriving.attribute, "check-out" in arriving.attribute) == (True, False)
    assert ("check-in" in leaving.attribute, "check-out" in leaving.attribute) == (False, True)


def test_a_side_behind_a_value_is_not_handed_on():
    inside, courtyard = read("We have 38 seats inside and 16 in the courtyard.")
    assert (inside.attribute, courtyard.attribute) == ({"inside"}, frozenset())


def test_except_takes_days_away_and_gives_them_to_what_is_closed():
    (fact,) = read("Open daily except Sunday, 9 to 5.")
    assert fact.qualifiers.days == {*WEEKDAYS, "saturday"}
    _, closed = read("We open at 5 p.m. every evening except Monday, when we are closed.")
    assert (closed.value.value, closed.qualifiers.days) == ("closed", {"monday"})


def test_bounds_and_what_a_price_is_counted_by():
    (price,) = read("Rooms cost at least $90 per night.")
    assert (price.value.bound, price.value.per) == ("at least", "night")
    assert read("It takes up to 5 days.")[0].value.bound == "at most"
    assert "maximum" in read("It takes up to 5 days.")[0].attribute


def test_a_table_row_is_read_cell_by_cell_with_what_stands_beside_it():
    adult, child = read("Day pass; Adult: $20; Child: $12", beside="Prices on weekdays")
    assert adult.qualifiers.audience == {"adult"}
    assert child.qualifiers.audience == {"child"}
    assert adult.qualifiers.days == WEEKDAYS
    assert (adult.value.value, child.value.value) == ("20", "12")


def test_the_last_sentence_says_what_is_asked():
    found = slots("Thanks, the deposit is fine. How long does it take on Saturday?")
    assert (found.kind, found.qualifiers.days) == ("duration", {"saturday"})
    assert found.qualifiers.service == frozenset()
    assert "deposit" in found.subject - found.asked


@pytest.mark.parametrize(
    ("question", "right", "wrong", "slot"),
    [
        ("What time is check-in?", "Check-in is at 3.", "Check-out is at 11.", "attribute"),
        ("What time do you open?", "We open at 8 a.m.", "We close at 6 p.m.", "attribute"),
        ("How late are you open?", "We are open until 6.", "We open at 8 a.m.", "attribute"),
        ("How much is it for adults?", "Adults pay $20.", "Children pay $10.", "attribute"),
        ("How long must I fast before the test?", "Fast 8 hours before the test.",
         "Wait 2 hours after the test.", "attribute"),
        ("How much is the deposit?", "We take a $50 deposit.", "Parking is $12.", "service"),
        ("What does a massage cost?", "A massage is $60.", "A massage lasts an hour.", "kind"),
        ("How long is a massage?", "A massage lasts an hour.", "A massage is $60.", "kind"),
        ("What are your hours on Saturday?", "Saturday: 9 to 1.", "Mon-Fri: 8 to 6.", "day"),
        ("What are your hours on Sunday?", "We are closed on Sunday.", "Saturday: 9 to 1.", "day"),
        ("What is the fax number?", "Our fax is 555-0135.", "Our phone is 555-0134.", "kind"),
        ("What is the minimum stay?", "The minimum stay is two nights.",
         "The maximum stay is nine nights.", "attribute"),
        ("Which doctor is in on Monday?", "Dr. Lee is in on Monday.",
         "The clinic opens at 8 on Monday.", "kind"),
    ],
)  # fmt: skip
def test_the_other_fact_is_rejected_and_the_right_one_is_not(question, right, wrong, slot):
    asked = slots(question)
    assert fits(asked, read(right)).ok
    found = fits(asked, read(wrong))
    assert (found.ok, found.slot) == (False, slot)
    assert found.reason


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("What are your hours on Saturday?", "Monday to Friday 8 to 6, Saturday 9 to 1."),
        ("Are you open on Saturday?", "We open on weekdays only."),
        ("Could I come on a Tuesday?", "The museum is open from Wednesday to Sunday."),
        ("Are you open on New Year's Day?", "We do not open on Sundays or public holidays."),
        ("Do you board dogs?", "We board cats only."),
        ("When do you close?", "We are open from 9 to 5."),
        ("How late are you open?", "We never close."),
        ("Can I get my deposit back? How soon?", "Refunds take 5 days."),
        ("The deposit is clear, thanks. What does parking cost?", "Parking is $12."),
    ],
)
def test_a_right_answer_in_other_terms_is_not_refused(question, right):
    assert fits(slots(question), read(right)).ok


def test_only_the_fact_that_carries_the_spoken_value_counts():
    facts = read("Check-in is from 3 p.m. and check-out is by 11 a.m.")
    asked = slots("What time is check-out?")
    spoken = {value: [f for f in facts if f.value.value == value] for value in ("15:00", "11:00")}
    assert fits(asked, facts).fact.value.value == "11:00"
    assert fits(asked, spoken["11:00"]).ok
    assert not fits(asked, spoken["15:00"]).ok
    assert not fits(asked, ()).ok


def test_the_knowledge_base_sets_opposites_of_its_own():
    sentences = [read(s) for s in ("Unblocking a sink is $85.", "Unblocking a toilet is $110.")]
    own = Contrasts.found(sentences)
    asked = slots("How much for a sink?")
    assert fits(asked, sentences[1]).ok
    found = fits(asked, sentences[1], own)
    assert (found.ok, found.slot) == (False, "subject")
    assert fits(asked, sentences[0], own).ok
    # The same price sets none.
    alike = Contrasts.found([read("A latte is $4."), read("A mocha is $4.")])
    assert not alike.of_stem


def test_a_rival_that_has_the_words_asked_wins():
    both = [read("Late cancellation costs $25."), read("Replacing a lost badge costs $15.")]
    asked = slots("How much is it if I lose my badge?")
    assert fits(asked, both[0]).ok  # no rule is broken
    assert (stands(asked, 0, both).ok, stands(asked, 0, both).slot) == (False, "rival")
    assert stands(asked, 1, both).ok


def test_a_rival_that_does_not_fit_itself_wins_nothing():
    both = [read("We are closed on Sundays."), read("Saturday opening hours: from 9 to 1.")]
    assert stands(slots("What are your opening hours on Sunday?"), 0, both).ok


def test_closeness_decides_where_words_do_not():
    both = [read("Adult skis are $24."), read("Boots are $11.")]
    asked = slots("What do I pay to borrow the footwear?")
    assert stands(asked, 0, both).ok
    assert stands(asked, 1, both).ok
    assert not stands(asked, 0, both, closeness=[0.0, 3.0]).ok
    assert stands(asked, 1, both, closeness=[0.0, 3.0]).ok


@pytest.mark.parametrize(
    ("question", "sentence", "fit"),
    [
        ("How many spaces are in lot A?", "The visitor lot has 48 spaces.", False),
        ("How many spaces are in lot A?", "Lot A has 20 spaces.", True),
        ("What does lot A cost?", "Parking in Lot B is $4 an hour.", False),
        ("How far is Terminal 3?", "Allow 15 minutes for Terminal 2.", False),
        ("Is room 104 upstairs?", "Vaccinations are given in Room 104.", True),
        ("When can I visit ward 6?", "General wards receive visitors from 11 a.m.", True),
        ("Can we keep the room a bit longer?", "You can keep the room until 2 p.m.", True),
    ],
)
def test_a_place_with_a_letter_or_a_number_is_that_one(question, sentence, fit):
    found = fits(slots(question), read(sentence))
    assert (found.ok, found.slot) == ((True, "") if fit else (False, "place"))


@pytest.mark.parametrize(
    ("sentence", "days"),
    [
        ("We are closed on Sunday and on all holidays except Veterans Day.", {"sunday"}),
        ("We are open every day except Monday, when we are closed.", {"monday"}),
    ],
)
def test_what_an_exception_leaves_closed(sentence, days):
    closed = next(fact for fact in read(sentence) if fact.value.value == "closed")
    assert closed.qualifiers.days == days
