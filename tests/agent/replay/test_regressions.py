"""Three regressions that are planted: each is named by the diff."""

import asyncio
import shutil

from agent.replay import Ears, replay_audio, replay_text
from agent.replay.printed import lines
from agent.settings import SAMPLE_KB
from rag import Policy, open_index
from rag.follow_up import slots
from tests.agent.replay.conversations import shown, talk_of

SATURDAY_THEN_SUNDAY = "hours-then-sunday"


def replayed(index, **policy):
    return asyncio.run(replay_text(talk_of(SATURDAY_THEN_SUNDAY), index, Policy(**policy)))


def test_a_floor_that_was_changed(clinic):
    floor = clinic.calibrations["en"].floor
    result = replayed(clinic, floor=0.99)
    assert [change.field for change in result.changes if change.turn == 1][:2] == [
        "decision",
        "reason",
    ]
    text = "\n".join(lines(result))
    assert f"because the floor is 0.99, was {floor:.4f}" in text
    assert result.pinned == (f"the floor of 'en' is 0.99, was {round(floor, 4)}",)


def test_a_passage_that_was_edited(clinic, tmp_path):
    edited = tmp_path / "kb"
    shutil.copytree(SAMPLE_KB, edited, ignore=shutil.ignore_patterns(".frontdesk", "*.py*"))
    hours = edited / "kb-hours.md"
    hours.write_text(hours.read_text("utf-8").replace("9 a.m. to 1 p.m.", "9 a.m. to 3 p.m."))
    result = replayed(open_index(edited, clinic.embedder))
    assert shown(result) == [
        "turn 1 say: 'On Saturday the clinic is open from 9 a.m. to 1 p.m.' -> "
        "'On Saturday the clinic is open from 9 a.m. to 3 p.m.'"
    ]
    assert result.changes[0].why == ("passage kb-hours#2 was edited",)
    assert result.pinned[0].startswith("the documents' hash is ")


def test_the_weekday_rule_removed(clinic, monkeypatch):
    monkeypatch.setattr(slots, "put", lambda before, new: (before, new))
    result = replayed(clinic)
    assert {change.turn for change in result.changes} == {2}
    assert result.changes[0].field == "query.text"
    assert "the rule “slot” no longer applies (another weekday" in "\n".join(lines(result))


def test_what_changed_from_audio_is_named_too(ears, clinic):
    higher = Ears(ears.engines.on(clinic, Policy(floor=0.99)))
    result = replay_audio(talk_of(SATURDAY_THEN_SUNDAY), higher)
    assert {change.turn for change in result.changes} == {1, 2}
    assert result.changes[0].why[0].startswith("the floor is 0.99, was ")
