"""Killed at any moment, nothing that was written is lost, and all of it can be proved."""

import subprocess
import sys

from agent.records import read_record
from agent.records.recovery import KILLED
from agent.records.rows import CallQuery
from agent.records.verifying import Verifier

KILLS = 12


def test_no_event_is_lost_whenever_the_process_is_killed(keeping, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.agent.records.killed", str(tmp_path), str(KILLS)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    acknowledged = {}
    for line in ran.stdout.splitlines():
        call, link = line.split()
        acknowledged.setdefault(call, set()).add(link)
    assert len(acknowledged) >= KILLS
    records = keeping()
    assert records.settled(60)
    for call, links in acknowledged.items():
        events = read_record(tmp_path / f"{call}.jsonl")
        assert links <= {event["hash"] for event in events}
        assert records.store.events(call) == events
        assert events[-1]["reason"] == KILLED
    assert records.store.count(CallQuery()) >= len(acknowledged)
    assert [one for one in Verifier(tmp_path, store=records.store).all() if one.broken] == []
