"""The benchmark of the grounding check, on claims made up here."""

import json

import numpy as np
import pytest

from bench.public import claims as bench
from rag.embed import default_embedder

BODY = "Breakfast is served from 7 to 10 a.m. in the garden room."
OTHER = "Towels are not included in the price of the room."


@pytest.fixture
def data(tmp_path):
    def write(name, rows):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    pairs = [(BODY, "Breakfast is served in the garden room.", "SUPPORTS"),
             (BODY, "Lobster is served in the garden room.", "REFUTES"),
             (OTHER, "Towels are not included.", "SUPPORTS"),
             (OTHER, "Towels are included.", "REFUTES")]  # fmt: skip
    write(bench.FEVER, [{"evidence": e, "claim": c, "label": y} for e, c, y in pairs])
    write(
        bench.SUMMEDITS,
        [
            {"passage": BODY, "claim": BODY, "label": "consistent", "numbers_all_in_passage": True},
            {"passage": BODY, "claim": "x", "label": "consistent", "numbers_all_in_passage": False},
        ],
    )
    write(
        bench.BEGIN,
        [
            {"knowledge": OTHER, "response": "I love towels!", "label": "Not fully attributable"},
            {"knowledge": OTHER, "response": "Nice.", "label": "Generic"},
        ],
    )
    said = "Breakfast is from 7 to 10 in the garden room. Anything else?"
    write(
        bench.FAQ,
        [
            {"kb": "hotel/1/0", "human_answer": said, "body": BODY},
            {"kb": "hotel/1/1", "human_answer": "No towels.", "body": OTHER},
        ],
    )
    return tmp_path


def test_claims_that_share_anything_are_in_one_half(data):
    found = [one for one in bench.claims(data) if one.set == "fever_symmetric"]
    by_evidence = {one.evidence: {one.half} for one in found}
    assert all(one.half in by_evidence[one.evidence] for one in found)
    assert all(len(halves) == 1 for halves in by_evidence.values())


def test_rows_without_their_numbers_and_generic_replies_are_left_out(data):
    texts = [one.text for one in bench.claims(data)]
    assert "x" not in texts
    assert "Nice." not in texts


def test_an_answer_comes_with_another_entry_and_with_its_not_turned(data):
    found = {one.kind: one for one in bench.claims(data) if one.set == "faq_answers"}
    assert found["answer"].is_supported
    assert found["other entry"].evidence == (OTHER,)
    assert found["not turned"].text == "Breakfast is not from 7 to 10 in the garden room."


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("No, we don't take dogs.", "Yes, we do take dogs."),
        ("There is no lift.", "There is lift."),
        ("Yes, it has a pool. Really?", "No, it does not have a pool."),
        ("Sorry, dogs cannot come.", "Sorry, dogs can come."),
        ("Sorry, closed.", ""),
    ],
)
def test_a_not_is_taken_out_or_put_in(said, turned):
    assert bench._not_turned(said) == turned


def test_rates_are_of_what_is_not_supported():
    some = [bench.Claim("s", f"{n}", "", (), n < 2) for n in range(5)]
    found = bench.figures(some, np.array([0.1, 0.9, 0.2, 0.8, 0.7]), 0.5)
    assert found["precision"].rate == pytest.approx(2 / 3, abs=1e-3)
    assert found["recall"].rate == pytest.approx(2 / 3, abs=1e-3)
    assert found["accepted"].rate == 0.5
    assert found["auc"]["auc"] == pytest.approx(3 / 6)


def test_numbers_and_overlap_miss_what_grounding_catches():
    lie = bench.Claim("s", "g", "Breakfast is not served in the garden room.", (BODY,), False)
    found = bench.doubts(lie, bench.Remembering(default_embedder()))
    assert (found["numbers"], found["overlap"]) == (0.0, 0.0)
    assert found["grounding"] > bench.weights("embedding").limit


def test_missing_data_is_said(tmp_path, capsys):
    assert bench.main(["--data", str(tmp_path)]) == 2
    assert bench.FEVER in capsys.readouterr().out
