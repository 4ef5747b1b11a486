"""A process that records and is killed: what it had heard is in the file, to the last packet."""

import random
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from agent.recording import check_recording, read_recording
from agent.records import read_record
from agent.records.recovery import close_killed
from tests.agent.recording.taped import noise

SECONDS = 20
CALL = """
import sys
from pathlib import Path
from agent.recording import Recording
from agent.records import CallRecord
from tests.agent.recording.taped import PACKET, noise

class Clocked(CallRecord):
    at_ms = 0.0
    def now_ms(self):
        return self.at_ms

record = Clocked(Path(sys.argv[1]), "CA1")
record.recording = recording = Recording(record.path.with_suffix(".wav"), 8000, record.now_ms)
record.event("recording", path=recording.path.name, rate_hz=8000)
caller, agent = noise(20, 1), noise(20, 2)
for at in range(0, caller.size, PACKET):
    recording.played(agent[at : at + PACKET].tobytes())
    record.at_ms += 20
    recording.heard(caller[at : at + PACKET].tobytes())
    if at % (25 * PACKET) == 0:
        record.event("said", say="words")
    if at % (300 * PACKET) == 0 and at:
        silence = recording.silence(record.at_ms - 3000, record.at_ms - 1000)
        record.event("silenced", **silence.fields)
        silence.done()
    print(at + PACKET, flush=True)
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kill_loses_no_packet(tmp_path, seed):
    packets = random.Random(seed).randrange(20, SECONDS * 50 - 1)
    child = subprocess.Popen(
        [sys.executable, "-c", CALL, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with child:
        heard = [int(child.stdout.readline()) for _ in range(packets)][-1]
        child.kill()
    (path,) = tmp_path.glob("*.wav")
    samples, _ = read_recording(path)
    assert len(samples) >= heard
    silent = [e for e in read_record(tmp_path / f"{path.stem}.jsonl") if e["event"] == "silenced"]
    kept = np.ones(heard, bool)
    for event in silent:
        kept[event["from"] // 2 : event["to"] // 2] = False
    assert np.array_equal(samples[:heard, 0][kept], noise(SECONDS, 1)[:heard][kept])
    assert np.array_equal(samples[:heard, 1], noise(SECONDS, 2)[:heard])
    close_killed(path.with_suffix(".jsonl"))
    events = read_record(path.with_suffix(".jsonl"))
    assert events[-1]["event"] == "call_ended"
    assert check_recording(path, events) == ""
    assert soundfile.info(str(path)).frames == len(samples)
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1  # the very last packet is proven too
    path.write_bytes(damaged)
    assert check_recording(path, events)
