"""``frontdesk replay``: what it prints and writes, and how results are accepted."""

import json
import shutil
from xml.etree import ElementTree

from agent.replay.case import read_case
from tests.agent.replay.conversations import CALLS

NAME = "hours-then-sunday.json"


def altered(folder, say="On Sunday we open at 9 a.m."):
    """The case with another answer to its second turn."""
    shape = json.loads((CALLS / NAME).read_text("utf-8"))
    shape["turns"][1]["expect"]["say"] = say
    shape["turns"][1]["known"] = "wrong: we are closed"
    path = folder / NAME
    path.write_text(json.dumps(shape), "utf-8")
    return path


def test_junit_has_a_suite_a_call_and_a_test_a_turn(command, tmp_path):
    path, junit = altered(tmp_path, say="Ring \x07 & <us>"), tmp_path / "out.xml"
    code, out, _ = command("replay", CALLS / NAME, path, "--junit", junit)
    assert code == 1
    assert out.splitlines()[-1] == "2 calls, 4 turns, 1 calls changed"
    assert "    it was known to be wrong: we are closed" in out.splitlines()
    first, second = ElementTree.parse(junit).getroot()
    assert (first.get("tests"), first.get("failures")) == ("2", "0")
    assert (second.get("tests"), second.get("failures")) == ("2", "1")
    (failure,) = second.iter("failure")
    assert failure.get("message") == "say changed"
    assert "- Ring  & <us>\n+ On Sunday the clinic is closed all day." in failure.text


def test_a_damaged_file_of_a_folder_holds_up_no_other(command, tmp_path):
    folder, junit = tmp_path / "calls", tmp_path / "out.xml"
    folder.mkdir()
    shutil.copy(CALLS / NAME, folder)
    (folder / "damaged.jsonl").write_text("not a record")
    code, out, err = command("replay", folder, "--junit", junit)
    assert code == 2, "a call that was not looked at is no call that is well"
    assert out.splitlines()[-1] == "1 calls, 2 turns, 0 calls changed"
    assert f"not replayed: {folder / 'damaged.jsonl'}" in err
    assert [suite.get("errors") for suite in ElementTree.parse(junit).getroot()] == [None, "1"]
    code, _, err = command("replay", folder / "damaged.jsonl", folder / NAME)
    assert (code, "not replayed" in err) == (2, False)


def test_json_names_every_change(command, tmp_path):
    code, out, _ = command("replay", altered(tmp_path), "--json")
    (call,) = json.loads(out)
    assert code == 1
    (change,) = call["changes"]
    assert (change["turn"], change["field"]) == (2, "say")
    assert call["known"] == {"2": "wrong: we are closed"}


def test_an_update_is_shown_and_accepted(command, tmp_path):
    path = altered(tmp_path)
    code, out, _ = command("replay", path, "--update", "--yes")
    assert code == 0
    assert "    - On Sunday we open at 9 a.m." in out.splitlines()
    turn = read_case(path).turns[1]
    assert turn.expect["say"] == "On Sunday the clinic is closed all day."
    assert turn.known == "", "a person has to look at it again"
    code, out, _ = command("replay", path)
    assert code == 0


def test_without_a_terminal_nothing_is_accepted_unasked(command, tmp_path):
    path = altered(tmp_path)
    before = path.read_text()
    code, _, err = command("replay", path, "--update")
    assert (code, path.read_text()) == (2, before)
    assert "--yes" in err


def test_a_record_is_evidence_and_stays_as_it_is(command, tmp_path):
    path = tmp_path / "r.jsonl"
    shutil.copy(CALLS / "clinic.jsonl", path)
    code, _, err = command("replay", path, "--update", "--yes")
    assert code == 2
    assert "frontdesk calls export" in err


def test_a_transcript_and_a_broken_one(command, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"role": "user", "text": "what time do you open on saturday"}\n{"x": 1}\n')
    code, _, err = command("replay", path)
    assert code == 2
    assert err.startswith(f"frontdesk replay: {path}, line 2: unknown field 'x'")
