from agent.report import build_report, turns_of

VERDICT = {
    "event": "verdict", "turn": 1, "heard": "what time <b>", "decision": "answered",
    "reason": "supported", "detail": "", "score": 0.71, "floor": 0.42,
    "query": {"raw": "x", "text": "what time", "context": None, "language": "en"},
    "citations": ["kb-hours#2"], "say": "Open at 9 a.m.", "draft": "Open at 9 a.m. [kb-hours#2]",
    "checks": [{"name": "numbers", "passed": True, "detail": "9"}], "hits": [], "timings_ms": {},
}  # fmt: skip
EVENTS = [
    {"event": "call_started", "t_ms": 0},
    {"event": "said", "say": "Hello", "turn": 0},
    VERDICT,
    {
        "event": "reply_started",
        "turn": 1,
        "stages_ms": {"heard": 150.0, "turn_ended": 200.0, "decided": 205.0, "audible": 231.0},
    },
    {"event": "interrupted", "turn": 2, "played_ms": 640, "say": "Open at 9 a.m."},
    {**VERDICT, "turn": 2, "decision": "refused", "reason": "below_floor", "citations": []},
]


def test_turns_gather_their_events():
    first, second = turns_of(EVENTS)
    assert first.stages_ms["audible"] == 231.0
    assert first.interrupted_after_ms == 640
    assert second.verdict["decision"] == "refused"
    assert second.interrupted_after_ms is None


def test_the_page_shows_evidence_and_escapes_what_was_heard():
    page = build_report(
        turns_of(EVENTS),
        {"kb-hours#2": "On Saturday. Open at 9 a.m. Bring ID."},
        title="Call",
        recording="a.wav",
    )
    assert "<mark>Open at 9 a.m.</mark> Bring ID." in page
    assert "what time &lt;b&gt;" in page
    assert "<b>what" not in page
    assert "the caller cut in after 640 ms" in page
    assert "0.710 against floor 0.420" in page
    # one bar for the one reply that was heard; its segments meet end to end
    assert page.count('<rect x="30.0" y="0"') == 1
    assert ">231 ms</text>" in page
