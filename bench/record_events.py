"""What it costs a call to record an event: the time that the call waits for it.

``python -m bench.record_events`` takes ten seconds. One event in ten is a verdict with five
passages; ``alone`` is the journal only, ``keeping`` with the database being filled meanwhile.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from agent.records.keeper import Records
from agent.records_settings import RecordSettings
from bench.results import RESULTS, write_result

_HIT = {"id": "kb-hours#1", "score": 0.8, "sha256": "ab" * 32}
_VERDICT: dict[str, Any] = {
    "heard": "when do you open on saturday",
    "say": "On Saturday we are open from nine to one.",
    "decision": "answered",
    "reason": "supported",
    "score": 0.8,
    "floor": 0.4,
    "citations": ["kb-hours#1"],
    "answered_by": "extractive",
    "query": {"raw": "when do you open", "text": "when do you open", "context": None},
    "hits": [_HIT] * 5,
    "draft": "On Saturday we are open from nine to one. [kb-hours#1]" * 5,
}
_PAUSE_S = 0.002


def measure(events: int, *, keeping: bool) -> dict[str, float]:
    """Microseconds that an event takes: percentiles."""
    took = []
    with tempfile.TemporaryDirectory() as folder:
        records = Records(RecordSettings(folder=Path(folder)))
        if keeping:
            records.start()
            records.settled(30)
        record = records.begin("bench")
        for number in range(events):
            began = time.perf_counter_ns()
            if number % 10:
                record.event("reply_started", turn=number, stages_ms={"audible": 200.0})
            else:
                record.event("verdict", turn=number, **_VERDICT)
            took.append(time.perf_counter_ns() - began)
            time.sleep(_PAUSE_S)
        record.close("caller hung up")
        if keeping:
            records.close()
    found = np.percentile(np.asarray(took) / 1e3, (50, 99, 100), method="lower")
    return dict(
        zip(("p50_us", "p99_us", "p100_us"), (round(float(v), 1) for v in found), strict=True)
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="what it costs a call to record an event")
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=RESULTS)
    args = parser.parse_args()
    figures = {
        name: measure(args.events, keeping=name == "keeping") for name in ("alone", "keeping")
    }
    print(
        write_result("record_events", {"events": args.events, **figures}, args.folder).read_text()
    )


if __name__ == "__main__":
    main()
