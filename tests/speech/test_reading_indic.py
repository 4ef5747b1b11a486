"""Bengali, Gujarati, Tamil and Telugu, whose plain numbers the voice reads itself."""

import pytest

from frontdesk import Spoken
from speech.reading import read_aloud


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("আমরা সকাল ৯:৩০ টায় খুলি।", "আমরা সকাল 9 30 টায় খুলি।"),
        ("ফি ₹500, 10% কম", "ফি 500 টাকা, 10 শতাংশ কম"),
        ("ફોન 555-0142 પર કરો.", "ફોન 5 5 5, 0 1 4 2 પર કરો."),
        ("સોમવારથી શુક્રવાર 9-5", "સોમવારથી શુક્રવાર 9 થી 5"),
        ("கட்டணம் ₹1,250", "கட்டணம் 1250 ரூபாய்"),
        ("98765 43210 కు కాల్ చేయండి", "9 8 7 6 5, 4 3 2 1 0 కు కాల్ చేయండి"),
        ("info@clinic.com కు రాయండి", "info ఎట్ clinic డాట్ com కు రాయండి"),
    ],
)
def test_what_a_voice_would_misread_is_written_out(written: str, read: str) -> None:
    assert read_aloud(Spoken(written)) == read
    assert read_aloud(Spoken(read)) == read
