"""What is read for a caller who writes it down."""

import pytest

from frontdesk import Spoken
from speech.reading import read_slowly
from speech.reading.slowly import slowed
from speech.spoken_values import agree, values_of


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Call 555-0142.", "Call five five five, oh one, four two."),
        (
            "312-555-0142, ext. 1204",
            "three one two, five five five, oh one, four two, extension one two, zero four",
        ),
        ("zip 60614", "zip six zero six, one four"),
        (
            "8:30 a.m. to 4:45 p.m.",
            "eight thirty AM, to four forty-five PM.",
        ),
        ("$12.50", "twelve dollars, and fifty cents"),
        ("jane.doe@example.com", "jane dot doe, at, example dot com"),
        ("98765 43210 पर", "नौ आठ सात, छह पाँच, चार तीन दो, एक शून्य पर"),
        ("We open at nine.", "We open at nine."),
        ("two or three times", "two or three times"),
    ],
)
def test_digits_are_grouped_and_halves_stand_apart(written: str, read: str) -> None:
    assert read_slowly(Spoken(written)) == read
    assert slowed(read) == read


@pytest.mark.parametrize(
    "written", ["555-0142", "312-555-0142", "$12.50", "8:30 a.m.", "zip 60614", "a@b.com"]
)
def test_the_value_stays(written: str) -> None:
    (value,) = values_of(written)
    (heard,) = values_of(read_slowly(Spoken(written)))
    assert agree(value, heard)
