"""The bench of made questions on businesses made up here; the data itself is no part of us."""

import json

import pytest

from bench import expansion
from rag.embed import default_embedder

FAQ = {
    "Can I bring my dog?": "Pets are welcome.",
    "What does a swim cost?": "The pool costs $5.",
    "When do you close?": "We are open from 9 a.m. to 6 p.m.",
    "Is there somewhere to park?": "There is a car park. It is behind the house.",
}


def rows_of(business):
    return [
        {
            "id": f"{business}/{n}",
            "domain": "hotel",
            "entity": "THE ANCHOR",
            "title": title,
            "body": body,
        }
        for n, (title, body) in enumerate(FAQ.items())
    ]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def data(tmp_path):
    write(
        tmp_path / expansion.FILES[0],
        [row for n in range(4) for row in rows_of(f"hotel/{n}")],
    )
    write(tmp_path / expansion.FILES[1], [{"entity_id": "hotel/1"}])
    return tmp_path


@pytest.fixture
def kb(tmp_path):
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "pool.md").write_text("The pool costs $5.\n\nPets are welcome.\n", "utf-8")
    row = {
        "id": "q1",
        "text": "How much is a swim?",
        "asr": "",
        "context": None,
        "relevant": ["pool#1"],
        "answerable": True,
        "facts": [["$5"]],
    }
    write(folder / "questions.jsonl", [row])
    return folder


def test_businesses_that_are_scored_elsewhere_are_left_out(data, kb):
    seen = []
    found = expansion.run(data, kb, progress=lambda *done: seen.append(done))
    assert [one["businesses"] for one in found.values()] == [2, 1, 1]
    assert [one["questions"] for one in found.values()] == [8, 4, 1]
    assert [one["passages"] for one in found.values()] == [8, 4, 2]
    assert seen == [(n, 4) for n in range(1, 5)]
    assert found["chosen on"]["made_a_passage"] > 1


def test_the_very_question_as_a_key_is_found_first(data, kb):
    asked = {body: title.lower().strip("?") for title, body in FAQ.items()}
    perfect = expansion.run(data, kb, make=lambda passage: [asked.get(passage.text, "")])
    none = expansion.run(data, kb, make=lambda passage: ())
    assert perfect["chosen on"]["with"] == {"right_first": 1.0, "auc": 1.0}
    assert none["chosen on"]["with"] == none["chosen on"]["without"]
    assert none["chosen on"]["made_a_passage"] == 0
    assert perfect["chosen on"]["without"] == none["chosen on"]["without"]


def test_each_text_is_embedded_once(data, kb):
    class Counting:
        def __init__(self, real):
            self.dim, self.real, self.texts = real.dim, real, []

        def encode(self, texts, query=False):
            self.texts += [(text, query) for text in texts]
            return self.real.encode(texts, query=query)

    counting = Counting(default_embedder())
    expansion.run(data, kb, embedder=counting)
    assert len(counting.texts) == len(set(counting.texts))


def test_a_table_for_people_and_json_for_the_rest(data, kb, capsys):
    options = ["--data", str(data), "--kb", str(kb), "--no-save"]
    assert expansion.main(options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == (
        "questions made businesses asked made a passage right first with auc with".split()
    )
    assert [line[:9].strip() for line in lines[1:]] == ["chosen on", "held out", "sample cl"]
    assert expansion.main([*options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held out"]["questions"] == 4


def test_without_the_data(tmp_path, capsys):
    assert expansion.main(["--data", str(tmp_path)]) == 2
    assert "lacks dstc10_kb.jsonl and dstc_wrong" in capsys.readouterr().out
