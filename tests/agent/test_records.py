import itertools
import json
import os
import subprocess
import sys

import pytest

from agent.records import CallRecord, check_folder, read_record
from frontdesk import ConfigError


def test_events_come_back_in_order(tmp_path):
    record = CallRecord(tmp_path, "CA/../../etc")
    record.event("said", say="“nine”")
    record.close("caller hung up")
    record.close("twice")
    record.event("late")
    assert record.path.parent == tmp_path
    events = read_record(record.path)
    assert [event["event"] for event in events] == ["call_started", "said", "call_ended"]
    assert events[1]["say"] == "“nine”"
    assert events[2]["reason"] == "caller hung up"
    assert all(a["t_ms"] <= b["t_ms"] for a, b in itertools.pairwise(events))


def test_a_killed_process_loses_no_event(tmp_path):
    code = (
        "import os,sys,pathlib\n"
        "from agent.records import CallRecord\n"
        "r=CallRecord(pathlib.Path(sys.argv[1]),'CA1')\n"
        "for i in range(200): r.event('note',n=i)\n"
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
    "text",
    [
        "",
        "not json\n{}",
        '{"a":1}',
        "[1]",
        '{"event":"a"}',
        '{"event":1,"t_ms":0}',
        '{"event":"a","t_ms":"0"}',
        '{"event":"said","t_ms":0}',
        '{"event":"verdict","t_ms":0,"heard":"x"}',
        '{"event":"a","t_ms":0}\n{oops\n{"event":"b","t_ms":0}',
    ],
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


def test_a_full_disk_loses_the_event_and_not_the_call(tmp_path, monkeypatch, caplog):
    record = CallRecord(tmp_path, "CA1")
    real = os.write
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    record.event("said", say="Hello")
    monkeypatch.setattr(os, "write", real)
    record.close("caller hung up")
    assert [event["event"] for event in read_record(record.path)] == ["call_started", "call_ended"]


def test_a_folder_that_cannot_be_written_is_found_before_the_first_call(tmp_path):
    check_folder(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"set records\.folder"):
        check_folder(tmp_path / "file")
