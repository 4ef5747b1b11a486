"""A recorded call as a case: no personal details, and it replays without a change."""

import json

import pytest

from agent.privacy import Redactor, kept_values, stand_ins
from agent.records import CallRecord
from agent.replay import conversation, replay, write_case
from agent.replay.export import exported
from agent.session import Session, verdict_json
from frontdesk import Spoken
from rag import Policy

SATURDAY = "What time do you guys open on Saturday?"
REFILL = "Hi, this is Roland Ferguson. How long does a refill take?"
CANCEL = "How do I cancel my appointment? My number is 202-555-9876."
PRIVATE = ("Ferguson", "Roland")


def call(folder, clinic, *heard, redact=None, edit=None):
    """The record of a call in which that was heard."""
    record = CallRecord(folder, "CA1", redact=redact)
    session = Session(clinic, Policy())
    record.event("ready", kb=clinic.kb.sha256[:16], floors={"en": 0.3})
    session.said(Spoken("Hello."))
    record.event("said", turn=0, say="Hello.")
    for turn, words in enumerate(heard, 1):
        reply = session.reply(words)
        session.accept(reply)
        shape = verdict_json(reply.verdict)
        if edit is not None:
            edit(turn, shape)
        record.event("verdict", turn=turn, heard=words, **shape)
    record.close("caller hung up")
    return record.path


@pytest.fixture
def harmless(clinic):
    keep = kept_values(passage.text for passage in clinic.kb.passages)
    return lambda text: stand_ins(text, keep)


async def test_nothing_personal_is_in_a_case_and_it_replays(clinic, tmp_path, harmless):
    record = call(tmp_path, clinic, SATURDAY, REFILL, "How do I cancel my appointment?")
    done = await exported(record, clinic, Policy(), harmless)
    path = tmp_path / "case.json"
    write_case(done.case, path)
    text = path.read_text("utf-8")
    for word in PRIVATE:
        assert word not in text
    assert "555-0110" in text, "the clinic's own number stands in its documents"
    again = await replay(path, clinic, Policy())
    assert (again.turns, again.changes) == (3, ())
    assert done.notes == ()
    assert conversation(path).case.turns[1].expect["decision"] == "answered"


async def test_a_stand_in_that_changes_the_outcome_is_said(clinic, tmp_path, harmless):
    record = call(tmp_path, clinic, CANCEL)
    done = await exported(record, clinic, Policy(), lambda text: text.replace(CANCEL, SATURDAY))
    (note,) = done.notes
    assert note == "turn 1 comes out differently (citations, say): a stand-in"


async def test_a_result_that_is_another_now_is_said(clinic, tmp_path, harmless):
    def edit(turn, shape):
        if turn == 1:
            shape["say"] = "At noon."

    record = call(tmp_path, clinic, SATURDAY, edit=edit)
    done = await exported(record, clinic, Policy(), harmless)
    (note,) = done.notes
    assert note.startswith("turn 1 comes out differently (say): the documents")
    marked = await exported(record, clinic, Policy(), harmless, known={1: "noon is wrong"})
    assert marked.case.turns[0].known == "wrong: noon is wrong"
    assert marked.notes == ()


async def test_a_record_without_its_personal_details_is_replayed(clinic, tmp_path):
    keep = kept_values(passage.text for passage in clinic.kb.passages)
    record = call(tmp_path, clinic, CANCEL, redact=Redactor(lambda: keep))
    text = record.read_text("utf-8")
    assert "[phone number]" in text
    done = await replay(record, clinic, Policy())
    assert (done.turns, done.changes) == (1, ())
    assert "[" not in done.results[0]["heard"]


def test_the_command_writes_a_case_by_the_calls_id(command, clinic, tmp_path, monkeypatch):
    record = call(tmp_path / "calls", clinic, SATURDAY)
    monkeypatch.setenv("FRONTDESK_RECORDS__FOLDER", str(record.parent))
    out = tmp_path / "case.json"
    code, printed, err = command("calls", "export", record.stem, "--out", out)
    assert (code, err) == (0, "")
    assert printed == f"{out}: 1 turns; try it: frontdesk replay {out}\n"
    code, printed, _ = command("calls", "export", "CA1")
    assert json.loads(printed)["turns"][0]["heard"] == SATURDAY
    code, printed, _ = command("replay", out)
    assert (code, printed.splitlines()[-1]) == (0, "1 calls, 1 turns, 0 calls changed")
