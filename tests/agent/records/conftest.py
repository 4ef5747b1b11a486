"""A folder of records with calls in it, without a telephone: real records, made by hand."""

import pytest

from agent.recording import Recording
from agent.records import CallRecord
from agent.records.keeper import Records
from agent.records_settings import RecordSettings

VERDICT = {
    "heard": "when do you open",
    "say": "At eight.",
    "decision": "answered",
    "reason": "supported",
    "score": 0.8,
    "floor": 0.4,
    "citations": ["kb-hours#1"],
    "answered_by": "extractive",
    "query": {"raw": "when do you open", "text": "when do you open", "context": None},
    "hits": [{"id": "kb-hours#1", "score": 0.8, "sha256": "ab"}],
}


def talk(record, turns=2):
    """A conversation of so many turns, to its end."""
    record.event("ready", wire="Test", kb="abc")
    for turn in range(1, turns + 1):
        record.event("verdict", turn=turn, **VERDICT)
        record.event("reply_started", turn=turn, stages_ms={"audible": 200.0 + turn})
    record.close("caller hung up")
    return record


@pytest.fixture
def kept(tmp_path):
    """``kept()``: the settings of this test's folder; keywords change them."""

    def make(**more):
        return RecordSettings(folder=tmp_path, **more)

    return make


@pytest.fixture
def keeping(kept):
    """``keeping()``: records that are kept, closed after the test."""
    opened = []

    def make(**more):
        records = Records(kept(**more))
        records.start()
        opened.append(records)
        return records

    yield make
    for records in opened:
        records.close()


@pytest.fixture
def recorded(tmp_path):
    """A call with a recording, ended: its record's path."""
    record = CallRecord(tmp_path, "CA1", caller="+15555550100")
    recording = Recording(record.path.with_suffix(".wav"), 8000, record.now_ms)
    record.recording = recording
    recording.heard(b"\x10\x20" * 1600)
    recording.flush()
    recording.close()
    talk(record)
    return record.path
