"""``frontdesk kb mishearings``: proposes from call records, uses only what a person accepts."""

import json
from functools import partial

import pytest

from agent.records import CallRecord
from rag.repair import Mishearing, read
from tests.rag.shop_kb import write_kb

VISITS = "# Visits\n\nWalk-ins are seen on Saturday. Visitor parking costs 2 dollars an hour.\n"
CALLS = {
    "CA1": [
        ("do you see weapons on saturday", "refused"),
        ("do you see walk ins on saturday", "answered"),
        ("how much is parting for visitors", "refused"),
    ],
    "CA2": [
        ("call me at 5550199 about visitor parting", "refused"),
        ("how much is a parting meter", "answered"),
    ],
}


@pytest.fixture
def mishearings(command):
    return partial(command, "kb", "mishearings")


@pytest.fixture
def folder(tmp_path):
    return write_kb(tmp_path / "shop", visits=VISITS)


@pytest.fixture
def records(tmp_path):
    for name, turns in CALLS.items():
        record = CallRecord(tmp_path / "calls", name)
        for heard, decision in turns:
            reason = "below_floor" if decision == "refused" else "supported"
            record.event("verdict", heard=heard, say="", decision=decision, reason=reason,
                         score=0.4, citations=[])  # fmt: skip
        record.close("done")
    return tmp_path / "calls"


def test_proposals_are_printed_written_and_not_used(mishearings, folder, records):
    code, out, _ = mishearings("--kb", folder, "--records", records)
    assert code == 0
    assert "1      1      1  weapons → walk ins" in out
    assert "2      2      0  parting → parking" in out or "visitor parting" in out
    assert "--accept 1 2" in out
    assert "5550199" not in (folder / "mishearings.proposed.jsonl").read_text("utf-8")
    assert read(folder / "mishearings.jsonl") == ()


def test_json_has_counts_and_examples(mishearings, folder, records):
    _, out, _ = mishearings("--kb", folder, "--records", records, "--json")
    found = json.loads(out)
    assert found["calls"] == 2
    first = found["proposed"][0]
    assert (first["heard"], first["turns"], first["asked_again"]) == ("weapons", 1, 1)
    assert first["examples"][0]["turn"].endswith("-CA1.jsonl#1")
    assert first["examples"][0]["heard"] == "… you see weapons on saturday"


def test_what_is_accepted_is_used_and_not_proposed_again(mishearings, folder, records):
    mishearings("--kb", folder, "--records", records)
    code, out, _ = mishearings("--kb", folder, "--accept", "1")
    assert code == 0
    assert "weapons → walk ins" in out
    assert "frontdesk kb build" in out
    assert read(folder / "mishearings.jsonl") == (Mishearing("weapons", "walk ins"),)
    _, out, _ = mishearings("--kb", folder, "--records", records, "--json")
    assert "weapons" not in [row["heard"] for row in json.loads(out)["proposed"]]
    mishearings("--kb", folder, "--accept", "all")
    assert len(read(folder / "mishearings.jsonl")) >= 2
    assert (folder / "mishearings.proposed.jsonl").read_text("utf-8") == ""


def test_two_meanings_of_the_same_words_are_refused(mishearings, folder):
    (folder / "mishearings.jsonl").write_text('{"heard": "parting", "meant": "party"}\n', "utf-8")
    row = {"heard": "parting", "meant": "parking"}
    (folder / "mishearings.proposed.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    code, _, err = mishearings("--kb", folder, "--accept", "1")
    assert code == 2
    assert "'parting' would mean both 'party' and 'parking'" in err
    assert read(folder / "mishearings.jsonl") == (Mishearing("parting", "party"),)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--accept", "1"], "run: frontdesk kb mishearings"),
        (["--records", "nowhere"], "name their folder with --records DIR"),
    ],
)
def test_what_is_missing_is_said(mishearings, folder, arguments, why):
    code, _, err = mishearings("--kb", folder, *arguments)
    assert code == 2
    assert why in err


def test_a_number_that_is_not_there_is_said(mishearings, folder, records):
    mishearings("--kb", folder, "--records", records)
    code, _, err = mishearings("--kb", folder, "--accept", "9")
    assert code == 2
    assert "no proposal '9'; give numbers of 1" in err


def test_a_row_keeps_its_number_when_others_are_accepted(mishearings, folder, records):
    mishearings("--kb", folder, "--records", records)
    proposed = folder / "mishearings.proposed.jsonl"
    rows = [json.loads(line) for line in proposed.read_text("utf-8").splitlines()]
    mishearings("--kb", folder, "--accept", "1")
    _, out, _ = mishearings("--kb", folder, "--accept", "3")
    assert f"{rows[2]['heard']} → {rows[2]['meant']}" in out
    assert f"2 now in {folder}" in out
