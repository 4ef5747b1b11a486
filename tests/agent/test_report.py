import argparse
import json

from agent.commands import calls
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


def test_a_reply_that_went_on_was_not_cut_and_what_was_heard_again_is_shown():
    second = {
        "event": "second_opinion",
        "turn": 1,
        "outcome": "taken",
        "text": "what <i>",
        "ms": 41.0,
    }
    events = [
        second,
        *EVENTS[2:5],
        {"event": "resumed", "turn": 2, "heard": "mhm", "say": "Open at 9 a.m."},
        {"event": "interrupted", "turn": 3, "played_ms": 200, "say": "Open at 9 a.m."},
        {"event": "resumed", "turn": 3, "heard": "", "say": "Open at 9 a.m."},
    ]
    (turn,) = turns_of(events)
    assert turn.resumed == ("mhm", "")
    assert turn.interrupted_after_ms is None
    page = build_report([turn], {}, title="Call", recording=None)
    assert "the reply went on after mhm" in page
    assert "heard again: &#x27;what &lt;i&gt;&#x27; (taken, 41 ms)" in page
    assert "cut in" not in page
    cut = {"event": "interrupted", "turn": 2, "played_ms": 200, "say": "Open at 9 a.m."}
    taken_back = {"event": "taken_back", "turn": 2, "played_ms": 200}
    page = build_report(turns_of([*EVENTS[2:4], cut, taken_back]), {}, title="", recording=None)
    assert "taken back after 200 ms" in page


def test_a_prompt_that_is_cut_leaves_the_answer_before_it_whole():
    said = {"event": "said", "turn": 1, "say": "Are you still there?"}
    late = {"event": "reply_started", "turn": 1, "stages_ms": {"audible": 12_000.0}}
    first, _ = turns_of([VERDICT, said, late, *EVENTS[4:]])
    assert first.interrupted_after_ms is None
    assert first.stages_ms == {}


def test_calls_show_tells_the_course_of_a_reply(tmp_path, capsys):
    second = {"event": "second_opinion", "outcome": "late", "text": None, "ms": 700.0}
    cut = {"event": "taken_back", "turn": 2, "played_ms": 200}
    resumed = {"event": "resumed", "turn": 2, "heard": "mhm", "say": "Open at 9 a.m."}
    path = tmp_path / "call.jsonl"
    path.write_text(
        "".join(
            json.dumps({"t_ms": 0, **event}) + "\n" for event in (EVENTS[0], second, resumed, cut)
        )
    )
    calls.run(argparse.Namespace(action="show", call=str(path), json=False))
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert shown[1:] == [
        "heard again: (late, 700 ms)",
        "0.00 s caller mhm",
        "agent Open at 9 a.m.",
        "goes on: nobody meant to cut it",
        "0.00 s caller goes on; 200 ms of a reply are taken back",
    ]
