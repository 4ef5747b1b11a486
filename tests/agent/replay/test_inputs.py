"""What can be replayed, and what is wrong with what cannot: one line, the place named."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from agent.replay import Models, conversation, record_paths, replay
from agent.replay.case import read_case, shape_of, write_case
from frontdesk import ConfigError
from rag import Policy
from tests.isolation import ROOT

CLINIC_CALL = ROOT / "tests" / "calls" / "clinic.jsonl"
SATURDAY = "What time do you guys open on Saturday?"
ON_SATURDAY = "On Saturday the clinic is open from 9 a.m. to 1 p.m."


def written(path, *lines):
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    )
    return path


def refused(path, **options):
    with pytest.raises(ConfigError) as error:
        conversation(path, **options)
    return str(error.value)


async def test_a_transcript_is_asked_and_what_was_said_to_it_compared(clinic, tmp_path):
    path = written(
        tmp_path / "t.jsonl",
        {"role": "assistant", "text": "Hello, how can I help you?"},
        {"role": "user", "text": SATURDAY},
        {"role": "assistant", "text": "At 8 a.m."},
        {"heard": "and what about sunday", "say": "On Sunday the clinic is closed all day."},
    )
    done = await replay(path, clinic, Policy())
    (change,) = done.changes
    assert (done.turns, change.turn, change.field) == (2, 1, "say")
    assert (change.before, change.after) == ("At 8 a.m.", ON_SATURDAY)
    assert done.results[1]["query"] == "what time do you guys open on sunday"


WRONG_LINES = {
    '{"heard": "hi", "mood": "cross"}': "unknown field 'mood'",
    '{"role": "user"}': "fields that do not go together",
    '{"role": "manager", "text": "hi"}': "unknown role 'manager'",
    '{"heard": 7}': "a value is not text",
    '["hi"]': "it is not an object",
    '{"heard": "hi"': "it is not JSON",
}


@pytest.mark.parametrize("line", WRONG_LINES)
def test_a_wrong_line_of_a_transcript_is_named(tmp_path, line):
    path = written(tmp_path / "t.jsonl", {"heard": "hello"}, line)
    assert refused(path).startswith(f"{path}, line 2: {WRONG_LINES[line]}")


def case(**fields):
    return {"case": 1, "turns": [{"heard": SATURDAY}], **fields}


WRONG_CASES = {
    "newer": (case(case=2), "its version is 2"),
    "no turns": (case(turns=[]), "it has no turns"),
    "unknown": (case(mood="cross"), "it has the unknown field 'mood'"),
    "turn": (case(turns=[{"heard": "a"}, {"hears": "b"}]), "turn 2 has the unknown field 'hears'"),
    "empty turn": (case(turns=[{"known": "wrong"}]), "turn 1 has neither say"),
    "expect": (case(turns=[{"heard": "a", "expect": {"x": 1}}]), "turn 1: expect has the unknown"),
    "pins": (case(pins={"model": "x"}), "pins has the unknown field 'model'"),
    "time": (case(pins={"at": "2026-12-01T10:00:00"}), "pins: at has no time zone"),
    "desk": (
        case(pins={"desk": {"transfer": "lost"}}),
        "pins: desk: no transfer fails",
    ),
    "silence": (case(turns=[{"silence_s": -1}]), "turn 1: silence_s is not a number of seconds"),
    "list": ([1], "it is not an object"),
}


@pytest.mark.parametrize("name", WRONG_CASES)
def test_a_wrong_case_says_what_is_wrong(tmp_path, name):
    shape, problem = WRONG_CASES[name]
    path = written(tmp_path / "c.json", shape)
    assert refused(path).startswith(f"{path} is not a case ({problem}")


def test_a_case_is_read_as_it_was_written(tmp_path):
    turn = {
        "say": ["joe/q001.flac", 0.4, "joe/q003.flac"],
        "over_s": 1.5,
        "heard": SATURDAY,
        "before": [{"event": "said", "say": "Hello."}],
        "known": "wrong: a day too far",
        "expect": {"decision": "answered", "say": ON_SATURDAY},
    }
    first = read_case(written(tmp_path / "a.json", case(turns=[turn], about="Saturday.")))
    write_case(first, tmp_path / "b.json")
    assert read_case(tmp_path / "b.json") == first
    assert shape_of(first)["turns"][0] == turn


def wave(path, shape, rate_hz=8000):
    soundfile.write(path, np.zeros(shape, np.int16), rate_hz, subtype="PCM_16")
    return path


def test_a_recording_has_a_caller_on_the_left(tmp_path):
    samples = np.arange(32, dtype=np.int16).reshape(16, 2)
    soundfile.write(tmp_path / "a.wav", samples, 8000, subtype="PCM_16")
    talk = conversation(tmp_path / "a.wav")
    assert talk.rate_hz == 8000
    assert talk.track.tolist() == list(range(0, 32, 2))


def test_a_recording_that_is_none_says_why(tmp_path):
    assert "is not stereo" in refused(wave(tmp_path / "mono.wav", 80))
    assert "is not stereo" in refused(wave(tmp_path / "three.wav", (80, 3)))
    assert "is at 44100 Hz" in refused(wave(tmp_path / "cd.wav", (80, 2), 44100))
    assert refused(wave(tmp_path / "a.wav", (0, 2))) == f"{tmp_path / 'a.wav'} is empty"
    (tmp_path / "text.wav").write_text("no audio")
    assert refused(tmp_path / "text.wav").startswith(f"cannot read recording {tmp_path}")


def test_a_record_of_another_version_is_one_line(tmp_path):
    """Of one before there were queries in it, and one in which they are another thing."""
    event = {"t_ms": 1, "event": "verdict", "heard": "a", "say": "b", "decision": "answered"}
    event |= {"reason": "supported", "score": 1, "citations": []}
    for more in ({}, {"query": "a"}):
        path = written(tmp_path / "r.jsonl", event | more)
        assert refused(path).startswith(f"{path} is of a version that cannot be replayed (")


async def test_a_record_cut_short_is_replayed_as_far_as_it_goes(clinic, tmp_path):
    whole = CLINIC_CALL.read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "r.jsonl"
    path.write_text("".join(whole[:6]) + whole[6][:40])
    done = await replay(path, clinic, Policy())
    assert (done.turns, done.changes) == (1, ())


async def test_a_clock_that_jumps_changes_nothing(clinic, tmp_path):
    """An hour back in the middle of the call, and a date that is none."""
    events = [json.loads(line) for line in CLINIC_CALL.read_text().splitlines()]
    for event in events[5:]:
        event["t_ms"] -= 3_600_000
    events[0]["at"] = "yesterday"
    done = await replay(written(tmp_path / "r.jsonl", *events), clinic, Policy(), Models())
    assert (done.turns, done.changes) == (11, ())
    assert done.seconds > 0


def test_a_folder_gives_each_conversation_once(tmp_path):
    for name in ("a.jsonl", "a.wav", "b.wav", "c.json", "records.sqlite3", ".d.json.new"):
        (tmp_path / name).touch()
    (tmp_path / "cases").mkdir()
    assert [path.name for path in record_paths([tmp_path])] == ["a.jsonl", "b.wav", "c.json"]


def test_a_call_is_found_by_its_id(tmp_path):
    (tmp_path / "20261201T1-CA1.jsonl").touch()
    found = record_paths([Path("20261201T1-CA1")], tmp_path)
    assert found == [tmp_path / "20261201T1-CA1.jsonl"]
    with pytest.raises(ConfigError, match="no call record at 20261201T1-CA2"):
        record_paths([Path("20261201T1-CA2")], tmp_path)
