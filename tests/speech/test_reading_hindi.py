"""Written Hindi and the words that a synthesiser is given for it."""

import pytest

from frontdesk import Spoken
from speech import hindi_numbers
from speech.reading import read_aloud

TABLE = [
    # times, with the words that people use for quarters and halves
    ("हम सुबह 7:30 बजे खुलते हैं।", "हम सुबह साढ़े सात बजे खुलते हैं।"),
    ("शाम 5:15 बजे", "शाम सवा पाँच बजे"),
    ("2:45 PM", "दोपहर पौने तीन बजे"),
    ("1:30 और 2:30", "डेढ़ बजे और ढाई बजे"),
    ("रात के 11:50", "रात के ग्यारह बजकर पचास मिनट"),
    ("17:30", "शाम साढ़े पाँच बजे"),
    ("9:00 AM से 5:00 PM तक", "सुबह नौ बजे से शाम पाँच बजे तक"),
    ("सोमवार से शुक्रवार 9-5 बजे", "सोमवार से शुक्रवार नौ से पाँच बजे"),
    ("१२ बजे", "बारह बजे"),
    # money
    ("फ़ीस ₹500 है।", "फ़ीस पाँच सौ रुपये है।"),
    ("₹12.50", "बारह रुपये पचास पैसे"),
    ("₹1,25,000", "एक लाख पच्चीस हज़ार रुपये"),
    ("₹1.5 लाख", "डेढ़ लाख रुपये"),
    ("Rs. 250/-", "दो सौ पचास रुपये"),
    ("500 रु.", "पाँच सौ रुपये"),
    ("$40", "चालीस डॉलर"),
    # dates: the day comes first
    ("15 अगस्त 1947", "पंद्रह अगस्त उन्नीस सौ सैंतालीस"),
    ("25/12/2026", "पच्चीस दिसंबर दो हज़ार छब्बीस"),
    ("1999 में", "उन्नीस सौ निन्यानबे में"),
    # phone numbers and codes, digit by digit
    ("+91 98765 43210", "प्लस नौ एक, नौ आठ सात छह पाँच, चार तीन दो एक शून्य"),
    ("080-41234567", "शून्य आठ शून्य, चार एक दो तीन चार पाँच छह सात"),
    ("555-0142", "पाँच पाँच पाँच, शून्य एक चार दो"),
    ("पिन कोड 560001", "पिन कोड पाँच छह शून्य शून्य शून्य एक"),
    ("एक्सटेंशन 204", "एक्सटेंशन दो शून्य चार"),
    # amounts
    ("10% या 5-10%", "दस प्रतिशत या पाँच से दस प्रतिशत"),
    ("2-3 दिन", "दो से तीन दिन"),
    ("2.5 घंटे", "ढाई घंटे"),
    ("500 mg दिन में 2 बार", "पाँच सौ मिलीग्राम दिन में दो बार"),
    ("25 °C", "पच्चीस डिग्री सेल्सियस"),
    ("98.6", "अट्ठानबे दशमलव छह"),
    ("25वीं और 2री", "पच्चीसवीं और दूसरी"),
    ("2nd फ्लोर", "सेकंड फ्लोर"),
    ("3/4", "तीन चौथाई"),
    ("24/7", "चौबीस घंटे, सातों दिन"),
    ("कमरा 204", "कमरा दो सौ चार"),
    # the rest
    ("डॉ. शर्मा", "डॉक्टर शर्मा"),
    ("info@clinic.com", "info एट clinic डॉट कॉम"),
    ("हाँ, आइए।", "हाँ, आइए।"),
]


@pytest.mark.parametrize(("written", "read"), TABLE, ids=[written for written, _ in TABLE])
def test_reads_as_people_do(written: str, read: str) -> None:
    assert read_aloud(Spoken(written), "hi") == read


def test_reading_twice_changes_nothing_and_leaves_no_digit() -> None:
    for written, read in TABLE:
        assert not any(c.isdigit() for c in read), written
        assert read_aloud(Spoken(read), "hi") == read


def test_the_script_tells_the_language() -> None:
    assert read_aloud(Spoken("10 बजे")) == "दस बजे"
    assert read_aloud(Spoken("at 10:00")) == "at ten o'clock"
    assert read_aloud(Spoken("10:00"), "hi") == "दस बजे"


def test_every_number_is_read_back() -> None:
    for number in (*range(1000), 1999, 26021, 250_000, 12_34_56_789, 10**12 + 7):
        words = [hindi_numbers.plain(word) for word in hindi_numbers.cardinal(str(number)).split()]
        assert hindi_numbers.number_at(words, 0) == (number, len(words))
    assert len(set(hindi_numbers.BELOW_HUNDRED)) == 100
