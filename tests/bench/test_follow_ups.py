"""The follow-up benchmark on rows made up here; the data itself is no part of the product."""

import json

import numpy as np
import pytest

from bench.public import follow_ups
from rag.follow_up import Names


def row(conv, history, query, gold, needs):
    return {
        "conv": conv,
        "history": history,
        "query": query,
        "rewrite": gold,
        "needs_rewrite": needs,
    }


ROWS = [
    row("a", [], "How much is a flu shot?", "How much is a flu shot?", False),
    row("a", ["How much is a flu shot?"], "Where is it?", "Where is the flu shot?", True),
    row("a", ["How much is a flu shot?"], "Do you sell helmets?", "Do you sell helmets?", False),
]

KB = [
    {"id": "h/1/0", "entity": "Harbour Lights", "title": "Dogs?", "body": "Dogs sleep in."},
    {"id": "h/1/1", "entity": "Harbour Lights", "title": "Pool?", "body": "There is a pool."},
    {"id": "h/2/0", "entity": "Mill House", "title": "Dogs?", "body": "No dogs."},
]

DIALOGUE = {
    "id": "d-1",
    "history": [
        {"role": "caller", "text": "find me a place"},
        {"role": "agent", "text": "there is one called the harbor lights"},
    ],
    "query_asr": "do they take dogs",
    "knowledge_seeking": True,
    "gold_kb": ["h/1/0"],
}


class Letters:
    """Texts as the words that they hold, of a few: enough to tell these rows apart."""

    words = ("dogs", "pool", "harbour", "mill", "sleep", "no")

    def encode(self, texts, *, query=False, progress=None):
        found = [[float(word in text.lower()) for word in self.words] for text in texts]
        return np.array(found, dtype=np.float32) + 0.01


def test_overlap_counts_content_words_of_both_alike():
    assert follow_ups.overlap("where is the flu shot", "Where is a flu shot?") == (1, 1, 1)
    recall, precision, f1 = follow_ups.overlap("flu pizza", "flu shot two")
    assert (recall, precision) == (pytest.approx(1 / 3), 0.5)
    assert f1 == pytest.approx(0.4)
    assert follow_ups.overlap("", "flu") == (0, 1, 0)
    assert follow_ups.overlap("twenty four", "24")[2] == 1


def test_rewrites_are_measured_apart_and_beside_the_simple_ways():
    part = follow_ups.half("a")
    found = follow_ups.rewriting(ROWS)[part]
    ups, complete = found["follow_ups"], found["complete"]
    assert (ups["n"], complete["n"]) == (1, 1)
    assert ups["raw"]["f1"] == 0
    assert ups["with the one before"] == {"recall": 1, "precision": 1, "f1": 1}
    assert ups["resolved"]["f1"] == 1
    assert complete["with the one before"]["precision"] == 0.5
    assert (complete["resolved"]["f1"], complete["made_worse"]) == (1, 0)
    assert (complete["worse"], complete["plain"]) == (0, {"n": 1, "worse": 0})


def test_every_dialogue_is_in_one_half_for_good():
    halves = [follow_ups.half(f"d{n}") for n in range(200)]
    assert halves == [follow_ups.half(f"d{n}") for n in range(200)]
    assert 60 < halves.count("reported") < 140


def test_a_spoken_question_is_looked_up_at_the_place_last_named():
    heard = follow_ups.heard(DIALOGUE, Names({"h/1": "Harbour Lights", "h/2": "Mill House"}))
    assert heard.document == "h/1"
    found = follow_ups.spoken([DIALOGUE], KB, Letters())[follow_ups.half("d-1")]
    assert (found["n"], found["right_document"]) == (1, 1)
    assert found["of its document"] == {"hit_at_1": 1, "hit_at_5": 1}


def test_the_command_reads_a_folder(tmp_path, capsys):
    assert follow_ups.main(["--data", str(tmp_path), "--text"]) == 2
    assert "lacks" in capsys.readouterr().out
    for file in follow_ups.REWRITES.values():
        (tmp_path / file).write_text("".join(f"{json.dumps(one)}\n" for one in ROWS))
    assert follow_ups.main(["--data", str(tmp_path), "--text", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cast"][follow_ups.half("a")]["follow_ups"]["n"] == 1
