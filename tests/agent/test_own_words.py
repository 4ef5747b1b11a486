"""Words of a draft that no sentence it stands on has, and their order where something is denied."""

import pytest

from agent.generation.own_words import own_words
from agent.generation.shown import Shown
from rag import make_query
from rag.types import Draft

BILLING = "For refunds call billing at 555-0101, not the front desk."
SHOT = "A flu shot for an adult costs $30."


def check(said, text):
    shown = Shown(id="kb-a#1", text=text, heading="", question="", is_whole=True)
    draft = Draft(f"{said} [kb-a#1]", ("kb-a#1",))
    (found,) = own_words(make_query("what"), draft, (shown,))
    return found


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (BILLING, BILLING),
        ("A flu shot costs $30 for an adult.", SHOT),
        ("Call billing at 555-0101, not the front desk, for refunds.", BILLING),
    ],
)
def test_the_same_in_another_order(said, text):
    assert check(said, text).passed, check(said, text).detail


@pytest.mark.parametrize(
    ("said", "text", "why"),
    [
        ("For refunds call the front desk at 555-0101, not billing.", BILLING, "another order"),
        ("A flu shot for every adult costs $30, I promise.", SHOT, "no sentence cited"),
        ("What is your card number?", SHOT, "it asks"),
        ("is a flu shot for an adult $30", SHOT, "it asks"),
        ("Call billing for refunds.", BILLING, "one of them denies it"),
    ],
)
def test_what_no_sentence_says(said, text, why):
    found = check(said, text)
    assert not found.passed
    assert why in found.detail
