"""What is wrong in a folder of records costs no other call, and is never made to look right."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.records import CallRecord, read_record
from agent.records.caller_key import SECRET, CallerKeys
from agent.records.ledger import LEDGER, Ledger
from agent.records.retention import remove
from agent.records.store import RecordStore
from agent.records.verifying import Verifier
from frontdesk import ConfigError
from tests.agent.records.conftest import VERDICT, talk

OLD = "20250101T120000000000-bad.jsonl"
_END = b'{"t_ms":1,"event":"call_ended","reason":"x","seq":1}\n'
POISON = {
    "no number": b'{"t_ms":0,"event":"call_started","hash":"x"}\n',
    "number is text": b'{"t_ms":0,"event":"call_started","hash":"x","seq":"q","prev":"p"}\n',
    "too deep": b"[" * 200_000 + b"\n",
    "query is text": b'{"t_ms":0,"event":"verdict","seq":0,"query":"x"}\n' + _END,
    "time too large": b'{"t_ms":1e300,"event":"call_ended","reason":"x","seq":0}\n',
    "turn too large": b'{"t_ms":1,"event":"verdict","turn":9e99,"seq":0}\n' + _END,
    "turn no number": b'{"t_ms":1,"event":"verdict","turn":"x","seq":0}\n' + _END,
    "half a surrogate": b'{"t_ms":1,"event":"\\ud800","seq":0}\n' + _END,
    "one number twice": b'{"t_ms":1,"event":"said","say":"x","seq":1}\n' + _END,
}


def broken(folder, store=None, key=b""):
    return [str(one.broken) for one in Verifier(folder, key, store).all() if one.broken]


def kept_one(keeping, **more):
    """A call that was kept, its records closed: its journal's path."""
    records = keeping(**more)
    path = talk(records.begin("CA1", caller="+15555550123")).path
    assert records.settled(30)
    records.close()
    return path


def without_database(folder):
    for path in folder.glob("records.sqlite3*"):
        path.unlink()


def cut_after(path, lines):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_journals_that_somebody_wrote_into_cost_no_other(keeping, tmp_path):
    for number, data in enumerate(POISON.values()):
        (tmp_path / OLD.replace("bad", f"bad{number}")).write_bytes(data)
    (tmp_path / OLD.replace("bad", "folder")).mkdir()
    (tmp_path / OLD.replace("bad", "nowhere")).symlink_to(tmp_path / "nowhere")
    records = keeping(keep_days=0)
    good = talk(records.begin("CA1"))
    assert records.settled(30)
    assert records.store.call(good.id).turns == 2
    assert records.trouble == ""


@pytest.mark.parametrize("damage", [(b'{"seq"', b'["seq"'), (b"ended", b"en\xffed"), (b"\n", b"x")])
def test_a_damaged_ledger_is_named_and_stops_nothing(keeping, tmp_path, damage):
    kept_one(keeping)
    ledger = tmp_path / LEDGER
    ledger.write_bytes(ledger.read_bytes().replace(*damage, 1))
    records = keeping()
    good = talk(records.begin("CA2"))
    assert records.settled(30)
    assert records.store.call(good.id).turns == 2
    assert good.id in records.ledger.calls()
    if damage[0] != b"\n":  # that is as if a kill had cut the line, and the call is entered again
        assert "the ledger, event 0" in broken(tmp_path)[0]


@given(place=st.integers(0, 10**6), byte=st.integers(1, 255))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_changed_byte_of_the_ledger_is_found(tmp_path, place, byte):
    (tmp_path / LEDGER).unlink(missing_ok=True)
    ledger = Ledger(tmp_path)
    ledger.ended("a", "0" * 64, 7)
    ledger.removed("a", "on request")
    whole = ledger.path.read_bytes()
    place %= len(whole)
    ledger.path.write_bytes(whole[:place] + bytes([whole[place] ^ byte]) + whole[place + 1 :])
    assert Ledger(tmp_path).check() is not None
    Ledger(tmp_path).ended("b", "1" * 64, 1)  # and it can be written all the same
    assert "b" in Ledger(tmp_path).calls()


def test_the_record_of_a_call_that_ended_is_not_written_again(keeping, tmp_path):
    path = kept_one(keeping)
    cut_after(path, 3)
    before = path.read_bytes()
    assert keeping().settled(30)
    assert path.read_bytes() == before
    assert "it does not end as it ended" in broken(tmp_path)[0]


@pytest.mark.parametrize("key", ["", "ours"])
def test_a_record_cut_short_is_found_though_the_database_is_gone(keeping, tmp_path, key, request):
    if key:
        request.getfixturevalue("monkeypatch").setenv("RECORDS_KEY", key)
    more = {"key_variable": "RECORDS_KEY"} if key else {}
    path = kept_one(keeping, **more)
    cut_after(path, 3)
    without_database(tmp_path)
    records = keeping(**more)
    assert records.settled(30)
    assert broken(tmp_path, records.store, key.encode())


def test_a_record_made_anew_is_found_though_the_database_is_rebuilt(keeping, tmp_path):
    path = kept_one(keeping)
    talk(CallRecord(tmp_path, "CA1"), turns=1).path.replace(path)
    without_database(tmp_path)
    records = keeping()
    assert records.settled(30)
    assert broken(tmp_path, records.store) == [f"{path.stem}, event 5: it does not end as it ended"]


def test_a_record_under_another_name_is_named(tmp_path):
    record = talk(CallRecord(tmp_path, "CA1"))
    copy = tmp_path / f"{record.id[:-1]}2.jsonl"
    copy.write_bytes(record.path.read_bytes())
    assert broken(tmp_path) == [f"{copy.stem}, event 0: is of another call, {record.id}"]


def test_nothing_is_removed_by_a_ledger_that_was_changed(keeping, tmp_path):
    path = kept_one(keeping)
    Ledger(tmp_path, b"forged").removed(path.stem, "x")
    assert keeping().settled(30)
    assert path.exists()


def test_a_removal_cut_short_is_finished(keeping, tmp_path):
    path = kept_one(keeping)
    data = path.read_bytes()
    records = keeping()
    assert records.settled(30)
    remove(tmp_path, records.store, records.ledger, path.stem, "on request")
    path.write_bytes(data)  # as if it had been killed before, or a copy were put back
    records.store.put(path.stem, [json.loads(line) for line in data.splitlines()])
    assert records.store.call(path.stem) is None
    records.close()
    again = keeping()
    assert again.settled(30)
    assert not path.exists()
    assert again.ledger.calls()[path.stem].removed == "on request"
    assert broken(tmp_path, again.store) == []


def test_what_was_removed_cannot_be_read_in_any_file(keeping, tmp_path):
    records = keeping()
    record = records.begin("CA1")
    record.event("verdict", turn=1, **{**VERDICT, "heard": "zanzibar is my secret"})
    talk(record)
    talk(records.begin("CA2"))
    assert records.settled(30)
    remove(tmp_path, records.store, records.ledger, record.id, "on request")
    records.store.wipe()
    assert [path for path in tmp_path.iterdir() if b"zanzibar" in path.read_bytes()] == []


def test_a_database_emptied_under_a_call_gets_all_of_it_again(keeping, tmp_path):
    records = keeping()
    record = records.begin("CA1")
    record.event("ready", wire="Test")
    assert records.settled(30)
    with contextlib.closing(RecordStore.open(f"sqlite:///{tmp_path / 'records.sqlite3'}")) as other:
        other.clear()
    talk(record)
    assert records.settled(30)
    assert records.store.events(record.id) == read_record(record.path)
    assert broken(tmp_path, records.store) == []


def test_only_their_owner_reads_the_files(keeping, tmp_path):
    records = keeping(recording="on")
    talk(records.begin("CA1", caller="+15555550123"))
    assert records.settled(30)
    modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}
    assert {"records.sqlite3", "records.sqlite3-wal", LEDGER, SECRET} <= modes.keys()
    assert set(modes.values()) == {0}


def test_lost_events_are_told_of_after_their_call_too(keeping, monkeypatch):
    records = keeping()
    record = records.begin("CA1")

    def full(_fd, _line):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agent.records.journal.os.write", full)
    record.close("caller hung up")
    assert records.trouble == "events of calls were lost: No space left on device"
    assert records.live() == []
    assert record.path not in records._live


def test_killed_calls_of_an_older_version_expire_too(keeping, tmp_path):
    old = tmp_path / "20200101T120000000000-old.jsonl"
    old.write_text('{"t_ms":0,"event":"call_started","at":"2020-01-01T12:00:00+00:00"}\n')
    assert keeping(keep_days=30).settled(30)
    assert not old.exists()


def test_what_is_stored_is_not_read_again(keeping, monkeypatch):
    kept_one(keeping)
    read = []
    monkeypatch.setattr("agent.records.keeper.close_killed", lambda path, key: read.append(path))
    assert keeping().settled(30)
    assert read == []


def test_a_secret_of_callers_that_is_not_whole_is_refused(tmp_path):
    (tmp_path / SECRET).write_bytes(b"")
    with pytest.raises(ConfigError, match="holds 0 bytes, not 32"):
        CallerKeys(tmp_path)


def test_a_reason_of_any_length_fits_the_ledger(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.removed("a", "w" * 9000)
    ledger.ended("b", "0" * 64, 1)
    ledger.ended("b", "1" * 64, 1)
    assert ledger.check() is None
    assert [line.events for line in ledger.calls().values()] == [0, 1]
    assert ledger.calls()["b"].head == "0" * 64
