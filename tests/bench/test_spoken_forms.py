"""How NeMo's rows are compared, on rows made up here."""

import json

import pytest

from bench.public import spoken_forms


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("one oh five AM.", "one zero five a m", True),
        ("M-R-I", "m r i", True),
        ("two hundred and five", "two hundred five", True),
        ("पन्द्रह रुपए", "पंद्रह रुपये", True),
        ("one five", "one nine", False),
    ],
)
def test_words_that_count_as_the_same(one: str, other: str, same: bool) -> None:
    assert (spoken_forms.same_words(one) == spoken_forms.same_words(other)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("8:00 a.m.", "08:00 am", True),
        ("1,250 meters", "1250 m", True),
        ("123-4567", "1234567", True),
        ("५०", "50", True),
        ("0.5%", ".5 %", True),
        ("-66", "66", False),
        ("10", "100", False),
    ],
)
def test_writing_that_counts_as_the_same(one: str, other: str, same: bool) -> None:
    assert (spoken_forms.same_writing(one) == spoken_forms.same_writing(other)) is same


def test_counts_by_class_and_half(tmp_path) -> None:
    texts = ["half past three", "half past four", "half past five", "half past six", "brillig"]
    expected = ["03:30", "04:30", "05:30", "06:30", "nothing like it"]
    rows = [
        {"id": str(n), "lang": "en", "task": "itn", "cls": cls, "input": text, "expected": [right]}
        for cls in ("time", "time_cased")
        for n, (text, right) in enumerate(zip(texts, expected, strict=True))
    ]
    file = tmp_path / spoken_forms.FILES[0]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    figures = spoken_forms.run(tmp_path)
    (one,) = figures["classes"]
    assert (one["task"], one["class"]) == ("itn", "time")
    assert one["worked_on"]["n"] + one["held_out"]["n"] == 10
    assert one["worked_on"].get("ours", 0) + one["held_out"].get("ours", 0) == 8
    assert "time" in spoken_forms.printed(figures)
    # Both cases of a text are in the same half.
    assert one["worked_on"]["n"] % 2 == one["held_out"]["n"] % 2 == 0
