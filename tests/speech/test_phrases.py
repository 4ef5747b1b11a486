"""What is said splits into pieces that make it up again."""

import pytest

from speech.phrases import phrases

LONG = (
    "The missed visit fee is forty dollars, and we ask for twenty-four hours notice before "
    "you cancel. Thank you."
)


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        ("", []),
        ("  \n ", []),
        ("Goodbye.", ["Goodbye."]),
        ("We open at nine. We close at five!", ["We open at nine.", "We close at five!"]),
        (
            LONG,
            [
                "The missed visit fee is forty dollars,",
                "and we ask for twenty-four hours notice before you cancel.",
                "Thank you.",
            ],
        ),
        (
            "You can come in without an appointment on any weekday when the doors are open.",
            [
                "You can come in without an appointment on any weekday",
                "when the doors are open.",
            ],
        ),
        ("हम नौ बजे खुलते हैं। कल आइए।", ["हम नौ बजे खुलते हैं।", "कल आइए।"]),
        (
            "क्लिनिक सुबह नौ बजे से शाम पाँच बजे तक खुला रहता है और रविवार को पूरे दिन बंद रहता है।",
            [
                "क्लिनिक सुबह नौ बजे से शाम पाँच बजे तक खुला रहता है",
                "और रविवार को पूरे दिन बंद रहता है।",
            ],
        ),
        ("x" * 100, ["x" * 100]),
        ("No, " + "the clinic stays closed on that particular holiday this year.", None),
    ],
)
def test_pieces(words, pieces):
    found = phrases(words)
    assert " ".join(found) == " ".join(words.split())
    if pieces is not None:
        assert found == pieces
    else:
        assert len(found) == 1  # "No," alone is too short a piece
