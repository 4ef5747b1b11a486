"""The public sets' code on rows made up here; the data itself is no part of the product."""

import json

import pytest

from bench.public import __main__ as command
from bench.public import clinc, covid, stackfaq, xquad
from bench.public.errors import Case, cross_fitted, rows_of
from bench.public.knowledge import Row, ask, build_index
from bench.public.rows import read, table
from rag.calibration import Rate
from rag.embed import default_embedder
from rag.types import Decision

ANSWERS = {
    "How do I reset my password?": "Press the forgotten link and follow the mail.",
    "How do I delete my account?": "Open the privacy page and choose remove everything.",
    "How do I change the language?": "Pick a language in the profile menu.",
    "How do I print a page?": "Use the printer icon at the top right.",
    "How do I share a folder?": "Open the folder menu and enter the mail address of your friend.",
    "How do I export my photos?": "Choose archive in the photo menu, then download it.",
}
OTHERS = [
    "What is the capital of Peru?",
    "Which planet has the most moons?",
    "Who wrote Hamlet?",
    "How deep is the ocean?",
    "When did the war end?",
    "Which bird flies fastest?",
    "What do pandas eat?",
    "How tall is a giraffe?",
]
POLITE = [
    "please,",
    "tell me,",
    "excuse me,",
    "I wonder,",
    "one thing,",
    "quickly,",
    "again,",
    "sorry,",
]


def write(folder, name, rows):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    faqs = [
        {
            "question": q,
            "answers": [a, "Another."],
            "paraphrases": [q.lower(), *(f"{word} {q}" for word in POLITE)],
        }
        for q, a in ANSWERS.items()
    ]
    write(folder, "stackfaq.jsonl", faqs)
    write(folder, "covid_faq_kb.jsonl", [{"question": q, "answer": a} for q, a in ANSWERS.items()])
    questions = [*ANSWERS]
    pairs = [
        *(
            {"question_1": q, "question_2": f"{word} {q}", "similar": "1"}
            for q in questions
            for word in POLITE
        ),
        *({"question_1": q, "question_2": o, "similar": "0"} for q in questions for o in OTHERS),
        {"question_1": "Not in the FAQ?", "question_2": "no", "similar": "1"},
    ]
    write(folder, "covid_question_pairs.jsonl", pairs)
    return folder


def test_a_row_becomes_one_passage_and_its_sentences_the_right_answers():
    row = Row("kb-x", "Press the link. \n Then wait.", "How do I reset it?")
    index = build_index([row], default_embedder())
    (passage,) = index.kb.passages
    assert (passage.id, passage.text) == ("kb-x#1", "Press the link. Then wait.")
    assert passage.question == "How do I reset it?"
    assert index.passage_number("kb-x#1") == 0
    asked = ask("q", "how do I reset it", row)
    assert asked.question.facts == (("Press the link.", "Then wait."),)
    assert asked.question.is_answered("Then wait.", [passage])
    assert not asked.question.is_answered("Something else.", [passage])
    assert ask("q", "who", None).question.decision is Decision.REFUSED


def test_floors_are_set_without_the_fold_that_they_judge(monkeypatch):
    rows = [Row(f"kb-r{n}", a, q) for n, (q, a) in enumerate(ANSWERS.items())]
    index = build_index(rows, default_embedder())
    cases = [
        *(Case("own", n, ask(f"{n}", row.question, row)) for n, row in enumerate(rows)),
        *(Case("others", n, ask(f"o{n}", text, None)) for n, text in enumerate(OTHERS * 5)),
    ]
    seen = []
    from bench.public import errors

    choose = errors.choose

    def choosing(measured, **kwargs):
        seen.append({m.asked.question.id for m in measured})
        return choose(measured, **kwargs)

    monkeypatch.setattr(errors, "choose", choosing)
    done = []
    found = cross_fitted(index, cases, progress=lambda n, total: done.append((n, total)))
    assert len(found["floors"]) == len(seen) == 5
    for fold, names in enumerate(seen):
        assert names == {c.asked.question.id for c in cases if c.group % 5 != fold}
    assert done[-1] == (46, 46)
    assert found["kinds"]["own"]["n"] == 6
    assert found["kinds"]["own"]["over_refused"]["rate"] == 0.0
    assert found["kinds"]["own"]["wrong"]["rate"] == 0.0
    assert found["kinds"]["others"]["wrongly_answered"]["n"] == 40
    assert found["kinds"]["others"]["auc"] == 1.0
    assert [row[0] for row in rows_of(found)] == [
        "own: over refused",
        "own: wrong",
        "others: wrongly answered",
    ]


def test_stackfaq_asks_with_and_without_the_passage(data):
    found = stackfaq.run(data)
    assert found["passages"] == 6
    assert {kind: row["n"] for kind, row in found["kinds"].items()} == {
        "paraphrases": 54,
        "without their passage": 54,
        "of other FAQs": 6,
    }
    assert "of other FAQs: wrongly answered" in stackfaq.printed(found)


def test_covid_asks_the_whole_and_the_pair(data):
    found = covid.run(data)
    assert found["passages"] == 6
    whole, pairs = found["whole"]["kinds"], found["pairs"]["kinds"]
    assert (whole["similar"]["n"], whole["without its passage"]["n"]) == (48, 48)
    assert (pairs["similar"]["n"], pairs["not similar"]["n"]) == (48, 48)
    assert pairs["not similar"]["wrongly_answered"]["rate"] < 0.1
    assert covid.printed(found).count("similar: over refused") == 2


def test_clinc_asks_the_clinic(tmp_path):
    write(
        tmp_path,
        "clinc_oos.jsonl",
        [
            {"text": "what is the airspeed of a swallow", "label": "out_of_scope"},
            {"text": "what time do you open on saturday", "label": "out_of_scope"},
            {"text": "can you repeat that", "label": "repeat"},
            {"text": "what is my interest rate", "label": "interest_rate"},
        ],
    )
    found = clinc.run(tmp_path)
    # The clinic's own question under that label is there to be answered.
    assert found["out_of_scope"]["n"] == 2
    assert found["out_of_scope"]["wrongly_answered"]["rate"] == 0.5
    assert found["call_control"]["repeat"]["understood"] == {
        "rate": 1.0, "n": 1, "low": Rate.of(1, 1).low, "high": 1.0,
    }  # fmt: skip
    assert found["clinic"]["n"] > 100
    assert found["clinic"]["over_refused"]["rate"] < 0.2


def test_xquad_counts_what_comes_first(tmp_path, monkeypatch):
    passages = [
        {"id": f"xq{n}", "en": f"{q} {a}", "hi": f"{q} {a}"}
        for n, (q, a) in enumerate(ANSWERS.items())
    ]
    questions = [
        {
            "passage": f"xq{n}",
            "question_en": q,
            "question_asr_human": q.lower() if n else "who wrote hamlet",
            "question_hi": q,
        }
        for n, q in enumerate(ANSWERS)
    ]
    write(tmp_path, xquad.FILES[0], passages)
    write(tmp_path, xquad.FILES[1], questions)
    monkeypatch.setattr(xquad, "SETS", (("minilm", "en", ("clean", "heard")),))
    done = []
    found = xquad.run(tmp_path, progress=lambda n, total: done.append((n, total)))
    assert done[-1] == (12, 12)
    top1 = found["top1"]["minilm, en"]
    assert top1["clean"]["dense"] == top1["clean"]["words"] == top1["clean"]["quoted"] == 1.0
    assert top1["heard"]["words"] == pytest.approx(5 / 6, abs=1e-4)
    assert top1["clean"][xquad.HYBRID] == 1.0
    assert xquad.printed(found).splitlines()[1].split()[:4] == ["minilm,", "en", "clean", "0.913"]


def test_sets_that_are_not_there_are_left_out(data, monkeypatch, capsys, tmp_path):
    written = {}
    monkeypatch.setattr(command, "write_result", lambda name, f: written.update({name: f}))
    assert command.main([str(data), "covid", "clinc"]) == 0
    out, err = capsys.readouterr()
    assert set(written) == {"public-covid"}
    assert out.startswith("COVID FAQ, whole")
    assert f"clinc: left out, {data} has no clinc_oos.jsonl" in err
    with pytest.raises(SystemExit):
        command.main([str(data), "nonsense"])
    assert "unknown set 'nonsense'" in capsys.readouterr().err


def test_reading_and_printing(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": "\u2028"}\n\n{"a": 2}\n', "utf-8")
    assert read(tmp_path / "x.jsonl") == [{"a": "\u2028"}, {"a": 2}]
    assert table(("name", "x"), [["long name", 0.5], ["b", Rate.of(1, 2)]]).splitlines() == [
        "name       x",
        "long name  0.500",
        "b          0.500 (0.095 to 0.905, n 2)",
    ]
