"""What counts once, and marks on wires that confirm a clear as a whole."""

import pytest

from frontdesk import ForbiddenError
from telephony.marks import MarksOut
from telephony.once import Once


def test_a_key_counts_once_for_its_time():
    once = Once(60)
    once.spend("a", 0)
    for now in (0, 59):
        with pytest.raises(ForbiddenError, match="second time"):
            once.spend("a", now)
    once.spend("b", 59)
    once.spend("a", 60)


def test_what_is_full_takes_nothing_until_something_is_too_old():
    once = Once(60, max_kept=2)
    once.spend("a", 0)
    once.spend("b", 30)
    with pytest.raises(ForbiddenError, match="too many"):
        once.spend("c", 59)
    once.spend("c", 60)
    with pytest.raises(ForbiddenError, match="second time"):
        once.spend("b", 60)


def test_each_clear_settles_what_was_out_when_it_left():
    marks = MarksOut()
    marks.sent("a")
    marks.clear_sent()
    marks.sent("b")
    marks.clear_sent()
    marks.sent("c")
    assert marks.cleared() == ["a"]
    assert not marks.reached("a")
    assert marks.reached("b")
    assert marks.cleared() == []
    assert marks.cleared() == [], "one that was not asked for"
    assert marks.reached("c")
