import pytest

from rag import asked, days

WEEK = {"monday", "tuesday", "wednesday", "thursday", "friday"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Monday to Friday", WEEK),
        ("Monday through Thursday", WEEK - {"friday"}),
        ("Mon–Fri, 8 to 6", WEEK),
        ("Fri - Sun", {"friday", "saturday", "sunday"}),
        ("Saturday to Monday", {"saturday", "sunday", "monday"}),
        ("on weekdays", WEEK),
        ("at the weekend", {"saturday", "sunday"}),
        ("open daily", WEEK | {"saturday", "sunday"}),
        ("7 days a week", WEEK | {"saturday", "sunday"}),
        ("Sundays and Wednesday", {"sunday", "wednesday"}),
        ("Sat 8:30–3", {"saturday"}),
        ("Sat. 9 to 1, Sun: closed", {"saturday", "sunday"}),
        ("she sat in the sun", set()),
        ("she sat, 9 others stood in the sun", set()),
        ("Good Friday", set()),
        ("the Friday after Thanksgiving", set()),
        ("Black Friday, and the Monday before Labor Day", set()),
    ],
)
def test_weekdays(text, found):
    assert days.weekdays(text) == found


@pytest.mark.parametrize(
    ("sentence", "is_wrong"),
    [
        ("When a holiday falls on a Sunday, we are closed on the Monday that follows.", True),
        ("If the 1st lands on a Sunday, rent is due the following Monday.", True),
        ("On Sunday we are closed.", False),
        ("Sundays from 9 to 12, and the Monday before Labor Day.", False),
    ],
)
def test_a_day_that_another_one_happens_to_be_is_not_the_day_asked_for(sentence, is_wrong):
    assert bool(asked.wrong_day("when do you open on sunday", sentence)) == is_wrong
    assert asked.wrong_day("are you open on easter monday", sentence)
    if is_wrong:
        assert not asked.wrong_day(
            "what if christmas falls on a sunday", f"Of holidays: {sentence}"
        )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on Christmas Eve", {"christmas eve"}),
        ("Christmas Day and New Year’s Day", {"christmas", "new year"}),
        ("new years eve", {"new year's eve"}),
        ("the Friday after Thanksgiving", {"day after thanksgiving"}),
        ("on black friday", {"day after thanksgiving"}),
        ("the day before Christmas", {"day before christmas"}),
        ("Xmas or the 4th of July", {"christmas", "independence day"}),
        ("july the 4th", {"independence day"}),
        ("July 4 or the fourth of july", {"independence day"}),
        ("Easter Monday", {"easter monday"}),
        ("on Monday", set()),
    ],
)
def test_holidays(text, found):
    assert days.holidays(text) == found


@pytest.mark.parametrize(
    ("question", "sentence", "ok"),
    [
        ("open on saturday", "On weekdays we open at 8 a.m.", False),
        ("open on saturday", "On Saturday we open at 9 a.m.", True),
        ("open on wednesday", "Monday through Friday we open at 8.", True),
        ("open on friday", "Monday through Thursday we open at 8.", False),
        ("open on the weekend", "On Sunday we are closed.", True),
        ("open on saturday", "We open at 8 a.m.", False),
        ("what does a visit cost on saturday", "A visit costs $40.", True),
        ("open the day after christmas", "We are closed on Christmas Day.", False),
        ("open on christmas", "When a holiday falls on a Sunday we close on Monday.", False),
        ("are you open today", "On Saturday we open at 9 a.m.", False),
        ("are you open today", "We open at 9 a.m. every day.", True),
        ("are you open today", "We open at 9 a.m.", True),
        ("open on easter monday", "On Monday we open at 8 a.m.", False),
        ("open on christmas", "On Christmas Eve we close at noon.", False),
        ("open on christmas", "We open at 8 a.m.", False),
        ("open on christmas", "On holidays we open at 10 a.m.", True),
        ("what time do you open", "On Saturday we open at 9 a.m.", True),
    ],
)
def test_wrong_day(question, sentence, ok):
    assert (asked.wrong_day(question, sentence) == "") is ok


def test_wrong_day_says_why():
    why = asked.wrong_day("open on sunday", "Open Tuesday and Monday.")
    assert why == "asked about sunday, the sentence is about monday, tuesday"


@pytest.mark.parametrize(
    ("question", "sentence", "ok"),
    [
        ("how much is a visit", "A visit lasts 40 minutes.", False),
        ("how much is a visit", "A visit costs $40.", True),
        ("how much is parking", "Parking is free.", True),
        ("how much notice do you need", "Call 24 hours before.", True),
        ("what time do you open", "The lab is in room 5.", False),
        ("what time do you open on sunday", "We are closed on Sunday.", True),
        ("how long does it take", "It costs 5 dollars.", False),
        ("how long does it take", "It takes 3 business days.", True),
        ("what's the number for the lab", "The lab is in room 5.", False),
        ("what's the number for the lab", "Call 555-0110.", True),
        ("which room is the lab in", "Call 555-0110.", False),
        ("do you take cash", "We take cash.", True),
        ("how much is parking", "Parking is USD 75.24 a day.", True),
        ("what are the hours of the desk", "This is a 24-hour desk.", True),
        ("where do i park", "Parking takes 5 minutes.", False),
        ("where do i park", "Parking is behind the shop.", True),
        ("where are you", "The office at 3 Mill Court opens at 9.", True),
        ("where is the eye clinic", "The eye clinic is on level 2.", True),
        ("and when do you fix tires", "Tires cost $15.", False),
        ("and when do you fix tires", "Tires are fixed in March.", True),
        ("do you fix it when i come in", "It is fixed.", True),
        ("how old must a rider be", "A helmet costs $35.", False),
        ("how old must a rider be", "Riders must be 12 or older.", True),
        ("are you open at night", "To cancel at night, call 555-0111.", False),
        ("how much notice do you need", "Call the shop.", False),
    ],
)
def test_wrong_kind(question, sentence, ok):
    assert (asked.wrong_kind(question, sentence) == "") is ok


@pytest.mark.parametrize(
    ("question", "sentence", "ok"),
    [
        ("what time do you close", "The shop opens at 8.", False),
        ("what time do you close", "The shop is open from 8 to 6.", True),
        ("are you open on sunday", "The shop is closed on Sunday.", True),
        ("a helmet for my kid", "An adult helmet costs $60.", False),
        ("a helmet for an adult", "An adult helmet is $60, a child's $35.", True),
        ("is check-in early", "Check-out is at 11.", False),
        ("what does it cost", "An adult helmet costs $60.", True),
    ],
)
def test_opposites(question, sentence, ok):
    assert (asked.opposite(question, sentence) == "") is ok


@pytest.mark.parametrize(
    ("question", "sentence", "special"),
    [
        ("what time do you open", "On Saturday we open at 9 a.m.", True),
        ("what time do you open", "On weekdays we open at 8 a.m.", False),
        ("what time do you open", "We open at 8 a.m.", False),
        ("what time do you open on sunday", "On Saturday we open at 9 a.m.", False),
        ("what time do you close", "On Christmas Eve we close at noon.", True),
        ("how long does a repair take", "A rush repair takes 1 day.", True),
        ("how long does a rush repair take", "A rush repair takes 1 day.", False),
    ],
)
def test_special_cases(question, sentence, special):
    assert asked.is_special_case(question, sentence) is special


def test_other_names_of_a_day():
    assert days.by_usual_name("open on the 4th of july") == "open on independence day"
    assert days.by_usual_name("black friday sale") == "the friday after thanksgiving sale"
    assert days.by_usual_name("open in july") == "open in july"


@pytest.mark.parametrize(
    ("question", "sentence", "is_other"),
    [
        ("are you open on december 26th", "On Christmas Eve we are open until noon.", True),
        ("are you open on the 26th of december", "We are open on December 26.", False),
        ("are you open on december 25th", "We are closed on Christmas Day.", False),
        ("are you open on january 1", "We are closed on New Year's Day.", False),
        ("is january 2 2027 a workday", "We are closed on New Year's Day.", False),
    ],
)
def test_a_date_is_a_day(question, sentence, is_other):
    assert bool(asked.other_day(days.by_holiday(question), sentence)) is is_other
