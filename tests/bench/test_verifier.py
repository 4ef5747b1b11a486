"""The benchmark of the check for the wrong right number, on a made business."""

import json

import numpy as np
import pytest

from bench.public import dstc, verifier

ROWS = [
    ("hotel/1/0", "When is check-in at The Old Inn?", "Check-in at The Old Inn is at 3 p.m."),
    ("hotel/1/1", "When is check-out?", "Check-out at the OLD INN is at 11 a.m."),
]
QUESTION = {
    "entity_id": "hotel/1",
    "question": "What time is check-in at the old inn?",
    "gold_kb": "hotel/1/0",
    "gold_body": ROWS[0][2],
    "gold_numbers": ["3"],
    "distractor_body": ROWS[1][2],
}


@pytest.fixture
def data(tmp_path):
    rows = [
        {"id": id_, "entity": "THE OLD INN", "domain": "hotel", "title": title, "body": body}
        for id_, title, body in ROWS
    ]
    (tmp_path / dstc.KB_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / dstc.QUESTIONS_FILE).write_text(json.dumps(QUESTION) + "\n")
    return tmp_path


def test_the_name_is_masked_in_question_and_answers(data):
    (pair,) = verifier.pairs(data)
    assert pair.question == "What time is check-in at it?"
    assert pair.gold == "Check-in at it is at 3 p.m."
    assert pair.other == "Check-out at it is at 11 a.m."


def test_numbers_alone_accept_both_and_the_rules_only_the_right_one(data, capsys):
    assert verifier.main(["--data", str(data), "--no-model", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rates = {
        name: (one["gold_accepted"]["rate"], one["other_rejected"]["rate"])
        for name, one in found["checks"].items()
    }
    assert rates == {"numbers": (1.0, 0.0), "rules": (1.0, 1.0), "words": (1.0, 1.0)}
    assert found["n"] == 1


def test_made_businesses_give_pairs_that_both_state_numbers(tmp_path):
    texts = ("Skis are $24. Ask at the desk.", "Boots are $11.", "We are happy to help.")
    asks = [[{"q": "how much are skis", "a": "Skis are $24."}], [], [{"q": "help?", "a": texts[2]}]]
    passages = [{"text": text, "asks": ask} for text, ask in zip(texts, asks, strict=True)]
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"id": "ski-1", "passages": passages}) + "\n")
    found = list(verifier.made_pairs([file]))
    assert found == [verifier.Pair("how much are skis", "Skis are $24.", "Boots are $11.")]


def test_missing_data_is_said(tmp_path, capsys):
    assert verifier.main(["--data", str(tmp_path), "--no-model"]) == 2
    assert dstc.QUESTIONS_FILE in capsys.readouterr().out


def test_the_cost_is_in_percentiles_of_observed_times(data):
    found = verifier.cost(verifier.pairs(data))
    assert set(found) == {"read_p50_ms", "read_p95_ms", "check_p50_ms", "check_p95_ms"}
    assert np.all(np.array([*found.values()]) > 0)
