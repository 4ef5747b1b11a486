"""The near-miss benchmark on two made businesses."""

import json

import pytest

from bench.public import __main__ as every_set
from bench.public import dstc

ROWS = [
    ("hotel/1/0", "THE OLD INN", "When is check-in at The Old Inn?", "Check-in is at 3 p.m."),
    ("hotel/1/1", "THE OLD INN", "When is check-out?", "Check-out at the OLD INN is\n until 11."),
    ("hotel/1/2", "THE OLD INN", "Is there WiFi?", "The Old Inn has free WiFi."),
    ("taxi/*/1", None, "Do I get a receipt?", "Receipts are sent by text message."),
]
QUESTION = {
    "id": "wc-1",
    "entity": "THE OLD INN",
    "entity_id": "hotel/1",
    "question": "What time can I check in at the old inn?",
    "gold_kb": "hotel/1/0",
    "gold_numbers": ["3"],
}


@pytest.fixture
def data(tmp_path):
    keys = ("id", "entity", "title", "body")
    rows = [{**dict(zip(keys, row, strict=True)), "domain": row[0].split("/")[0]} for row in ROWS]
    (tmp_path / dstc.KB_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / dstc.QUESTIONS_FILE).write_text(json.dumps(QUESTION) + "\n")
    return tmp_path


def test_the_name_is_masked_in_any_capitalisation(data):
    inn, taxi = dstc.businesses(data)
    assert [faq.answer for faq in inn.faqs] == [
        "Check-in is at 3 p.m.",
        "Check-out at it is until 11.",
        "it has free WiFi.",
    ]
    assert inn.faqs[0].question == "When is check-in at it?"
    assert (taxi.name, taxi.faqs[0].question) == ("", "Do I get a receipt?")
    (asked,) = dstc.questions(data, {inn.id: inn.name}, mask="this place")
    assert asked.text == "What time can I check in at this place?"
    assert asked.numbers == {"3"}


@pytest.mark.parametrize("titles", [False, True])
def test_the_right_passage_comes_first_and_is_missed_when_it_is_gone(data, titles):
    seen = []
    found = dstc.run(data, titles, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 1)]
    assert (found["n"], found["titles"]) == (1, titles)
    assert (found["right_first"], found["other_number"], found["auc"]) == (1.0, 0.0, 1.0)
    # One question alone sets the floor, so it is not refused.
    assert (found["refused_at_5"], found["over_refusal"]) == (1.0, 0.0)


def test_figures():
    asked = dstc.Asked("hotel/1", "?", "hotel/1/0", frozenset("3"))
    rows = [(True, False, 0.9, 0.1), (True, False, 0.8, 0.85), (False, True, 0.2, 0.0)]
    found = dstc.figures([dstc.Outcome(asked, *row) for row in rows], over_refusal=0.5)
    assert found == {
        "n": 3,
        "businesses": 1,
        "right_first": 0.6667,
        "other_number": 0.3333,
        "refused_at_5": 0.6667,
        "over_refusal": 0.3333,
        "floor": 0.8,
        "auc": 0.7778,
    }


def test_numbers():
    assert dstc.numbers_in("from 3:30 to 9, or 120 USD") == {"3:30", "9", "120"}
    assert dstc.numbers_in("$11.40 a day, tax 2.5.") == {"11.40", "2.5"}


def test_the_command(data, capsys):
    assert dstc.main(["--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["right_first"] == 1.0
    assert dstc.main(["--data", str(data / "none")]) == 2
    assert dstc.KB_FILE in capsys.readouterr().out


def test_among_all_sets_it_runs_with_and_without_the_questions(data, monkeypatch, capsys):
    written = {}
    monkeypatch.setattr(every_set, "write_result", lambda name, f: written.update({name: f}))
    assert every_set.main([str(data), "dstc", "--no-save"]) == 0
    assert written == {}
    head, bodies, titles = capsys.readouterr().out.splitlines()
    assert head.split()[:5] == ["DSTC10", "near", "misses", "n", "businesses"]
    assert bodies.split()[:4] == ["bodies", "1", "1", "1.000"]
    assert titles.split()[:4] == ["titles", "1", "1", "1.000"]
    assert every_set.main([str(data), "dstc"]) == 0
    found = written["public-dstc"]
    assert [found[name]["titles"] for name in ("bodies", "titles")] == [False, True]


def test_among_all_sets_progress_is_over_both(data):
    seen = []
    every_set.SETS["dstc"].run(data, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
