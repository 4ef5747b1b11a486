"""Whatever is changed of a record is found, and the first broken link is named."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.records import CallRecord, read_record
from agent.records.chain import check
from agent.records.ledger import LEDGER, Ledger
from agent.records.verifying import Verifier
from tests.agent.records.conftest import talk

EASY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def verified(path, key=b""):
    return Verifier(path.parent, key).one(path.stem)


@given(
    place=st.integers(0, 10**6), byte=st.integers(1, 255), file=st.sampled_from(["jsonl", "wav"])
)
@EASY
def test_any_changed_byte_of_the_events_or_the_recording_is_found(recorded, place, byte, file):
    path = recorded.with_suffix(f".{file}")
    whole = path.read_bytes()
    place %= len(whole)
    try:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ byte]) + whole[place + 1 :])
        assert verified(recorded).broken is not None
    finally:
        path.write_bytes(whole)


def test_what_is_as_it_was_written_is_whole(recorded):
    found = verified(recorded)
    assert (found.broken, found.unproven, found.events) == (None, "", 7)


@pytest.mark.parametrize("file", ["jsonl", "wav"])
@given(cut=st.integers(1, 400))
@settings(EASY, max_examples=40)
def test_what_is_cut_off_or_added_is_found(recorded, file, cut):
    Ledger(recorded.parent).ended(recorded.stem, read_record(recorded)[-1]["hash"], 7)
    path = recorded.with_suffix(f".{file}")
    whole = path.read_bytes()
    try:
        for other in (whole[:-cut], whole + whole[-cut:]):
            path.write_bytes(other)
            assert verified(recorded).broken is not None
    finally:
        path.write_bytes(whole)
        (recorded.parent / LEDGER).unlink()


def test_the_first_broken_link_is_named(recorded):
    lines = recorded.read_text().splitlines(keepends=True)
    changed = lines[2].replace("when do you open", "when do you close")
    recorded.write_text("".join([*lines[:2], changed, *lines[3:]]))
    assert str(verified(recorded).broken) == f"{recorded.stem}, event 2: was changed"


@pytest.mark.parametrize(
    "order", [[0, 2, 1, 3], [0, 2, 3], [0, 1, 1, 2, 3]], ids=["swapped", "left out", "twice"]
)
def test_events_in_another_order_are_found(tmp_path, order):
    events = read_record(talk(CallRecord(tmp_path, "CA1")).path)
    assert check("CA1", [events[number] for number in order]) is not None


def test_an_event_made_anew_breaks_the_next_link(tmp_path):
    record = talk(CallRecord(tmp_path, "CA1"))
    other = talk(CallRecord(tmp_path, "CA1"))
    events, others = read_record(record.path), read_record(other.path)
    broken = check("CA1", [*events[:3], others[3], *events[4:]])
    assert (broken.seq, broken.problem) == (3, "does not follow the event before it")


def test_with_a_key_a_new_chain_is_found_too(tmp_path):
    path = talk(CallRecord(tmp_path, "CA1", key=b"ours")).path
    assert verified(path, b"ours").broken is None
    forged = talk(CallRecord(tmp_path, "CA2")).path
    assert "the key is another" in verified(forged, b"ours").broken.problem


def test_a_call_that_vanished_is_named(tmp_path):
    path = talk(CallRecord(tmp_path, "CA1")).path
    Ledger(tmp_path).ended(path.stem, read_record(path)[-1]["hash"], 6)
    path.unlink()
    (found,) = Verifier(tmp_path).all()
    assert str(found.broken) == f"{path.stem}, event 0: its record is gone, and nobody said why"
    Ledger(tmp_path).removed(path.stem, "on request")
    assert list(Verifier(tmp_path).all()) == []


def test_a_line_taken_out_of_the_ledger_is_found(tmp_path):
    ledger = Ledger(tmp_path)
    for call in ("a", "b", "c"):
        ledger.ended(call, "0" * 64, 1)
    first, _, last = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text(first + last)
    (found,) = [one for one in Verifier(tmp_path).all() if one.call == "the ledger"]
    assert found.broken.seq == 1


def test_a_record_without_a_chain_says_so(tmp_path):
    path = tmp_path / "20250101T120000000000-CA1.jsonl"
    path.write_text(json.dumps({"t_ms": 0, "event": "call_started"}) + "\n")
    assert verified(path).unproven.startswith("written by an older version")
