"""What is left of a number or a token in a line."""

import pytest

from telephony.provider import Incoming
from telephony.redaction import masked, without_secrets
from telephony.start import CallStart
from telephony.tokens import Tokens

TOKEN = Tokens(b"x" * 32).mint("twilio", "CA1")


@pytest.mark.parametrize(
    ("number", "left"),
    [("+15555550100", "…00"), ("sip:15555550123@10.0.0.1", "…01"), ("", ""), ("12", "…"),
     ("anonymous", "…")],
)  # fmt: skip
def test_a_masked_number(number, left):
    assert masked(number) == left


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("call from +15555550100 refused", "call from …00 refused"),
        ("from +1 (555) 555-0123, to 15555550199", "from …23, to …99"),
        ("tel:+15555550100", "tel:…00"),
        ("sip:15555550142@example.com", "sip:…42@example.com"),
        ("dial 555-555-0107 or (555) 555-0108", "dial …07 or …08"),
        (f"GET /twilio/media/{TOKEN} 403", "GET /twilio/media/[token] 403"),
        (f"wss://a.example/x?t={TOKEN}&y", "wss://a.example/x?t=[token]&y"),
        ("GET /twilio/return/what-ever?x=1", "GET /twilio/return/[token]?x=1"),
        ("key fdk_abcDEF-_123 in use", "key [token] in use"),
    ],
)
def test_numbers_and_tokens_do_not_stand_in_lines(line, left):
    assert without_secrets(line) == left


@pytest.mark.parametrize(
    "line",
    [
        "call CA0123456789abcdef0123456789012345 started, 1 in progress",
        "call CA12345678901234567890123456789012 ended: malformed JSON message",
        "no audio for 0.4 s",
        "listening on http://127.0.0.1:8080",
        "oversized message (the limit is 65536 bytes)",
        "2026-11-30 21:30:05.123 at 0.123456789",
        "record 20261130T213005123456-CA1.jsonl",
        "kb 0123456789abcdef",
    ],
)
def test_what_tells_calls_apart_stays(line):
    assert without_secrets(line) == line


def test_what_is_known_of_a_call_shows_no_number():
    shown = repr(CallStart("CA1", "MZ1", caller="+15555550100", called="+15555550199"))
    shown += repr(Incoming("CA1", "+15555550100", "+15555550199"))
    assert "CA1" in shown
    assert "5555" not in shown
