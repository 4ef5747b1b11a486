"""``frontdesk calls``: verify, remove, rebuild."""

import json

import pytest

from agent.records import CallRecord
from agent.records.keeper import Records
from agent.records_settings import RecordSettings
from tests.agent.records.conftest import talk


@pytest.fixture
def calls(command, tmp_path, monkeypatch):
    """``calls(*arguments)``: exit code, output, errors; in this test's folder."""

    def run(*arguments):
        monkeypatch.setenv("FRONTDESK_RECORDS__FOLDER", str(tmp_path))
        return command("calls", *arguments)

    return run


@pytest.fixture
def two(tmp_path):
    """Two calls of two callers."""
    records = Records(RecordSettings(folder=tmp_path))
    return [
        talk(records.begin(name, caller=f"+155555501{number}")).path
        for name, number in (("CA1", "23"), ("CA2", "24"))
    ]


def test_whole_records_are_said_to_be_whole(calls, two):
    code, out, _ = calls("verify")
    assert code == 0
    assert out.startswith("2 of 2 calls are as they were written; ledger ")


def test_a_changed_record_is_named(calls, two):
    calls("list")
    two[1].write_text(two[1].read_text().replace("At eight.", "At nine.", 1))
    code, out, _ = calls("verify")
    assert code == 1
    assert out.splitlines()[0] == f"broken: {two[1].stem}, event 2: was changed"
    code, out, _ = calls("verify", "CA1", "--json")
    (found,) = json.loads(out)["calls"]
    assert (code, found["broken"]) == (0, None)


def test_a_database_that_says_something_else_is_named(calls, two, tmp_path):
    import sqlite3

    calls("list")
    with sqlite3.connect(tmp_path / "records.sqlite3") as other:
        other.execute("UPDATE events SET line = replace(line, 'At eight.', 'At nine.')")
    other.close()
    code, out, _ = calls("verify")
    assert (code, "event 2: the database holds another event" in out) == (1, True)
    assert calls("rebuild")[1] == "2 calls in the database again\n"
    assert calls("verify")[0] == 0


def test_one_callers_calls_are_removed(calls, two, tmp_path):
    code, out, err = calls("remove", "--caller", "+15555550123")
    assert (code, out) == (2, "")
    assert "remove 1 calls and their recordings? say so with --yes" in err
    code, out, _ = calls("remove", "--caller", "+1 (555) 555-0123", "--yes")
    assert (code, out) == (0, "1 calls removed\n")
    assert [path.exists() for path in two] == [False, True]
    assert "on request" in (tmp_path / "ledger.chain").read_text()
    code, out, _ = calls("verify")
    assert (code, out.startswith("1 of 1 calls")) == (0, True)
    assert calls("remove", "--caller", "+15555550199", "--yes")[1] == "no calls of that number\n"


def test_a_call_that_goes_on_is_not_removed(calls, tmp_path):
    records = Records(RecordSettings(folder=tmp_path))
    records.start()
    record = records.begin("CA1", caller="+15555550123")
    assert records.settled()
    code, _, err = calls("remove", "CA1", "--yes")
    assert (code, "goes on: hang up first" in err) == (2, True)
    record.close("caller hung up")
    records.close()


def test_calls_are_found_by_words_and_outcome(calls, two):
    assert calls("list", "--text", "open")[1].endswith("2 calls\n")
    assert calls("list", "--text", "parking")[1] == "0 calls\n"
    assert calls("list", "--outcome", "refused")[1] == "0 calls\n"
    assert calls("list", "--until", "2020-01-01")[1] == "0 calls\n"
    assert calls("list", "--limit", "1")[1].endswith("1 of 2 calls\n")


def test_which_call_is_meant_must_be_clear(calls, two, tmp_path):
    talk(CallRecord(tmp_path, "xCA1"))
    assert "may be" in calls("show", "CA1")[2]
    assert "frontdesk calls list shows them" in calls("show", "nobody")[2]
