"""Whole calls in which callers say what is personal: no log line and no file has it."""

from types import SimpleNamespace

import pytest

from agent.privacy import Redactor
from agent.switchboard import Switchboard
from frontdesk import Spoken, WireError
from speech.piper import Voice
from telephony.caller import CallerTurn
from telephony.start import CallStart
from tests.agent.live import serving

SAID = (
    "My card number is 4111 1111 1111 1111.",
    "My email is jane dot doe at example dot com, and my number is 312-555-0144.",
    "My name is Mark Johnson. What time do you open on Saturday?",
)
PERSONAL = ("4111", "4,111", "0144", "555-01", "example.com", "doe at", "johnson")


def turns(*said):
    voice = Voice()
    return [CallerTurn(voice.render(Spoken(one)), one) for one in said]


def left_of(text):
    return [one for one in PERSONAL if one in text.lower()]


@pytest.mark.slow
async def test_no_log_line_and_no_record_has_what_is_personal(settings, call_engines, lines):
    sets = settings()
    async with serving(sets, call_engines, lines) as server:
        result = await server.call(turns(*SAID))
        events = await server.record()

    assert result.error is None
    verdicts = [event for event in events if event["event"] == "verdict"]
    found = {kind for event in verdicts for kind in event.get("redacted", ())}
    assert found >= {"card number", "phone number", "e-mail address", "name"}
    assert "My name is [name]." in verdicts[-1]["heard"]
    assert "on Saturday" in verdicts[-1]["heard"], "the question keeps its sense"

    files = [path for path in sets.records.folder.rglob("*") if path.is_file()]
    texts = {path.name: path.read_bytes().decode("utf-8", "replace") for path in files}
    assert any(name.endswith(".jsonl") for name in texts)
    assert {name: left_of(text) for name, text in texts.items() if left_of(text)} == {}
    assert [message for _, message in lines.all if left_of(message)] == []
    assert len(lines.all) >= 2, "the call begins and ends in the log"


@pytest.mark.parametrize("on", [True, False])
async def test_a_setting_keeps_all(settings, clinic, on):
    record = SimpleNamespace(redact=None, close=lambda reason: None)
    records = SimpleNamespace(begin=lambda *_, **__: record)
    engines = SimpleNamespace(index=clinic)
    switchboard = Switchboard(settings(records={"redact": on}), engines, records)

    def no_line(listener):
        raise WireError("no line")

    with pytest.raises(WireError):
        await switchboard.hold(CallStart("c", "c"), no_line)
    assert isinstance(record.redact, Redactor) is on
