"""Calls that cannot begin."""

from contextlib import closing

import pytest

from agent.records import read_record
from agent.records.keeper import Records
from agent.switchboard import Switchboard
from frontdesk import WireError
from telephony.start import CallStart


async def test_a_call_that_cannot_begin_does_not_stay_in_progress(settings):
    chosen = settings(records={"folder": settings().records.folder, "redact": False})

    def no_line(_):
        raise WireError("the far end is gone")

    with closing(Records(chosen.records)) as records:
        switchboard = Switchboard(chosen, None, records)
        with pytest.raises(WireError, match="gone"):
            await switchboard.hold(CallStart("CA1", "CA1"), no_line)
        assert records.live() == []
        (journal,) = chosen.records.folder.glob("*.jsonl")
    assert read_record(journal)[-1]["reason"] == "could not begin"
