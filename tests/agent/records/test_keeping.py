"""The database follows the journals: as calls go, after a kill, and when it was away."""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from agent.records import CallRecord, read_record
from agent.records.caller_key import CallerKeys
from agent.records.keeper import Records
from agent.records.recovery import KILLED
from agent.records.rows import CallQuery
from agent.records.store import RecordStore, StoreError
from agent.records.verifying import Verifier
from tests.agent.records.conftest import talk


def whole(folder, store=None):
    return [
        str(one.broken or one.unproven)
        for one in Verifier(folder, store=store).all()
        if one.broken or one.unproven
    ]


def test_a_call_is_in_the_database_while_it_goes_on(keeping):
    records = keeping()
    record = records.begin("CA1", caller="+15555550123", called="+15555550100")
    record.event("ready", wire="Test")
    assert records.settled()
    row = records.store.call(record.id)
    assert (row.wire, row.ended, row.caller) == ("Test", "", "…23")
    assert [one.id for one in records.live()] == [record.id]
    talk(record)
    assert records.settled()
    row = records.store.call(record.id)
    assert (row.turns, row.answered, row.ended) == (2, 2, "caller hung up")
    assert (row.reply_p50_ms, row.head) == (201.0, record.head)
    assert records.live() == []
    assert whole(record.path.parent, records.store) == []


def test_watchers_are_told_each_event_as_it_was_written(keeping):
    records, told = keeping(), []
    stop = records.subscribe(lambda call, event: told.append((call, event["event"])))
    record = records.begin("CA1")
    record.passing("hearing", heard="wh")
    record.event("ready")
    stop()
    record.close("caller hung up")
    assert told == [(record.id, kind) for kind in ("call_started", "hearing", "ready")]


def test_a_killed_call_is_closed_and_taken_in(keeping, tmp_path):
    script = (
        "import sys, pathlib, time; from agent.records import CallRecord\n"
        "from agent.recording import Recording\n"
        "r = CallRecord(pathlib.Path(sys.argv[1]), 'CA1')\n"
        "r.recording = w = Recording(r.path.with_suffix('.wav'), 8000, r.now_ms)\n"
        "r.event('said', say='Hello.')\n"
        "print(r.path, flush=True)\n"
        "while True: w.heard(b'\\x10\\x20' * 160); time.sleep(0.02)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        path = tmp_path / process.stdout.readline().strip()
        while path.with_suffix(".wav").stat().st_size < 3000:
            pass
        process.send_signal(signal.SIGKILL)
    with path.open("a") as file:
        file.write('{"event": "ver')  # as a write that the kill cut short
    records = keeping()
    assert records.settled()
    assert records.store.call(path.stem).ended == KILLED
    assert [event["event"] for event in read_record(path)] == ["call_started", "said", "call_ended"]
    assert whole(tmp_path, records.store) == []


def test_a_call_of_another_process_is_left_alone(keeping, tmp_path):
    record = CallRecord(tmp_path, "CA1")  # holds the lock that the keeper asks for
    before = record.path.read_bytes()
    records = keeping()
    assert records.settled()
    assert record.path.read_bytes() == before
    assert records.store.call(record.id) is None
    talk(record)


def test_two_processes_keep_one_folder(keeping, kept):
    both = keeping(), keeping()
    paths = []
    for number, records in enumerate(both * 5):
        paths.append(talk(records.begin(f"CA{number}")).path)
    assert all(records.settled() for records in both)
    assert both[0].store.count(CallQuery()) == both[1].store.count(CallQuery()) == 10
    assert whole(paths[0].parent, both[0].store) == []


def test_a_database_that_is_away_costs_no_call(keeping, kept):
    database = kept().folder / "records.sqlite3"
    records = keeping()
    assert records.settled()
    with sqlite3.connect(database, timeout=0.1) as other:
        other.execute("BEGIN EXCLUSIVE")
        record = talk(records.begin("CA1"))
        assert read_record(record.path)[-1]["event"] == "call_ended"
        assert not records.settled(0.5)
    other.close()
    assert records.settled(20)
    assert records.store.call(record.id).turns == 2
    assert records.trouble == ""


def test_a_database_that_cannot_be_opened_is_said_and_taken_up_later(keeping, kept, tmp_path):
    database = tmp_path / "records.sqlite3"
    database.mkdir()
    records = keeping()
    record = talk(records.begin("CA1"))
    assert not records.settled(0.5)
    assert "unable to open database file" in records.trouble
    with pytest.raises(StoreError):
        records.store.call(record.id)
    database.rmdir()
    assert records.settled(10)
    assert records.store.call(record.id).turns == 2


def test_a_database_of_a_newer_version_is_left_alone(keeping, tmp_path):
    keeping().settled()
    with sqlite3.connect(tmp_path / "records.sqlite3") as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()
    with pytest.raises(StoreError, match="made by a newer Frontdesk"):
        RecordStore.open(f"sqlite:///{tmp_path / 'records.sqlite3'}")


def test_the_tables_are_what_the_steps_make(tmp_path):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from sqlalchemy import create_engine

    from agent.records import migrating, tables

    engine = create_engine(f"sqlite:///{tmp_path / 'a.sqlite3'}")
    migrating.migrate(engine)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), tables.metadata)
    engine.dispose()
    assert [one for one in found if "turns_text" not in str(one)] == []
    steps = ScriptDirectory(str(migrating._STEPS))
    assert steps.get_current_head() == migrating.VERSION


def test_a_full_disk_ends_no_call_and_breaks_no_chain(tmp_path):
    script = (
        "import resource, signal, sys, pathlib; from agent.records import CallRecord\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "record = CallRecord(pathlib.Path(sys.argv[1]), 'CA1')\n"
        "size = record.path.stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, resource.RLIM_INFINITY))\n"
        "record.event('said', say='too long for what is left' * 9)\n"
        "assert record.trouble, 'the operator is told'\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, resource.RLIM_INFINITY))\n"
        "record.event('said', say='room again')\n"
        "record.close('caller hung up'); print(record.path)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    path = tmp_path / ran.stdout.strip()
    events = read_record(path)
    assert [event["event"] for event in events] == ["call_started", "said", "call_ended"]
    assert events[1]["events_lost"] == 1
    assert "lost said" in ran.stderr
    assert whole(tmp_path) == []


def test_a_wall_clock_that_jumps_moves_no_event(tmp_path, monkeypatch):
    record = CallRecord(tmp_path, "CA1")
    monkeypatch.setattr("agent.records.journal.datetime", None)
    monkeypatch.setattr("time.time", lambda: 0.0)
    talk(record)
    times = [event["t_ms"] for event in read_record(record.path)]
    assert times == sorted(times)
    assert 0 <= times[-1] < 60_000


def test_what_is_old_is_removed_and_the_ledger_says_so(keeping, kept, tmp_path):
    old = tmp_path / "20200101T120000000000-CA1.jsonl"
    talk(CallRecord(tmp_path, "CA1")).path.rename(old)
    new = talk(CallRecord(tmp_path, "CA2")).path
    case = tmp_path / "cases" / f"{old.stem}.json"
    case.parent.mkdir()
    case.write_text("{}", encoding="utf-8")
    first = keeping(keep_days=0)
    assert first.settled()
    first.close()
    records = keeping(keep_days=30)
    assert records.settled()
    assert not old.exists()
    assert not case.exists()
    assert new.exists()
    assert records.ledger.calls()[old.stem].removed == "older than 30 days"
    assert records.store.call(old.stem) is None
    assert whole(tmp_path, records.store) == []


def test_the_oldest_go_where_there_is_no_room(keeping, tmp_path):
    paths = []
    for number in range(4):
        path = talk(CallRecord(tmp_path, "x"), turns=5).path
        paths.append(path.rename(tmp_path / f"2026010{number + 1}T120000000000-x.jsonl"))
    size = paths[0].stat().st_size
    first = keeping(keep_days=0)
    assert first.settled()
    first.close()
    records = keeping(keep_days=0, keep_mb=2.5 * size / 1e6)
    assert records.settled()
    assert [path.exists() for path in paths] == [False, False, True, True]


def test_a_caller_is_found_by_their_number_and_not_by_what_is_kept(keeping, tmp_path):
    records = keeping()
    record = talk(records.begin("CA1", caller="+15555550123"))
    talk(records.begin("CA2", caller="+15555550124"))
    assert records.settled()
    key = CallerKeys(tmp_path).key_of("+1 555 555-0123")
    assert records.store.calls_of(key) == [record.id]
    assert "5550123" not in record.path.read_text()
    assert (tmp_path / "callers.secret").stat().st_mode & 0o777 == 0o600


def test_the_lock_of_a_call_ends_with_it(tmp_path):
    record = CallRecord(tmp_path, "CA1")
    fd = os.open(record.path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    record.close("caller hung up")
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


def test_a_journal_that_is_damaged_is_left_out_and_the_others_are_kept(keeping, tmp_path):
    bad = tmp_path / f"{datetime.now(UTC) - timedelta(days=1):%Y%m%dT%H%M%S%f}-bad.jsonl"
    bad.write_text(json.dumps({"event": "call_started", "t_ms": 0}) + "\nnot JSON\n")
    good = talk(CallRecord(tmp_path, "CA1"))
    records = keeping()
    assert records.settled()
    assert [row.id for row in records.store.calls(CallQuery())] == [good.id]


def test_records_settings_need_a_variable_that_is_set(kept):
    from frontdesk import ConfigError

    with pytest.raises(ConfigError, match=r"records.key_variable names NOWHERE"):
        Records(kept(key_variable="NOWHERE"))


def test_what_passes_is_told_only_to_who_looks(keeping):
    records, told, looks = keeping(), [], False
    records.subscribe(lambda call, event: told.append(event["event"]), passing=lambda: looks)
    record = records.begin("CA1")
    record.redact = lambda kind, fields: told.append("redacted") or fields
    record.passing("hearing", heard="wh")
    assert told == ["call_started"]
    looks = True
    record.passing("hearing", heard="what")
    assert told == ["call_started", "redacted", "hearing"]
    record.close("caller hung up")
