"""The figure blocks about checks and follow-ups, on result files written here."""

import json

import pytest

from bench import figures, readme

MACHINE = {"cpu": "a CPU", "cores": 2, "date": "2026-01-02", "commit": "abc"}
RATE = {"rate": 0.25, "n": 8, "low": 0.07, "high": 0.59}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "RESULTS", tmp_path)

    def write(name, **found):
        (tmp_path / f"{name}.json").write_text(json.dumps({"machine": MACHINE, **found}), "utf-8")

    return write


def test_answers_of_both_samples(results):
    part = {"n": 4, "right": 3, "wrong_fact": 0, "over_refused": 1, "wrongly_answered": 0}
    results("answers", **part, held_out_voice={**part, "right": 2})
    results("answers-typed", **part)
    results("answers-garage", all_voices={**part, "wrong_fact": 1})
    results("answers-garage-typed", **part)
    lines = readme.BLOCKS["answers"]().splitlines()
    assert lines[2] == "| clinic | 4 heard from the other voices | 3 | 0 | 1 | 0 |"
    assert lines[3].startswith("| clinic | 4 heard from the held-out voice | 2 |")
    assert lines[5:7] == [
        "| garage | 4 heard | 3 | 1 | 1 | 0 |",
        "| garage | 4 typed | 3 | 0 | 1 | 0 |",
    ]
    assert lines[-1].endswith("commit abc.")


def test_verifier(results):
    both = {"gold_accepted": RATE, "other_rejected": {**RATE, "rate": 0.98}}
    cost = {"check_p50_ms": 0.124, "check_p95_ms": 0.293}
    results("public-verifier", n=8, checks={"numbers": both, "answerability": both}, cost=cost)
    text = readme.BLOCKS["verifier"]()
    assert "| facts, and the score | 25.0 % | 98.0 % |" in text
    assert "8 pairs; a check takes 0.1 ms, 0.3 at p95" in text


def test_grounding(results):
    one = {"precision": {"rate": 0.63}, "recall": {"rate": 0.5}, "accepted": {"rate": 0.9}}
    checks = {"checks": dict.fromkeys(("numbers", "overlap", "grounding"), one)}
    sets = dict.fromkeys(("fever_symmetric", "summedits_claims", "begin_attribution"), checks)
    results("public-claims", sets=sets)
    lines = readme.BLOCKS["grounding"]().splitlines()
    assert len(lines) == 2 + 9 + 2
    assert lines[4] == "| FEVER, symmetric | **grounding** | 0.63 | 0.50 | 0.90 |"


def test_follow_ups(results):
    texts = {"raw": {"f1": 0.6}, "with the one before": {"f1": 0.57}, "resolved": {"f1": 0.66}}
    half = {"reported": {"follow_ups": {"n": 9, **texts}, "complete": {"n": 5, "worse": 1}}}
    results("public-follow_ups", cast=half, mtrag=half)
    text = readme.BLOCKS["follow_ups"]()
    assert "| TREC CAsT | 9 | 0.600 | 0.570 | 0.660 | 1 of 5 |" in text
