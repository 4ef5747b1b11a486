"""Call records: what was heard, found and said, as evidence.

>>> from pathlib import Path; from agent.records import read_record
>>> read_record(Path("calls/20260101T120000000000-CA1.jsonl"))[-1]["event"]  # doctest: +SKIP
'call_ended'
"""

from agent.records.journal import CallRecord, check_folder
from agent.records.reading import read_record

__all__ = ["CallRecord", "check_folder", "read_record"]
