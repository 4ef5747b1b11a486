"""``frontdesk report`` and ``frontdesk kb demand`` on real calls."""

import csv
import json

import pytest

from agent.records import CallRecord
from tests.agent.console.stored import EVIL, PIZZA, SATURDAY, talk


@pytest.fixture
def run(command, clinic, tmp_path, monkeypatch):
    """Run a command on a folder of two calls."""
    for name, questions in (("CA1", [SATURDAY, PIZZA]), ("CA2", [PIZZA, f"=1+1 {EVIL}"])):
        talk(CallRecord(tmp_path / "calls", name), clinic, questions)

    def on(*arguments):
        monkeypatch.setenv("FRONTDESK_RECORDS__FOLDER", str(tmp_path / "calls"))
        return command(*arguments)

    return on


def test_a_report_is_printed_and_written(run, tmp_path):
    page, table = tmp_path / "week.html", tmp_path / "week.csv"
    code, out, _ = run("report", "--json", "--html", page, "--csv", table)
    assert code == 0
    found = json.loads(out)
    assert (found["total"]["calls"], found["total"]["answered"]) == (2, 1)
    assert found["total"]["refused"] == 3
    assert found["total"]["reply_p50_ms"] > 200
    assert found["top"][0] == {
        "question": "do you sell pizza with anchovies", "heard": PIZZA, "times": 2, "answered": 0,
        "refused": 2,
    }  # fmt: skip
    assert EVIL not in page.read_text()
    rows = list(csv.DictReader(table.open(newline="")))
    assert (rows[-1]["at"], rows[-1]["refused"]) == ("total", "3")
    code, out, _ = run("report", "--day")
    assert code == 0
    assert "1 questions answered, 3 refused" in out


def test_demand_is_printed_and_written(run, tmp_path):
    table = tmp_path / "demand.csv"
    code, out, _ = run("kb", "demand", "--csv", table)
    assert code == 0
    assert "2 answers to write" in out
    assert f"“{PIZZA}” ×2" in out
    rows = list(csv.DictReader(table.open(newline="")))
    assert rows[0]["refused"] == "2"
    assert rows[1]["wordings"].startswith("'=1+1")  # no formula for a spreadsheet


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("report", "--since", "2026-02-02", "--until", "2026-02-01"), "the earlier day first"),
        (("report", "--since", "yesterday"), "is not a day like"),
        (("report", "--week", "--until", "2026-02-01"), "--until goes with --since"),
        (("report", "--html", "/no/such/folder/a.html"), "cannot write"),
        (("kb", "demand", "--since", "2026-02-02", "--until", "2026-02-01"), "earlier day first"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(run, arguments, problem):
    code, _, err = run(*arguments)
    assert code == 2
    assert problem in err


def test_no_records_are_nothing_and_no_error(command, tmp_path, monkeypatch):
    for arguments, said in ((("report",), "0 calls"), (("kb", "demand"), "nothing that callers")):
        code, out, _ = command(*arguments)
        assert code == 0
        assert said in out
