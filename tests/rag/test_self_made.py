import pytest

from rag import Decision, documents
from rag.building import build
from rag.self_made import (
    LEFT_OUT,
    OTHER_BUSINESS,
    make,
    measure_made,
    other_businesses,
    shortened,
)
from rag.types import Policy
from tests.rag.shop_kb import HOURS, REPAIRS, write_kb
from tests.rag.table_embedder import TableEmbedder

FAQ = """question,answer
Do you repair electric bikes at the weekend?,"No, on weekdays only, for 40 dollars."
Do you repair electric bikes at the weekend?,The electric workshop is closed then.
How much is a helmet for a small child?,A helmet for a child costs $35.
"""
HINDI = (
    "दुकान सोमवार से शुक्रवार तक सुबह 9 बजे खुलती है और शाम 6 बजे बंद होती है।\n\n"
    "शनिवार को दुकान केवल दोपहर 1 बजे तक खुली रहती है और रविवार को बंद रहती है।\n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "faq.csv").write_text(FAQ, "utf-8")
    (tmp_path / "hindi.md").write_text(HINDI, "utf-8")
    return write_kb(tmp_path, hours=HOURS, repairs=REPAIRS)


@pytest.fixture
def made(folder):
    return make(build(documents.load(folder), TableEmbedder({}), {}))


def of(made, kind, language="en"):
    return [
        one
        for one in made
        if one.asked.question.kind == kind and one.asked.query.language == language
    ]


def test_passages_with_one_question_are_one(made):
    assert {one.asked.query.text: one.asked.question.relevant for one in of(
        made, "from its question"
    )} == {
        "do you repair bikes weekend": ("faq#1", "faq#2"),
        "how much is small child": ("faq#3",),
    }  # fmt: skip


def test_what_is_one_with_one_of_two_is_one_with_both(tmp_path):
    """The third is nearly the first, and asked as the second is: no one of them is asked alone."""
    (tmp_path / "faq.csv").write_text(
        "question,answer\n"
        "How long does a bike repair take in summer?,All of our bike repairs take up to one week.\n"
        "Can a repair be done while someone waits?,Some repairs are done at the counter.\n"
        "Can a repair be done while someone waits?,All of our bike repaires take up to one week.\n",
        "utf-8",
    )
    made = make(build(documents.load(tmp_path), TableEmbedder({}), {}))
    assert [one.leave_out for one in of(made, LEFT_OUT)] == [{"faq#1", "faq#2", "faq#3"}]


def test_questions_that_are_the_same_with_words_left_out_are_one(tmp_path):
    (tmp_path / "faq.csv").write_text(
        "question,answer\nHow many beds has room 101?,Two beds and a sofa.\n"
        "How many beds has room 102?,A single one only.\n",
        "utf-8",
    )
    made = make(build(documents.load(tmp_path), TableEmbedder({}), {}))
    assert [one.leave_out for one in of(made, LEFT_OUT)] == [{"faq#1", "faq#2"}]


def test_the_same_is_asked_while_its_passages_are_absent(made):
    known = {
        one.asked.query.text: frozenset(one.asked.question.relevant)
        for one in made
        if one.asked.question.decision is Decision.ANSWERED
    }
    absent = [*of(made, LEFT_OUT), *of(made, LEFT_OUT, "hi")]
    assert {one.asked.query.text: one.leave_out for one in absent} == known
    assert len(known) == 2 + 6 + 2
    assert {one.asked.question.decision for one in absent} == {Decision.REFUSED}
    assert all(not one.leave_out for one in made if one not in absent)
    assert len({one.asked.question.id for one in made}) == len(made)


def test_a_language_without_rules_takes_its_own_sentences(made):
    assert [one.asked.query.text for one in of(made, "from a sentence", "hi")] == [
        "शनिवार को दुकान केवल दोपहर तक खुली रहती है और रविवार को बंद रहती है",
        "दुकान सोमवार से शुक्रवार सुबह बजे खुलती है और शाम बजे बंद होती है",
    ]
    assert of(made, OTHER_BUSINESS, "hi") == []


def test_easy_questions_do_not_outvote_the_hard(made):
    assert len(of(made, LEFT_OUT)) == 8
    assert len(of(made, OTHER_BUSINESS)) == 30, "no fewer than a floor takes"


def test_no_more_than_the_limit_and_always_the_same(folder, made):
    index = build(documents.load(folder), TableEmbedder({}), {})
    few = make(index, limit=3)
    assert [len(of(few, kind)) for kind in (LEFT_OUT, OTHER_BUSINESS)] == [3, 3]
    assert make(index) == made
    assert [one.asked.query.text for one in of(few, LEFT_OUT)] == [
        one.asked.query.text for one in of(made, LEFT_OUT)[:3]
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How much is a helmet for a small child?", "how much is helmet small"),
        ("Is the dog allowed?", "is the dog allowed"),
        ("A visit of 15 minutes costs 40 dollars on Sunday.", "a visit of minutes costs sunday"),
    ],
)
def test_shortened(text, found):
    assert shortened(text, {"child": 5, "dollars": 3}) == found


def test_questions_of_the_same_trade_are_not_asked():
    everything = other_businesses(["We sell bicycles."])
    assert "Do you have vegan dishes on the menu?" in everything
    assert "Can I get my prescription refilled?" in everything
    restaurant = other_businesses(["Our restaurant seats forty.", "The chef changes the menus."])
    assert set(everything) - set(restaurant) >= {"Do you have vegan dishes on the menu?"}
    assert len(everything) - len(restaurant) == 8
    one_mark = other_businesses(["The restaurant next door has our keys."])
    assert one_mark == everything, "a word alone does not make a restaurant"


def test_the_samples_questions_are_asked_of_other_trades_only():
    of_the_sample = "How often do I need to see the doctor for controlled medicines?"
    assert of_the_sample in other_businesses(["We sell bicycles."])
    assert of_the_sample not in other_businesses(["The doctor sees every patient."])
    assert "What time do you guys open on Saturday?" not in other_businesses(["We sell bicycles."])


def test_measured_with_and_without_the_passage(index):
    made = make(index)
    seen = []
    found = measure_made(
        index, made, Policy(candidates=5), progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (len(made), len(made)) == (len(found), len(found))
    scores = {(m.asked.query.text, m.asked.question.kind): m for m in found}
    known = next(m for m in found if m.is_answerable and "Christmas" in m.say)
    absent = scores[known.asked.query.text, LEFT_OUT]
    assert known.right
    assert absent.score < known.score
    assert "Christmas" not in absent.say
    right = [m.right for m in found if m.is_answerable]
    assert sum(right) >= len(right) - 1
