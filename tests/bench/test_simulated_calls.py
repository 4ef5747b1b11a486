"""``frontdesk eval calls``: real calls to an agent of its own, and what is reported of them."""

import json
import re

import pytest

# One call is right in everything, one is right to be refused, and one has a gold fact that the
# documents contradict: what is planted must be found, and nothing else.
SCRIPT = """
[[call]]
name = "right"
voice = "gongitsune"
ends = "goodbye"
[[call.turn]]
asks = "q001"
[[call.turn]]
asks = "q002"
cuts_in = true
[[call.turn]]
press = "4815#"
expect = "typed"
[[call.turn]]
says = "Okay, goodbye."
expect = "goodbye"

[[call]]
name = "planted"
voice = "gongitsune"
[[call.turn]]
asks = "q012"
[[call.turn]]
says = "What time do you guys open on Saturday?"
facts = ["10 a.m."]

[[call]]
name = "drops the line"
ends = "abruptly"
hangs_up_s = 4
voice = "gongitsune"
[[call.turn]]
asks = "q003"
[[call.turn]]
asks = "q009"
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_is_planted_is_found_and_nothing_else(command, tmp_path):
    script, report = tmp_path / "callers.toml", tmp_path / "report"
    script.write_text(SCRIPT.replace("Okay, goodbye.", "That's all, thanks, bye bye."), "utf-8")
    code, out, errors = command(
        "eval", "calls", "--script", script, "--by-ear", "--json", "--report", report,
        "--min-right", "100",
    )  # fmt: skip
    assert code == 1, errors
    found = json.loads(out)
    assert found["problems"] == {}, found
    (failed,) = found["failed"]
    assert failed["name"] == "planted", found["failed"]
    assert [turn["outcome"] for turn in failed["turns"]] == ["right", "wrong_fact"]
    assert failed["turns"][1]["by_ear"] == "wrong_fact"
    assert failed["turns"][1]["said"].startswith("On Saturday the clinic is open from 9 a.m.")
    assert failed["again"].endswith(f"--script {script} --only 2")
    assert found["by_ear"]["as_recorded"]["count"] >= found["turns"] - 1
    assert found["barge_in"]["n"] == 1
    assert found["ended_properly"]["count"] == found["calls"] == 3
    assert sorted(path.name for path in report.iterdir()) == [
        "call-0002.jsonl", "call-0002.wav", "figures.json", "index.html",
    ]  # fmt: skip
    assert re.search(r"gold</dt><dd>answer: 10 a\.m\.", (report / "index.html").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--calls", "0"], "--calls takes 1 to 60000"),
        (["--at-once", "65"], "--at-once 1 to 64"),
        (["--only", "0"], "--only takes a call's number, from 1"),
        (["--min-right", "101"], "--min-right takes 0 to 100"),
        (["--records", "."], "--records is of an agent at --to"),
        (["--to", "http://127.0.0.1:1", "--records", "nowhere"], "no folder nowhere"),
        (["--script", "nowhere.toml"], "no script nowhere.toml; kb/clinic-callers.toml"),
        (["--kb", "."], "has no questions.jsonl, so no caller can be made"),
    ],
)
def test_calls_that_cannot_be_placed_say_why(command, arguments, line):
    code, _, errors = command("eval", "calls", *arguments)
    assert code == 2
    assert line in errors
    assert errors.count("\n") == 1


def test_an_agent_that_does_not_answer_is_no_success(command):
    code, _, errors = command("eval", "calls", "--to", "http://127.0.0.1:1", "--calls", "1")
    assert code == 2
    assert "no call was held to its end" in errors


def test_its_help_teaches_a_script(command):
    _, out, _ = command("eval", "calls", "--help")
    assert "[[call.turn]]" in out
    assert "--only 17" in out
