"""Whatever is changed of a call in the database is found, and so is a record that only it has."""

import contextlib
import sqlite3

import pytest

from agent.recording.wave import HEADER_BYTES, header
from agent.records import CallRecord, read_record
from agent.records.store import RecordStore
from agent.records.verifying import Verifier
from tests.agent.records.conftest import talk

CHANGES = {
    "DELETE FROM events WHERE seq >= 3": "the database holds 3 events of 7",
    "DELETE FROM events": "the database holds 0 events of 7",
    "UPDATE events SET line = 'x' || line WHERE seq = 2": "event 2: the database holds another",
    "UPDATE events SET line = '[]' WHERE seq = 2": "event 2: the database holds another event",
    "UPDATE events SET event = 'other' WHERE seq = 2": "event 2: the database holds another event",
    "UPDATE calls SET answered = 7": "says something else of the call",
    "UPDATE calls SET head = 'x'": "says something else of the call",
    "UPDATE turns SET say = 'At nine.' WHERE turn = 1": "event 2: the database holds other turns",
    "UPDATE turns SET score = 0.1 WHERE turn = 2": "event 4: the database holds other turns",
    "DELETE FROM turns": "the database holds 0 turns, not 2",
    "UPDATE evidence SET passage = 'kb-fees#1'": "event 2: the database holds other evidence",
}


@pytest.fixture
def stored(tmp_path):
    """A folder with one call, and a database that holds it."""
    record = talk(CallRecord(tmp_path, "CA1"))
    with contextlib.closing(RecordStore.open(f"sqlite:///{tmp_path / 'records.sqlite3'}")) as store:
        store.put(record.id, read_record(record.path))
        yield tmp_path, store, record


def broken(folder, store):
    return [str(one.broken) for one in Verifier(folder, store=store).all() if one.broken]


def test_any_change_of_what_is_stored_is_found(stored):
    folder, store, record = stored
    assert broken(folder, store) == []
    for change, wanted in CHANGES.items():
        with contextlib.closing(sqlite3.connect(folder / "records.sqlite3")) as other, other:
            other.execute(change)
        (found,) = broken(folder, store)
        assert wanted in found, change
        store.clear()
        store.put(record.id, read_record(record.path))
        assert broken(folder, store) == []


def test_a_record_that_only_the_database_has_is_named(stored):
    folder, store, record = stored
    record.path.unlink()
    assert broken(folder, store) == [
        f"{record.id}, event 0: only the database has it: its record is gone"
    ]


def test_a_chain_taken_off_is_found(stored):
    folder, store, record = stored
    record.path.write_text('{"t_ms":0,"event":"call_started"}\n')
    assert "has no hash" in broken(folder, store)[0]


def test_a_hash_that_is_no_hash_is_named(tmp_path):
    record = talk(CallRecord(tmp_path, "CA1"))
    text = record.path.read_text()
    record.path.write_text(text.replace(record.head, "\\u00e9" * 64))
    assert str(Verifier(tmp_path).one(record.id).broken) == f"{record.id}, event 6: was changed"


def test_the_recording_of_a_call_that_ended_says_how_long_it_is(recorded):
    path = recorded.with_suffix(".wav")
    path.write_bytes(header(8000, None) + path.read_bytes()[HEADER_BYTES:])
    problem = Verifier(recorded.parent).one(recorded.stem).broken.problem
    assert problem == "the recording's header does not say how long it is"
