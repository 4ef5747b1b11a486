"""A process of calls that is killed again and again; run by ``test_kills.py``.

Each time a child keeps records in the folder that is named, two calls with a recording at once, and
is killed at a random moment. Every event is printed behind the write that kept it.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from agent.recording import Recording
from agent.records.keeper import Records
from agent.records_settings import RecordSettings
from tests.agent.records.conftest import VERDICT


def talk_for_ever(folder):
    records = Records(RecordSettings(folder=folder))
    records.subscribe(lambda call, event: os.write(1, f"{call} {event['hash']}\n".encode()))
    records.start()
    calls = [records.begin(f"CA{number}", caller="+15555550123") for number in (1, 2)]
    for record in calls:
        record.recording = Recording(record.path.with_suffix(".wav"), 8000, record.now_ms)
    for turn in range(10**6):
        for record in calls:
            record.recording.heard(b"\x10\x20" * 160)
            record.event("verdict", turn=turn, **VERDICT)
        time.sleep(0.002)


def main(folder, times):
    rng = random.Random(1)
    for _ in range(times):
        child = os.fork()
        if child == 0:
            talk_for_ever(folder)
        time.sleep(rng.uniform(0.05, 0.4))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
