import json
from dataclasses import replace

import pytest

from frontdesk import KnowledgeBaseError
from rag import Decision, evaluate_answers, evaluate_retrieval, questions
from rag.answer import answer
from rag.answerability import default_floor
from rag.calibration import SAMPLE_KB
from rag.distance import edits
from rag.evaluate import COUNTS, FloorsFrom, counts
from rag.search import sample_index


def row(number, text, facts=(), relevant=(), context=None, decision=None, heard=None):
    return {
        "id": f"t{number}",
        "text": text,
        "asr": "",
        "context": context,
        "relevant": list(relevant),
        "answerable": bool(facts),
        "facts": list(facts),
        "decision": decision or ("answered" if facts else "refused"),
        "audio": [
            {"file": "-", "voice": voice, "asr": asr, "held_out": voice == "zoe"}
            for voice, asr in (heard or {}).items()
        ],
    }


ROWS = [
    row(1, "What time do you open on Saturday?", ["9 a.m."], ["kb-hours#2"]),
    row(
        2,
        "And what about Sunday?",
        ["closed"],
        ["kb-hours#2"],
        "What time do you open on Saturday?",
        heard={"amy": "and what about sunday", "zoe": "and what about sunny"},
    ),
    row(3, "How much is a child's helmet?", [["$35", "35 dollars"]], ["kb-repairs#3"]),
    row(4, "How long does a full service take?", ["3 business days"], ["kb-repairs#2"]),
    row(5, "Who is the president of France?"),
    row(6, "How much is a skateboard?"),
    row(7, "Goodbye.", decision="conversation"),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in ROWS) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def rows(path):
    return questions.read(path)


def test_reading_questions(rows):
    assert [r.decision for r in rows] == [Decision.ANSWERED] * 4 + [Decision.REFUSED] * 2 + [
        Decision.CONVERSATION
    ]
    assert rows[2].facts == (("$35", "35 dollars"),)
    assert rows[1].heard == {"amy": "and what about sunday", "zoe": "and what about sunny"}
    assert questions.held_out_voice(rows) == "zoe"


def test_a_bad_row_is_named(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(ROWS[0]) + '\n{"id": 1}\n', "utf-8")
    with pytest.raises(KnowledgeBaseError, match="row 2 cannot be read"):
        questions.read(path)


def test_follow_ups_are_resolved_in_the_same_voice(rows):
    asked = questions.asked(rows)
    by_voice = {one.voice: one.query.text for one in asked if one.question.id == "t2"}
    assert by_voice["amy"] == "what time do you open on sunday"
    assert by_voice["zoe"] == "what time do you open on saturday sunny"
    typed = questions.asked(rows, [questions.TYPED])
    assert [one.voice for one in typed] == [questions.TYPED] * 7


def test_a_question_is_heard_when_most_of_its_words_arrive(rows):
    asked = {one.voice: one for one in questions.asked(rows) if one.question.id == "t2"}
    assert asked["amy"].is_heard
    assert not asked["zoe"].is_heard


@pytest.mark.parametrize(
    ("a", "b", "limit", "found"),
    [("kitten", "sitting", None, 3), ("", "abc", None, 3), ("abc", "xyz", 1, 2), ("a", "a", 0, 0)],
)
def test_edits(a, b, limit, found):
    assert edits(a, b, limit) == found


def test_counts_tell_the_outcomes_apart(index, rows):
    asked = questions.asked(rows, [questions.TYPED])
    swapped = {"t1": "t3", "t3": "t5", "t5": "t1", "t7": "t5"}
    verdicts = {one.question.id: answer(one.query, index) for one in asked}
    right = counts([(one, verdicts[one.question.id]) for one in asked])
    assert (right["n"], right["right"], right["wrong"]) == (7, 7, [])
    mixed = counts(
        [(one, verdicts[swapped.get(one.question.id, one.question.id)]) for one in asked]
    )
    assert {name: mixed[name] for name in COUNTS} == {
        "n": 7,
        "right": 3,
        "wrong_fact": 1,
        "over_refused": 2,
        "wrongly_answered": 1,
        "passed_checks_yet_wrong": 2,
    }
    assert [w["outcome"] for w in mixed["wrong"]] == [
        "wrong_fact",
        "over_refused",
        "wrongly_answered",
        "over_refused",
    ]


def test_evaluate_answers_keeps_the_held_out_voice_apart(index, rows):
    seen = []
    result = evaluate_answers(
        index,
        questions.asked(rows),
        held_out_voice="zoe",
        folds=2,
        alpha=0.97,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert (result["n"], result["held_out_voice"]["n"]) == (7, 1)
    assert result["held_out_voice"]["voice"] == "zoe"
    assert seen == [(n, 15) for n in range(1, 16)]  # seven are measured first
    assert [list(fold) for fold in result["folds"]] == [["en"], ["en"]]
    assert 0 <= result["floor"]["en"] <= 1
    assert sum(result[k] for k in ("right", "wrong_fact", "over_refused", "wrongly_answered")) == 7


def test_by_the_floors_in_force_or_the_default_one(index, rows):
    typed = questions.asked(rows, [questions.TYPED])
    own = evaluate_answers(index, typed, floors=FloorsFrom.INDEX)
    assert (own["floors"], own["floor"], own["folds"]) == ("index", {"en": 0.3}, [])
    assert own["floors_note"].startswith("the floor is the one in force, set by none;")
    assert (own["n"], own["right"], own["held_out_voice"]["n"]) == (7, 7, 0)
    closed = replace(index, calibrations={"en": replace(index.calibrations["en"], floor=1.0)})
    refused = evaluate_answers(closed, typed, floors=FloorsFrom.INDEX)
    assert refused["over_refused"] == 4
    default = evaluate_answers(closed, typed, floors=FloorsFrom.DEFAULT)
    assert default["floor"] == {"en": default_floor(index.embedder, "en")}
    assert default["right"] > refused["right"]
    assert "not measured on these documents" in default["floors_note"]


def test_without_enough_questions_for_folds_the_floor_in_force_stands_and_says_so(index, rows):
    found = evaluate_answers(index, questions.asked(rows), floors=None)
    assert (found["floors"], found["floor"]) == ("index", {"en": 0.3})
    assert "unanswerable questions, too few" in found["floors_note"]
    by_folds = evaluate_answers(index, questions.asked(rows), floors=None, folds=2, alpha=0.97)
    assert by_folds["floors"] == "folds"


def test_too_few_questions_to_evaluate(index, rows):
    with pytest.raises(KnowledgeBaseError, match=r"has \d unanswerable questions, too few .* add"):
        evaluate_answers(index, questions.asked(rows))
    with pytest.raises(KnowledgeBaseError, match="no question sets a floor"):
        evaluate_answers(index, [])


@pytest.mark.parametrize(("n", "more"), [(5, 28), (29, 4), (32, 2)])
def test_what_is_missing_is_enough_once_it_is_added(index, tmp_path, n, more):
    """Of 29 to 32 questions a fold leaves fewer than the 29 that one in ten takes."""

    def evaluate(count):
        path = tmp_path / "questions.jsonl"
        unanswerable = [row(9 + i, "Who is the president of France?") for i in range(count)]
        path.write_text("\n".join(map(json.dumps, [ROWS[0], ROWS[2], *unanswerable])), "utf-8")
        return evaluate_answers(index, questions.asked(questions.read(path)))

    with pytest.raises(KnowledgeBaseError, match=rf"has {n} .* for 10 folds: .*: add {more}$"):
        evaluate(n)
    assert evaluate(n + more)["n"] == n + more + 2


def test_evaluate_retrieval(index, rows):
    result = evaluate_retrieval(index, questions.asked(rows, [questions.TYPED]))
    dense = result["rewritten"]["dense"]
    assert dense == {
        "recall_at_1": 1.0,
        "recall_at_3": 1.0,
        "hit_at_10": 1.0,
        "mrr": 1.0,
        "ndcg": 1.0,
        "n": 4,
    }
    assert result["raw"]["dense"]["n"] == 4
    nothing = evaluate_retrieval(index, [])
    assert nothing["raw"]["dense"]["n"] == 0


def test_the_twelve_questions_of_the_clinic_as_typed():
    rows = questions.read(SAMPLE_KB / questions.QUESTIONS_FILE)[:12]
    index = sample_index()
    asked = questions.asked(rows, [questions.TYPED], fillers=index.kb.fillers)
    result = counts([(one, answer(one.query, index)) for one in asked])
    assert result["wrong"] == []
    assert result["right"] == 12


def test_no_questions(tmp_path):
    with pytest.raises(KnowledgeBaseError, match=r"questions\.jsonl is missing"):
        questions.read(tmp_path / "questions.jsonl")


def test_a_line_separator_in_a_text(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(row(1, "open\u2028today"), ensure_ascii=False) + "\n", "utf-8")
    assert [question.text for question in questions.read(path)] == ["open\u2028today"]
