"""Our own recogniser understands our own voice over the telephone.

Moonshine writes numbers in figures or in words as it likes, and is poor at lone digits, so each
fact is a set of accepted forms, and only facts it is known to tell apart are asserted.
"""

import re

import pytest

FACTS = [
    ("On Saturday we are open from 9 a.m. to 1 p.m.", [["saturday"], ["open"], ["1 p", "one p"]]),
    ("We close at 4:30 p.m. on Friday.", [["4 30", "four thirty"], ["friday"]]),
    ("Blood test results take 10 business days.", [["blood test"], ["10", "ten"], ["business"]]),
    ("The missed visit fee is $40.", [["40", "forty"], ["dollars", "$"]]),
    ("Please give us 24 hours' notice.", [["24", "twenty four"], ["hours"]]),
    ("Please call 555-0142.", [["555 0142", "five five five oh one four two"]]),
    ("The lab is in Room 204.", [["204", "two oh four", "two o four", "two zero four"]]),
    ("We are closed on December 24.", [["december 24", "december twenty four"]]),
]


@pytest.mark.parametrize(("text", "facts"), FACTS, ids=[text for text, _ in FACTS])
def test_facts_survive_the_telephone(heard, text, facts):
    raw = heard(text)
    print(f"{text!r} heard as {raw!r}")
    words = " ".join(re.sub(r"[^a-z0-9$]", " ", raw.lower()).split())
    for forms in facts:
        assert any(form in words for form in forms), (forms, raw)
