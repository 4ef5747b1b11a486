"""The grounding check, with the product's own embedder."""

from typing import ClassVar

import pytest

from agent.generation.shown import Shown
from rag.embed import default_embedder
from rag.grounding import as_check, draft_check, grounded
from rag.grounding.evidence import evidence_of, sentence_of
from rag.grounding.features import seen
from rag.grounding.judge import is_quoted
from rag.grounding.words import plain, words
from rag.types import Draft, Query

PARKING = (
    "Parking behind the clinic is free for patients for up to 2 hours. After that it is $3 an "
    "hour. Dogs are not allowed in the garden, except guide dogs. The gate opens at 8 a.m."
)


class NoEmbedder:
    """Fails when it is asked for anything but its name."""

    hash = default_embedder().hash

    def embed(self, text):
        raise AssertionError(f"embedded {text!r}")


@pytest.mark.parametrize(
    "said",
    [
        "Parking behind the clinic is free for patients for up to 2 hours.",
        "After that it is $3 an hour. Dogs are not allowed in the garden, except guide dogs.",
        "the gate opens at 8 a.m.",
    ],
)
def test_a_quoted_sentence_passes_by_overlap_without_an_embedding(said):
    found = grounded(said, [PARKING], NoEmbedder())
    assert (found.ok, found.overlap, found.decided_by) == (True, 1.0, "quoted")


@pytest.mark.parametrize(
    "part",
    [
        "dogs are allowed in the garden",
        "allowed in the garden, except guide dogs.",
        "Parking behind the clinic is free",
    ],
)
def test_a_part_of_a_sentence_is_no_quote(part):
    assert not is_quoted(part, [PARKING])


@pytest.mark.parametrize(
    "said",
    [
        "Patients park free behind the clinic for up to two hours.",
        "You can park for free behind the clinic, up to 2 hours.",
        "Dogs are not allowed in the garden. Is there anything else?",
        "The gate opens at 8 AM.",
    ],
)
def test_a_faithful_answer_in_other_words_passes(said):
    found = grounded(said, [PARKING], default_embedder())
    assert found.ok, found.detail


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Parking behind the clinic is free for up to 4 hours.", "4"),
        ("The gate opens at 8 p.m.", "8pm"),
        ("The gate closes at 8 a.m.", "opens"),
        ("Dogs are allowed in the garden.", "deni"),
        ("Parking behind the clinic is not free for patients.", "not"),
        ("The clinic lends bicycles to visitors from abroad.", "nothing in the evidence"),
        ("You may leave your car there overnight.", "overnight"),
    ],
)
def test_a_lie_fails_and_says_why(said, why):
    found = grounded(said, [PARKING], default_embedder())
    assert not found.ok
    assert why in found.reason


def test_the_opposite_of_another_day_is_no_support():
    hours = ["On Saturday the clinic is open from 9 to 1. On Sunday the clinic is closed all day."]
    assert not grounded("The clinic is open on Sunday.", hours, default_embedder()).ok
    assert grounded("The clinic is closed on Sunday.", hours, default_embedder()).ok
    assert grounded("The clinic is open on Saturday.", hours, default_embedder()).ok


def test_the_worst_of_several_sentences_decides():
    found = grounded(
        "The gate opens at 8 a.m. The clinic has a helicopter and a swimming pool.",
        [PARKING],
        default_embedder(),
    )
    assert not found.ok
    assert found.sentence.startswith("The clinic has a helicopter")


@pytest.mark.parametrize("said", ["", "Yes.", "Is there anything else I can do for you?"])
def test_what_states_nothing_does_not_stand(said):
    assert not grounded(said, [PARKING]).ok


def test_nothing_stands_without_evidence():
    assert not grounded("Parking is free.", []).ok


def test_what_stands_beside_a_passage_is_known_but_supports_nothing():
    known = evidence_of(("Closed.",), "Pharmacy hours")
    assert seen(sentence_of("The pharmacy is closed."), known).values["overlap"] == 1.0
    question = "Do you take dogs?"
    assert not grounded("You take dogs.", ["No, never."], default_embedder(), around=question).ok


def test_an_embedder_that_nothing_was_fitted_for_is_not_asked():
    class Other(NoEmbedder):
        hash = "another"

    assert grounded("Parking for patients is free.", [PARKING], Other()).similarity is None


def test_numbers_are_compared_by_value():
    def values(text):
        return [word.stem for word in words(plain(text)) if word.is_number]

    assert values("twenty-four, 8:00 a.m., 1,500 and the 3rd") == ["24", "8am", "1500", "3"]
    assert values("nobody, no one") == []


def test_the_check_names_the_values_compared():
    check = as_check("The gate opens at 9 a.m. [kb-gate#1]", [PARKING])
    assert (check.name, check.passed) == ("grounded", False)
    assert "overlap" in check.detail
    assert "9am" in check.detail


def test_a_generator_can_use_it_on_a_draft():
    shown = (Shown("kb-a#1", PARKING, "Parking"),)
    check = draft_check(default_embedder())
    right = Draft("The gate opens at 8 a.m. [kb-a#1]", ("kb-a#1",))
    wrong = Draft("The gate closes at 8 a.m. [kb-a#1]", ("kb-a#1",))
    query = Query("when", "when")
    assert [check(query, one, shown)[0].passed for one in (right, wrong)] == [True, False]


def test_the_sentences_of_a_passage_are_embedded_once_for_all_drafts():
    class Counting:
        hash = default_embedder().hash
        read: ClassVar[list[str]] = []

        def embed(self, text):
            self.read.append(text)
            return default_embedder().embed(text)

    check = draft_check(Counting())
    shown = (Shown("kb-a#1", PARKING, "Parking"),)
    for said in ("Patients park there for free.", "Parking is free for every patient."):
        check(Query("q", "q"), Draft(said, ("kb-a#1",)), shown)
    assert len(Counting.read) == len(set(Counting.read)) > 3
