"""What a change of the sample documents changes, asked as callers asked."""

import json
import shutil

import pytest

from agent.insight.differences import differences, fails
from agent.insight.past_questions import of_file, of_turns
from agent.insight.spoken_changes import spoken_changes
from agent.records import CallRecord
from agent.settings import SAMPLE_KB
from frontdesk import ConfigError
from rag import Policy, open_index
from tests.agent.console.stored import PIZZA, SATURDAY, talk
from tests.agent.insight.rows import refused, turn

EDITS = {
    "kb-hours.md": [
        ("open from 9 a.m. to 1 p.m.", "open from 9 a.m. to 2 p.m."),
        ("answer the phone at 7:30 a.m.", "answer the phone at 7.30 a.m."),
    ],
    "kb-fees.md": [("a sports physical costs $55", "a sports physical is for members only")],
    "kb-parking.md": [("behind the clinic is free for up", "behind the clinic is free only for up"),
                      ("The visitor lot has 48 spaces.", "")],
}  # fmt: skip
SPACES = "How many spaces does the visitor lot have?"
PARKING = "Is parking free for patients?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The sample documents with the edits and a page more."""
    new = tmp_path_factory.mktemp("edited") / "clinic"
    shutil.copytree(SAMPLE_KB, new, ignore=shutil.ignore_patterns(".frontdesk", "__pycache__"))
    for name, pairs in EDITS.items():
        text = (new / name).read_text("utf-8")
        for old, other in pairs:
            assert old in text
            text = text.replace(old, other)
        (new / name).write_text(text, "utf-8")
    page = "# Cafe\n\nThe cafe on the ground floor sells pizza with anchovies.\n"
    (new / "kb-cafe.md").write_text(page, "utf-8")
    return new


@pytest.fixture(scope="module")
def edited(folder):
    return open_index(folder)


def asked(question, times):
    """Turns in which a question was looked up as it stands, each in a call of its own."""
    text = question.lower().rstrip("?")
    return [turn(call=f"c{n}", heard=question, question=text) for n in range(times)]


def test_each_kind_of_difference_is_found_the_most_asked_first(clinic, edited):
    turns = [
        *asked(SATURDAY, 3),
        *asked(SPACES, 2),
        refused("do you sell pizza with anchovies"),
        *asked(PARKING, 1),
        *asked("How much is a flu shot?", 9),
    ]
    past = of_turns(turns)
    steps = []
    policies = (Policy(deadline_ms=1e9),) * 2
    found = differences(past, clinic, edited, policies, lambda done, of: steps.append((done, of)))
    assert [(one.kind, one.times, one.calls) for one in found] == [
        ("contradicted", 3, 3), ("gone", 2, 2), ("changed", 1, 1), ("appeared", 1, 1),
    ]  # fmt: skip
    first, gone, changed, appeared = found
    assert first.heard == SATURDAY
    assert first.detail == "time: 9 a.m. to 1 p.m., now 9 a.m. to 2 p.m."
    assert "1 p.m." in first.old.say
    assert "2 p.m." in first.new.say
    assert gone.new.decision == "refused"
    assert gone.new.score < gone.new.floor
    assert changed.heard == PARKING
    assert appeared.new.citations == ("kb-cafe#1",)
    assert steps[-1] == (5, 5)
    assert fails(found, frozenset({"changed"}))
    assert fails([first], frozenset({"changed"}))  # what contradicts is changed too
    assert not fails([appeared], frozenset({"changed", "gone", "contradicted"}))


def test_the_same_documents_differ_in_nothing(clinic):
    past = of_turns([*asked(SATURDAY, 2), *asked(SPACES, 1)])
    assert differences(past, clinic, clinic, (Policy(deadline_ms=1e9),) * 2) == []
    assert spoken_changes(clinic, clinic) == []


def test_a_follow_up_is_asked_as_it_was_meant():
    meant = "what time do you open on sunday"
    turns = [turn(heard="and sunday?", question=meant, context="what time do you open on saturday")]
    turns += [refused(""), refused("x", reason="instruction"),
              turn(decision="conversation")]  # fmt: skip
    (one,) = of_turns(turns)
    assert one.question == meant
    assert one.query.raw == "and sunday?"


def test_a_fact_that_is_read_aloud_otherwise_is_named(clinic, edited, folder):
    found = {one.text: (one.old, one.new) for one in spoken_changes(clinic, edited)}
    # Another value ("2 p.m.") is no other reading of one.
    assert found == {"7.30 a.m.": ("seven thirty AM", "seven.thirty AM")}
    said = folder / "spoken.json"
    before = said.read_text("utf-8")
    voices = json.loads(before)
    (voice, *_) = voices
    voices[voice]["The gate of Lot A closes at seven PM."] = ["The gate closes at seven, PM.", 1.2]
    said.write_text(json.dumps(voices), "utf-8")
    try:
        (one,) = [one for one in spoken_changes(clinic, edited) if "gate" in one.text]
    finally:
        said.write_text(before, "utf-8")
    assert one.passage.startswith("kb-parking#")
    assert one.old == "The gate of Lot A closes at seven PM."
    assert one.new == "The gate closes at seven, PM. (x 1.20)"


def test_questions_are_read_as_text_or_json(tmp_path):
    path = tmp_path / "asked.txt"
    rows = ["Where do I park?", '{"text": "and on Sunday?", "context": "when do you open"}', "",
            "where do I park"]  # fmt: skip
    path.write_text("\n".join(rows), "utf-8")
    park, sunday = of_file(path)
    assert (park.times, sunday.times) == (2, 1)
    assert "open" in sunday.question
    for text, problem in (('{"text": 3}', 'line 1 has no "text"'), ("{", "line 1 is no JSON")):
        path.write_text(text, "utf-8")
        with pytest.raises(ConfigError, match=problem):
            of_file(path)


@pytest.fixture
def diff(command, clinic, tmp_path, monkeypatch):
    """Run ``kb diff`` with the records of two calls."""
    for name, questions in (("CA1", [SATURDAY, PIZZA]), ("CA2", [SATURDAY])):
        talk(CallRecord(tmp_path / "calls", name), clinic, questions)
    monkeypatch.setenv("FRONTDESK_RECORDS__FOLDER", str(tmp_path / "calls"))
    return lambda *arguments: command("kb", "diff", *arguments)


def test_the_command_asks_past_callers_questions(diff, folder, tmp_path):
    page = tmp_path / "diff.html"
    code, out, _ = diff(SAMPLE_KB, folder, "--json", "--html", page, "--fail-on", "contradicted")
    assert code == 1
    found = json.loads(out)
    assert (found["questions"], found["times"]) == (2, 3)
    kinds = [(one["kind"], one["times"]) for one in found["differences"]]
    assert kinds == [("contradicted", 2), ("appeared", 1)]
    assert "Says otherwise now (1)" in page.read_text()
    code, out, _ = diff(SAMPLE_KB, folder, "--calls", tmp_path / "calls", "--fail-on", "gone")
    assert code == 0
    assert f"contradicted, asked 2 times (time: 9 a.m. to 1 p.m., now 9 a.m. to 2 p.m.): “{SATURDAY}”" in out  # fmt: skip  # noqa: E501
    assert "1 contradicted, 1 appeared" in out
    code, out, _ = diff(SAMPLE_KB, SAMPLE_KB, "--fail-on", "changed,gone,contradicted,spoken")
    assert code == 0
    assert "the same documents" in out


def test_calls_of_documents_that_are_gone_are_asked_again(diff, folder, tmp_path):
    """The records name documents that neither folder holds."""
    hours = tmp_path / "hours"
    hours.mkdir()
    for name in ("kb-hours.md", "floors.json"):
        shutil.copy(SAMPLE_KB / name, hours / name)
    code, out, _ = diff(hours, folder, "--fail-on", "contradicted")
    assert code == 1
    assert f"“{SATURDAY}”" in out
    code, out, _ = diff(hours, folder, "--until", "2020-01-01", "--most", "1")
    assert code == 0
    assert "for want of calls" in out


def test_without_calls_the_documents_own_questions_are_asked(command, folder, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    for name in ("kb-hours.md", "floors.json"):
        shutil.copy(folder / name, own / name)
    code, out, _ = command("kb", "diff", own, folder, "--most", "1")
    assert code == 0
    assert "questions.jsonl, for want of calls" in out
    assert "left out (--most)" in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("{kb}", "/no/such/folder"), "does not exist"),
        (("{empty}", "{kb}"), "holds no passages"),
        (("{kb}", "{kb}", "--calls", "/no/such/folder"), "is no folder"),
        (("{kb}", "{kb}", "--calls", "{empty}"), "holds no call records"),
        (("{kb}", "{kb}", "--questions", "/no/such/file"), "cannot read the questions"),
        (("{kb}", "{kb}", "--fail-on", "gone,better"), "'better' is none of"),
        (("{kb}", "{kb}", "--most", "0"), "no whole number from 1 on"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(command, tmp_path, arguments, problem):
    (tmp_path / "empty").mkdir()
    names = {"kb": SAMPLE_KB, "empty": tmp_path / "empty"}
    code, _, err = command("kb", "diff", *(one.format(**names) for one in arguments))
    assert code == 2
    assert problem in err
    assert not list((tmp_path / "empty").iterdir()), "nothing is made in a folder without records"
