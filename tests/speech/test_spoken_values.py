"""What callers and recognisers say, and the values in it."""

from decimal import Decimal

import pytest

from frontdesk import Spoken
from speech.reading import read_aloud
from speech.spoken_values import Kind, Value, agree, states, values_of, written

ONE_VALUE = [
    ("seven thirty in the morning", Kind.TIME, "07:30"),
    ("half past seven", Kind.TIME, "07:30"),
    ("quarter to five p m", Kind.TIME, "16:45"),
    ("ten to eleven p.m.", Kind.TIME, "22:50"),
    ("noon", Kind.TIME, "12:00"),
    ("twelve thirty a m", Kind.TIME, "00:30"),
    ("eight o clock", Kind.TIME, "08:00"),
    ("nine oh five a m", Kind.TIME, "09:05"),
    ("see you at seven", Kind.TIME, "07:00"),
    ("8.30 AM", Kind.TIME, "08:30"),
    ("eleven at night", Kind.TIME, "23:00"),
    ("the twenty third of march", Kind.DATE, "03-23"),
    ("march twenty-third, twenty twenty six", Kind.DATE, "2026-03-23"),
    ("on may fourth", Kind.DATE, "05-04"),
    ("in may twenty twenty six", Kind.DATE, "2026-05"),
    ("12/24", Kind.DATE, "12-24"),
    ("two hundred and fifty dollars", Kind.MONEY, Decimal(250)),
    ("twelve dollars and fifty cents", Kind.MONEY, Decimal("12.5")),
    ("seventy five dollars sixty three", Kind.MONEY, Decimal("75.63")),
    ("ninety nine cents", Kind.MONEY, Decimal("0.99")),
    ("$1,250.00", Kind.MONEY, Decimal(1250)),
    ("one point five million dollars", Kind.MONEY, Decimal(1_500_000)),
    ("GBP 20 per stay", Kind.MONEY, Decimal(20)),
    ("nearby at $37.29", Kind.MONEY, Decimal("37.29")),
    ("twenty-four seven", Kind.DIGITS, "247"),
    ("fifteen percent", Kind.PERCENT, Decimal(15)),
    ("two and a half hours", Kind.MEASURE, Decimal("2.5")),
    ("two and three quarters hours", Kind.MEASURE, Decimal("2.75")),
    ("an hour and a half", Kind.MEASURE, Decimal("1.5")),
    ("five hundred milligrams twice a day", Kind.MEASURE, Decimal(500)),
    ("five five five oh one four two", Kind.PHONE, "5550142"),
    ("one, eight hundred, five five five, oh one four two", Kind.PHONE, "18005550142"),
    ("four one five eight three one fifty five zero zero", Kind.PHONE, "4158315500"),
    ("(312) 555-0142", Kind.PHONE, "3125550142"),
    ("double four", Kind.DIGITS, "44"),
    ("room two oh four", Kind.DIGITS, "204"),
    ("nine four one zero two", Kind.DIGITS, "94102"),
    ("twenty twenty six", Kind.NUMBER, Decimal(2026)),
    ("a hundred", Kind.NUMBER, Decimal(100)),
    ("fourteen twenty Maple Street", Kind.NUMBER, Decimal(1420)),
    ("two lakh fifty thousand", Kind.NUMBER, Decimal(250_000)),
    ("minus five", Kind.NUMBER, Decimal(-5)),
    ("the twenty first", Kind.ORDINAL, Decimal(21)),
    ("M R I", Kind.LETTERS, "MRI"),
    ("vitamin b twelve", Kind.LETTERS, "B12"),
    ("jane dot doe at example dot com", Kind.EMAIL, "jane.doe@example.com"),
    ("a b c at g mail dot com", Kind.EMAIL, "abc@gmail.com"),
    ("clinic dot example slash forms", Kind.WEB, "clinic.example/forms"),
    ("सुबह साढ़े सात बजे", Kind.TIME, "07:30"),
    ("रात के दस बजकर अड़तालीस मिनट", Kind.TIME, "22:48"),
    ("बारह रुपये पचास पैसे", Kind.MONEY, Decimal("12.5")),
    ("पंद्रह अगस्त उन्नीस सौ सैंतालीस", Kind.DATE, "1947-08-15"),
    ("नौ आठ सात छह पाँच चार तीन दो एक शून्य", Kind.PHONE, "9876543210"),
    ("ढाई लाख", Kind.NUMBER, Decimal(250_000)),
]


@pytest.mark.parametrize(("said", "kind", "value"), ONE_VALUE, ids=[row[0] for row in ONE_VALUE])
def test_the_value_of(said: str, kind: Kind, value: Decimal | str) -> None:
    (found,) = values_of(said)
    assert (found.kind, found.value) == (kind, value)


@pytest.mark.parametrize(
    "said",
    [
        "no one is here", "you may come any time", "k i can go", "i i guess", "", "one of them",
        "oh I see", "the plus side", "मुझे एक सवाल पूछना है", "बता दो",
    ],
)  # fmt: skip
def test_no_value_in(said: str) -> None:
    assert values_of(said) == ()
    assert written(said) == said


def test_what_may_mean_several_things_says_so() -> None:
    (time_or_money,) = values_of("two fifty")
    assert time_or_money.meanings == (
        (Kind.TIME, "02:50"),
        (Kind.TIME, "14:50"),
        (Kind.MONEY, Decimal("2.5")),
        (Kind.NUMBER, Decimal(250)),
    )
    (evening,) = values_of("half past seven")
    assert evening.others == ((Kind.TIME, "19:30"),)
    (sure,) = values_of("half past seven p m")
    assert sure.others == ()


def test_hours_of_a_range_are_times() -> None:
    for said in ("from nine to five", "Monday to Friday, nine to five", "open 9-5"):
        assert [one.value for one in values_of(said)] == ["09:00", "17:00"], said
    assert [one.value for one in values_of("nine to eleven AM")] == ["09:00", "11:00"]
    assert [one.value for one in values_of("between five and six")] == ["05:00", "06:00"]
    assert [one.kind for one in values_of("ages six to twelve")] == [Kind.NUMBER, Kind.NUMBER]
    assert [one.kind for one in values_of("five to ten minutes")] == [Kind.NUMBER, Kind.MEASURE]


@pytest.mark.parametrize(
    ("heard", "meant", "same"),
    [
        ("seven thirty", "7:30 p.m.", True),
        ("seven thirty a m", "7:30 p.m.", False),
        ("seven thirty", "8:30 p.m.", False),
        ("two hundred dollars", "$200.00", True),
        ("two hundred euros", "$200", False),
        ("two oh four", "Room 204", True),
        ("five five five, oh one four two", "1-312-555-0142", False),
        ("three one two five five five oh one four two", "1-312-555-0142", True),
        ("the third", "3", True),
        ("march third", "2026-03-03", True),
        ("march third", "2026-03-04", False),
        ("twenty four hours", "24 minutes", False),
        ("twenty four hours", "24 hours", True),
    ],
)
def test_agree(heard: str, meant: str, same: bool) -> None:
    (value,) = values_of(meant)
    assert agree(values_of(heard)[0], value) is same
    assert states(f"well, {heard}", value) is same


@pytest.mark.parametrize(
    ("said", "as_written"),
    [
        ("Are you open at half past seven?", "Are you open at 7:30?"),
        ("It closes at five p. m.", "It closes at 5 p.m."),
        ("call me at five five five oh one four two", "call me at 555-0142"),
        ("it costs twelve dollars and fifty cents", "it costs $12.50"),
        ("twenty four hours before", "24 hours before"),
        ("my sixteen year old", "my 16 year old"),
        ("on the first of May, one of them", "on 1 May, one of them"),
        ("a table for two tonight at seven", "a table for two tonight at 7:00"),
        ("write to jane dot doe at example dot com.", "write to jane.doe@example.com."),
        ("one three star place", "one three star place"),
        ("शाम छह बजे पाँच सौ रुपये", "शाम 6:00 बजे ₹500"),
    ],
)
def test_written(said: str, as_written: str) -> None:
    assert written(said) == as_written


@pytest.mark.parametrize(
    "text",
    [
        "We open at 8:30 a.m. and close at 6 p.m.", "Call 555-0142, extension 204.",
        "The fee is $12.50, or 15% less.", "Closed December 24, 2026.", "It takes 20 minutes.",
        "Write to front.desk@clinic.example.", "Room 312 at 1420 Maple Street.",
        "₹12.50 या 15%", "15 अगस्त को 9:30 बजे",
    ],
)  # fmt: skip
def test_our_own_reading_is_understood(text: str) -> None:
    meant = values_of(text)
    heard = read_aloud(Spoken(text))
    assert meant
    assert [value for value in meant if not states(heard, value)] == []


def test_values_stand_where_they_say() -> None:
    text = "So, at 7:30 a.m., call five five five oh one four two for $40."
    assert [text[one.start : one.end] for one in values_of(text)] == [
        "7:30 a.m.", "five five five oh one four two", "$40",
    ]  # fmt: skip
    assert values_of(text)[2] == Value(Kind.MONEY, Decimal(40), 58, 61, "$40", "USD")


@pytest.mark.parametrize(
    "text",
    [
        "one " * 1000, "9" * 5000, "five five five, " * 500, "two hundred and " * 500,
        "a b c " * 1000, "1,000" * 500, "एक दो " * 500, "12:99 99:99 0/0 13/45 $ + ½ ² ٣",
        "b as in", "3.5 point 5", "half past", "double", "the", "oh", "at eight o", "this morning",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
@pytest.mark.timeout(30)
def test_long_and_odd_text_is_read(text: str) -> None:
    written(text)
