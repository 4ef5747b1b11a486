"""The garage's documents, questions and gold labels agree; nothing was tuned on them."""

import importlib
import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from rag import documents
from rag.questions import held_out_voice, read
from rag.types import Decision

ROOT = Path(__file__).resolve().parents[2]
GARAGE = ROOT / "kb" / "garage"
VOICES = ["rms", "joe", "gongitsune"]
KB = documents.load(GARAGE)
PASSAGES = {passage.id: passage.text for passage in KB.passages}
QUESTIONS = read(GARAGE / "questions.jsonl")
ANSWERABLE = [q for q in QUESTIONS if q.decision is Decision.ANSWERED]
ROWS = [json.loads(line) for line in (GARAGE / "questions.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def recorder():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("record_callers")


def test_fifteen_documents_with_a_title():
    paths = sorted(GARAGE.glob("*.md"))
    assert len(paths) == 15
    for path in paths:
        assert path.name.startswith("kb-")
        assert path.read_text("utf-8").startswith("# ")


def test_phone_numbers_are_the_reserved_ones():
    numbers = re.findall(r"\b\d{3}-\d{4}\b", " ".join(PASSAGES.values()))
    assert len(set(numbers)) >= 7
    assert all(re.fullmatch(r"555-01\d\d", number) for number in numbers)


def test_counts():
    assert Counter(q.decision for q in QUESTIONS) == {
        Decision.ANSWERED: 60, Decision.REFUSED: 32, Decision.CONVERSATION: 8
    }  # fmt: skip
    kinds = Counter((q.kind, q.decision) for q in QUESTIONS)
    assert kinds["followup", Decision.ANSWERED] == 15
    assert {kind for kind, _ in kinds} == {"paraphrase", "followup", "near_miss", "conversation"}
    of_day_off = [q for q in ANSWERABLE if re.search(r"Saturday|Sunday|Day|Eve|Christ", q.text)]
    assert len(of_day_off) >= 12


def test_ids_and_texts_are_unique():
    assert [q.id for q in QUESTIONS] == [f"g{number:03}" for number in range(1, 101)]
    assert len({q.text for q in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question.id)
def test_every_relevant_passage_states_the_facts(question):
    assert question.relevant
    assert question.facts
    for passage_id in question.relevant:
        for fact in question.facts:
            assert any(one in PASSAGES[passage_id] for one in fact), (passage_id, fact)


def test_every_document_is_asked_about():
    asked_about = {passage_id.split("#")[0] for q in ANSWERABLE for passage_id in q.relevant}
    assert asked_about == {passage_id.split("#")[0] for passage_id in PASSAGES}


def test_what_is_not_answered_has_neither_passage_nor_fact():
    for question in QUESTIONS:
        if question.decision is not Decision.ANSWERED:
            assert question.relevant == question.facts == ()


def test_a_context_is_the_text_of_an_earlier_row_and_some_form_chains():
    context_of = {}
    for question in QUESTIONS:
        assert (question.context is None) == (question.kind != "followup")
        assert question.context is None or question.context in context_of
        context_of[question.text] = question.context
    assert sum(context_of.get(context) is not None for context in context_of.values()) >= 5


def test_three_voices_asked_every_question_and_one_is_held_out(recorder):
    assert held_out_voice(QUESTIONS) == recorder.held_out_voice
    for question, row in zip(QUESTIONS, ROWS, strict=True):
        assert [*question.heard] == VOICES
        assert question.asr == question.heard["rms"] != ""
        assert not any("file" in clip for clip in row["audio"])


def test_the_callers_are_understood_about_as_well_as_the_clinics(recorder):
    for voice in VOICES:
        said = [recorder.words_of(q.text) for q in QUESTIONS]
        heard = [recorder.words_of(q.heard[voice]) for q in QUESTIONS]
        errors = sum(map(recorder.word_errors, said, heard))
        assert errors < 0.25 * sum(map(len, said)), voice


def test_the_recorder_plans_every_question_for_each_named_voice(recorder):
    clips = recorder.plan_all(ROWS, VOICES)
    assert [clip["file"] for clip in clips[:4]] == [
        "rms/g001.flac", "joe/g001.flac", "gongitsune/g001.flac", "rms/g002.flac"
    ]  # fmt: skip
    assert len(clips) == 300
    noise = {(clip["question"], clip["voice"]): clip["noise"] for clip in clips}
    for row in ROWS:
        for clip in row["audio"]:
            assert clip["noise"] == noise[row["id"], clip["voice"]]


@pytest.mark.parametrize("names", ["rms,bob", "gongitsune", ""])
def test_the_recorder_refuses_voices_that_it_lacks_or_only_the_held_out_one(
    recorder, names, capsys
):
    with pytest.raises(SystemExit) as stop:
        recorder.main(["--kb", str(GARAGE), "--voices", names])
    assert stop.value.code == 2
    assert "--voices: " in capsys.readouterr().err


def test_every_sample_is_packaged():
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    samples = {path.parent.name for path in (ROOT / "kb").glob("*/__init__.py")}
    assert samples == {"clinic", "garage"}
    assert {f"kb.{name}" for name in samples} <= set(packages["packages"])
