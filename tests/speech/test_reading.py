"""Written text and the words that a synthesiser is given for it."""

import pytest

from frontdesk import CitationInSpeechError, Spoken
from speech import numbers
from speech.reading import read_aloud

TABLE = [
    # times
    ("We open at 8:30 a.m. on weekdays.", "We open at eight thirty AM on weekdays."),
    ("Open 9 a.m. to 1 p.m. on Saturday.", "Open nine AM to one PM on Saturday."),
    ("We close at 5 p.m. Please call first.", "We close at five PM. Please call first."),
    ("We close at 5 p.m.", "We close at five PM."),
    ("Come at 9:05am", "Come at nine oh five AM"),
    ("12:00 p.m. is noon.", "twelve PM is noon."),
    ("The line opens at 8:00.", "The line opens at eight o'clock."),
    ("It closes at 17:30.", "It closes at five thirty PM."),
    ("9am-1pm", "nine AM to one PM"),
    ("8:30 a.m. – 4:45 p.m.", "eight thirty AM to four forty-five PM."),
    ("9-11 a.m. only", "nine to eleven AM only"),
    ("8:00-17:00", "eight AM to five PM"),
    ("Check-in is at 14:00 or 7:30 in July.", "Check-in is at two PM or seven thirty in July."),
    ("Open 8-5.", "Open eight to five."),
    ("at 8 o'clock", "at eight o'clock"),
    ("24 hours", "twenty-four hours"),
    ("24-hour notice", "twenty-four-hour notice"),
    # dates
    ("Closed December 24.", "Closed December twenty-fourth."),
    ("Closed 12/24.", "Closed December twenty-fourth."),
    ("on 12/24/2025", "on December twenty-fourth, twenty twenty-five"),
    ("by 3/1/26", "by March first, twenty twenty-six"),
    ("Dec. 24th, 2025", "December twenty-fourth, twenty twenty-five"),
    ("2026-01-02", "January second, twenty twenty-six"),
    ("December 24-26", "December twenty-fourth to twenty-sixth"),
    ("Closed December 24 and 25.", "Closed December twenty-fourth and twenty-fifth."),
    ("since May 2019", "since May twenty nineteen"),
    ("the 4th of July", "the fourth of July"),
    ("4 July", "the fourth of July"),
    ("You may 4 times", "You may four times"),
    ("the 1st and the 22nd", "the first and the twenty-second"),
    ("Monday-Friday", "Monday to Friday"),
    ("Mon–Fri, 8-5", "Monday to Friday, eight to five"),
    ("Oct-Mar", "October to March"),
    ("Open 24/7.", "Open twenty-four seven."),
    # money
    ("$40", "forty dollars"),
    ("The fee is $12.50.", "The fee is twelve dollars and fifty cents."),
    ("$1", "one dollar"),
    ("$0.75", "seventy-five cents"),
    ("$1,250.00", "one thousand two hundred fifty dollars"),
    ("$1.5 million", "one point five million dollars"),
    ("$40-$60", "forty to sixty dollars"),
    ("a $40-per-visit fee", "a forty-dollar-per-visit fee"),
    ("a 40-dollar fee", "a forty-dollar fee"),
    ("$5/month", "five dollars per month"),
    ("₹500 or €1.01", "five hundred rupees or one euro and one cent"),
    # phone numbers
    ("Call 555-0142.", "Call five five five, oh one four two."),
    ("312-555-0142", "three one two, five five five, oh one four two"),
    ("(312) 555-0142", "three one two, five five five, oh one four two"),
    ("1-800-555-0142", "one, eight hundred, five five five, oh one four two"),
    (
        "+1 312.555.0142 ext. 12",
        "one, three one two, five five five, oh one four two, extension one two",
    ),
    ("In an emergency call 911.", "In an emergency call nine one one."),
    ("extension 204", "extension two zero four"),
    # rooms, houses, post codes
    ("Room 204", "Room two oh four"),
    ("room 312B", "room three twelve B"),
    ("Suite 1200", "Suite twelve hundred"),
    ("Room 12", "Room twelve"),
    ("1420 Maple Street", "fourteen twenty Maple Street"),
    (
        "at 12 Oak St., Springfield, IL 60614",
        "at twelve Oak Street, Springfield, Illinois six zero six one four",
    ),
    # amounts, units, ages, years
    ("20%", "twenty percent"),
    ("10-15%", "ten to fifteen percent"),
    ("2.5 % more", "two point five percent more"),
    ("500 mg twice a day", "five hundred milligrams twice a day"),
    ("1 mg", "one milligram"),
    ("2-3 lbs", "two to three pounds"),
    ("a fever of 100.4°F", "a fever of one hundred point four degrees Fahrenheit"),
    ("3-5 business days", "three to five business days"),
    ("ages 6-12", "ages six to twelve"),
    ("adults 65+", "adults sixty-five and over"),
    ("a 6-month-old", "a six-month-old"),
    (
        "Since 1998, or 2005, or 2026.",
        "Since nineteen ninety-eight, or two thousand five, or twenty twenty-six.",
    ),
    ("the 1990s", "the nineteen nineties"),
    ("1,200 patients", "one thousand two hundred patients"),
    ("blood pressure of 120/80", "blood pressure of one hundred twenty over eighty"),
    ("1/2 tablet", "one half tablet"),
    ("account 00123456", "account zero zero one two three four five six"),
    ("below -5", "below minus five"),
    # short forms
    ("Dr. Lee and Dr. Ann O'Neil", "Doctor Lee and Doctor Ann O'Neil"),
    ("14 Oak Dr., near St. Mary's", "fourteen Oak Drive, near Saint Mary's"),
    ("Bring a photo ID and your DOB.", "Bring a photo I-D and your date of birth."),
    ("an MRI, a PDF and HIPAA", "an M-R-I, a P-D-F and HIPAA"),
    ("WALK IN", "WALK IN"),
    ("COVID-19 & flu", "COVID nineteen and flu"),
    ("vitamin A and B12", "vitamin eigh and B-twelve"),
    ("an A1C test", "an A-one-C test"),
    ("fruit, e.g. apples, etc.", "fruit, for example, apples, and so on."),
    ("appt. no. 3", "appointment number three"),
    ("#2", "number two"),
    ("Parking (Lot B) is free.", "Parking, Lot B, is free."),
    ("Bring it — today.", "Bring it, today."),
    # addresses of the net
    ("Write to front.desk@clinic.example.", "Write to front dot desk at clinic dot example."),
    (
        "https://www.clinic.example/forms/new-patient",
        "clinic dot example slash forms slash new dash patient",
    ),
    ("See clinic.example.", "See clinic dot example."),
    ("nurse2@clinic.co.uk", "nurse two at clinic dot co dot U-K"),
    # written as a typesetter writes
    ("Call 555‑0142.", "Call five five five, oh one four two."),
    ("It takes 2½ hours.", "It takes two and one half hours."),
    ("½ tablet", "one half tablet"),
    ("２ visits ™", "two visits"),
    ("№ 5 for 10 m²", "number five for ten square meters"),
    ("−5°F", "minus five degrees Fahrenheit"),
    ("at -5 or 8 -5", "at minus five or eight to five"),
    # ranges of every kind
    (
        "$150.25-$250.67",
        "one hundred fifty dollars and twenty-five cents to two hundred fifty "
        "dollars and sixty-seven cents",
    ),
    ("Nov 1–Dec 15", "November first to December fifteenth"),
    ("12/24–12/26", "December twenty-fourth to December twenty-sixth"),
    ("8 a.m.–noon", "eight AM to noon"),
    ("Mon-Fri 8a-5p", "Monday to Friday eight AM to five PM"),
    ("the 2025-26 season", "the twenty twenty-five to twenty-six season"),
    ("1st-3rd of the month", "first to third of the month"),
    # as some people write dates and times
    ("jul 25 2012", "July twenty-fifth, twenty twelve"),
    ("JAN. 15 2020", "January fifteenth, twenty twenty"),
    ("15-01-2020", "January fifteenth, twenty twenty"),
    ("25th july 2012", "the twenty-fifth of July twenty twelve"),
    ("Tues & Thurs.", "Tuesday and Thursday."),
    ("Open Sat. Closed Mon.", "Open Saturday. Closed Monday."),
    ("11:30 a.m. EST", "eleven thirty AM E-S-T"),
    ("14:10:30", "fourteen hours ten minutes and thirty seconds"),
    # phones of other countries, and of letters
    ("+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"),
    ("98765 43210", "nine eight seven six five, four three two one zero"),
    ("(123)-123-5678", "one two three, one two three, five six seven eight"),
    ("5551234567", "five five five, one two three, four five six seven"),
    ("1-800-FLOWERS", "one, eight hundred, FLOWERS"),
    ("555-0142 x204", "five five five, oh one four two, extension two zero four"),
    # money and measures
    ("Rs. 1,500.50", "one thousand five hundred rupees and fifty paise"),
    ("$30M or ¥3000", "thirty million dollars or three thousand yen"),
    ("$40/hr", "forty dollars per hour"),
    ("30 USD per day or US $1", "thirty dollars per day or one dollar"),
    ("since 1850", "since eighteen fifty"),
    ("10:30 is the time", "ten thirty is the time"),
    ("2 1/2 cups", "two and one half cups"),
    ("500 sq. ft.", "five hundred square feet"),
    ("100 km/h", "one hundred kilometers per hour"),
    ("12KG", "twelve kilograms"),
    ("5'10\"", "five feet ten"),
    ("a 10x10 room", "a ten by ten room"),
    ("~20 minutes or < 5", "about twenty minutes or less than five"),
    ("1,000+ patients, 50+ years", "one thousand and over patients, more than fifty years"),
    ("3.5/5 stars", "three point five out of five stars"),
    # places
    ("12 S. 1st St, Town, NY", "twelve South first Street, Town, New York"),
    ("123 Laguna Ct, Town", "one twenty-three Laguna Court, Town"),
    ("Room B-12", "Room B twelve"),
    ("a 401(k) plan", "a four oh one K plan"),
    ("Type II diabetes", "Type two diabetes"),
    ("version 2.0.1", "version two dot zero dot one"),
    ("http://bit.ly/3a", "bit dot ly slash three a"),
    # a point without a number before it is no full stop
    ("Take .5 mg.", "Take zero point five milligrams."),
    # nothing to say
    ("Thank you 🙂!", "Thank you!"),
    ("...", ""),
    # nothing to do
    ("Yes, walk-ins are welcome.", "Yes, walk-ins are welcome."),
    ("", ""),
]


@pytest.mark.parametrize(("written", "read"), TABLE, ids=[written[:40] for written, _ in TABLE])
def test_reads_as_people_do(written: str, read: str) -> None:
    assert read_aloud(Spoken(written)) == read


@pytest.mark.parametrize("written", [written for written, _ in TABLE])
def test_leaves_no_digit_or_symbol(written: str) -> None:
    words = read_aloud(Spoken(written))
    assert not [c for c in words if not (c.isalpha() or c in " .,;:!?'-")], words


def test_reading_twice_changes_nothing() -> None:
    for written, _ in TABLE:
        once = read_aloud(Spoken(written))
        assert read_aloud(Spoken(once)) == once


def test_only_spoken_is_read() -> None:
    with pytest.raises(TypeError, match="only Spoken"):
        read_aloud("We open at 8.")  # type: ignore[arg-type]
    with pytest.raises(CitationInSpeechError):
        read_aloud(Spoken("We open at 8 [kb-hours]."))


@pytest.mark.parametrize(
    "written",
    [
        "Reference A" + "1" * 60 + "x",  # once tried in every split of its digits
        " " * 20_000 + "x",
        "$" + "9" * 5000,
        "1" + ",000" * 200,
        "9" * 5000 + " mg",
    ],
    ids=lambda written: written[:12],
)
@pytest.mark.timeout(20)
def test_long_and_odd_text_is_read_in_time(written: str) -> None:
    words = read_aloud(Spoken(written))
    assert any(c.isalpha() for c in words)
    assert not any(c.isdigit() for c in words)


@pytest.mark.parametrize(
    ("number", "read"),
    [
        ("204", "two oh four"),
        ("300", "three hundred"),
        ("1000", "one thousand"),
        ("41", "forty-one"),
    ],
)
def test_pairs(number: str, read: str) -> None:
    assert numbers.pairs(number) == read
