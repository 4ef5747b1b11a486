import itertools
import json
import subprocess
import sys

import pytest

from agent.records import CallRecord, read_record
from frontdesk import ConfigError


def test_events_come_back_in_order(tmp_path):
    record = CallRecord(tmp_path, "CA/../../etc")
    record.event("verdict", heard="what time", say="“nine”")
    record.close("caller hung up")
    record.close("twice")
    record.event("late")
    assert record.path.parent == tmp_path
    events = read_record(record.path)
    assert [event["event"] for event in events] == ["call_started", "verdict", "call_ended"]
    assert events[1]["say"] == "“nine”"
    assert events[2]["reason"] == "caller hung up"
    assert all(a["t_ms"] <= b["t_ms"] for a, b in itertools.pairwise(events))


def test_a_killed_process_loses_no_event(tmp_path):
    code = (
        "import os,sys,pathlib\n"
        "from agent.records import CallRecord\n"
        "r=CallRecord(pathlib.Path(sys.argv[1]),'CA1')\n"
        "for i in range(200): r.event('verdict',n=i)\n"
        "os.kill(os.getpid(),9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    (path,) = tmp_path.glob("*.jsonl")
    assert [event.get("n") for event in read_record(path)] == [None, *range(200)]


def test_a_line_cut_short_by_a_kill_is_left_out(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"event":"call_started","t_ms":0}\n{"event":"ver', encoding="utf-8")
    assert [event["event"] for event in read_record(path)] == ["call_started"]


@pytest.mark.parametrize(
    "text", ["not json\n{}", '{"a":1}', "[1]", '{"event":"a"}\n{oops\n{"event":"b"}']
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="not a call record"):
        read_record(path)


def test_records_are_private(tmp_path):
    record = CallRecord(tmp_path, "CA1")
    assert record.path.stat().st_mode & 0o077 == 0
    record.close("x")


def test_an_unwritable_folder_is_one_clear_line(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ConfigError, match=r"cannot write call records.*records\.folder"):
        CallRecord(blocked, "CA1")


def test_lines_are_plain_json(tmp_path):
    record = CallRecord(tmp_path, "CA1")
    record.event("said", say="Hi.\nThere")
    record.close("x")
    lines = record.path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["call_started", "said", "call_ended"]
