"""The clinic's documents, questions and gold labels agree with each other."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

CLINIC = Path(__file__).resolve().parents[2] / "kb" / "clinic"
TOPICS = set(
    "hours holidays appointments cancellations walkins refills bloodtests vaccinations fees "
    "insurance parking records telehealth forms".split()
)
FIELDS = {"id", "text", "asr", "context", "relevant", "answerable", "facts", "kind", "decision"}
CONVERSATION = {
    "greeting", "thanks", "goodbye", "repeat", "louder", "slower", "are_you_a_robot", "person",
    "wait", "acknowledged",
}  # fmt: skip


def read_passages() -> dict[str, str]:
    """Written apart from rag.documents on purpose: the labels count paragraphs, not code."""
    passages = {}
    for path in sorted(CLINIC.glob("kb-*.md")):
        number = itertools.count(1)
        for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            lines = [line for line in block.splitlines() if not line.startswith("#")]
            text = " ".join(" ".join(lines).split())
            if text:
                passages[f"{path.stem}#{next(number)}"] = text
    return passages


PASSAGES = read_passages()
ROWS = [
    json.loads(line)
    for line in (CLINIC / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [row for row in ROWS if row["answerable"]]


def alternatives(fact: str | list[str]) -> list[str]:
    return [fact] if isinstance(fact, str) else fact


def test_fourteen_documents_with_a_title_and_about_forty_one_passages():
    documents = {path.stem for path in CLINIC.glob("kb-*.md")}
    assert documents == {f"kb-{topic}" for topic in TOPICS}
    for path in CLINIC.glob("kb-*.md"):
        assert path.read_text(encoding="utf-8").startswith("# ")
    assert 38 <= len(PASSAGES) <= 45


def test_phone_numbers_are_the_reserved_ones_and_one_number_has_one_name():
    numbers = re.findall(r"\b\d{3}-\d{4}\b", " ".join(PASSAGES.values()))
    assert len(set(numbers)) >= 8
    assert all(re.fullmatch(r"555-01\d\d", number) for number in numbers)
    assert not re.search(r"\d{7,}|\(\d{3}\)", " ".join(PASSAGES.values()))


def test_sentences_are_short_enough_to_speak():
    for passage_id, text in PASSAGES.items():
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text):
            assert 5 <= len(sentence.split()) <= 25, (passage_id, sentence)
            assert not re.match(r"(It|They|This|That|He|She)\b", sentence), (passage_id, sentence)


@pytest.mark.parametrize(
    ("passage_id", "fact"),
    [
        ("kb-hours#1", "8 a.m. to 6 p.m."),
        ("kb-hours#2", "9 a.m. to 1 p.m."),
        ("kb-refills#1", "3 business days"),
        ("kb-bloodtests#1", "10 business days"),
        ("kb-cancellations#1", "24 hours"),
        ("kb-cancellations#2", "40 dollars"),
    ],
)
def test_facts_that_the_project_is_about(passage_id, fact):
    assert fact in PASSAGES[passage_id]


def test_questions_have_their_fields_and_unique_ids_and_texts():
    for row in ROWS:
        assert row.keys() >= FIELDS
        assert row["text"] == row["text"].strip() != ""
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["text"] for row in ROWS}) == len(ROWS)


def test_twelve_core_questions_the_last_two_unanswerable():
    assert [row["kind"] for row in ROWS[:12]] == ["core"] * 12
    assert [row["answerable"] for row in ROWS[:12]] == [True] * 10 + [False] * 2
    assert ROWS[1]["context"] == ROWS[0]["text"]
    assert "pizza" in ROWS[10]["text"]
    assert "Wi-Fi" in ROWS[11]["text"]


def test_counts_per_kind():
    counts = Counter(row["kind"] for row in ROWS)
    assert counts["core"] == 12
    assert len(ROWS) - 12 >= 150
    assert counts["paraphrase"] >= 60
    assert counts["followup"] >= 25
    assert counts["near_miss"] >= 35
    assert counts["far_miss"] >= 20
    assert counts["conversation"] >= 20
    assert set(counts) == {
        "core", "paraphrase", "followup", "near_miss", "far_miss", "conversation"
    }  # fmt: skip


def test_every_fact_stands_in_a_relevant_passage():
    for row in ANSWERABLE:
        assert row["relevant"]
        assert row["facts"]
        for passage_id in row["relevant"]:
            assert passage_id in PASSAGES
        texts = [PASSAGES[passage_id] for passage_id in row["relevant"]]
        for fact in row["facts"]:
            assert any(a in text for a in alternatives(fact) for text in texts), row


def test_every_relevant_passage_holds_some_fact():
    for row in ANSWERABLE:
        facts = [a for fact in row["facts"] for a in alternatives(fact)]
        for passage_id in row["relevant"]:
            assert any(fact in PASSAGES[passage_id] for fact in facts), (row["text"], passage_id)


def test_every_passage_is_asked_about():
    assert {passage_id for row in ANSWERABLE for passage_id in row["relevant"]} == set(PASSAGES)


def test_unanswerable_rows_have_neither_passage_nor_fact():
    for row in ROWS:
        if not row["answerable"]:
            assert row["relevant"] == []
            assert row["facts"] == []


def test_decisions_fit_the_kinds():
    for row in ROWS:
        if row["kind"] == "conversation":
            expected = "conversation"
            assert row["intent"] in CONVERSATION
        else:
            expected = "answered" if row["answerable"] else "refused"
        assert row["decision"] == expected
        if row["kind"].endswith("_miss"):
            assert not row["answerable"]
        if row["kind"] == "paraphrase":
            assert row["answerable"]
    intents = {row["intent"] for row in ROWS if row["kind"] == "conversation"}
    assert intents == CONVERSATION


def test_a_context_is_the_text_of_an_earlier_row():
    earlier = set()
    for row in ROWS:
        assert row["context"] is None or row["context"] in earlier
        assert (row["context"] is None) == (row["kind"] != "followup" and row["id"] != "q002")
        earlier.add(row["text"])


def test_follow_ups_form_chains():
    by_text = {row["text"]: row for row in ROWS}
    chained = [row for row in ROWS if row["context"] and by_text[row["context"]]["context"]]
    assert len(chained) >= 4
