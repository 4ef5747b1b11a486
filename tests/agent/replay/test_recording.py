"""A stereo recording again: with the record beside it, and alone."""

import json

import numpy as np
import pytest
import soundfile

from agent.replay import audio, conversation, replay_audio
from agent.replay.caller import ScriptedCaller
from agent.replay.printed import lines
from tests.agent.replay.conversations import shown, talk_of


@pytest.fixture(scope="module")
def call(ears, tmp_path_factory):
    """The recording and the record of a call, as a server would leave them."""
    heard = []

    class Recorded(ScriptedCaller):
        def next(self, now_s, spoken):
            piece = super().next(now_s, spoken)
            heard.append(piece or b"")
            return piece

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audio, "ScriptedCaller", Recorded)
        events = audio.hear_case(talk_of("hours-then-sunday").case, ears.engines).events
    path = tmp_path_factory.mktemp("calls") / "20261201T100000000000-CA1.wav"
    caller = np.frombuffer(b"".join(heard), np.int16)
    both = np.stack([caller, np.zeros_like(caller)], axis=1)
    soundfile.write(path, both, 8000, subtype="ULAW")
    path.with_suffix(".jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    return path


def test_a_recording_gives_what_its_record_says(call, ears):
    talk = conversation(call.with_suffix(".jsonl"), audio=True)
    result = replay_audio(talk, ears)
    assert (result.path, result.mode, result.turns) == (call, "audio", 2)
    assert shown(result) == []


def test_a_turn_that_is_not_heard_any_more_is_named(call, ears, tmp_path):
    cut = tmp_path / call.name
    samples, rate = soundfile.read(call, dtype="int16")
    soundfile.write(cut, samples[: 10 * rate], rate, subtype="ULAW")
    cut.with_suffix(".jsonl").write_text(call.with_suffix(".jsonl").read_text())
    result = replay_audio(conversation(cut), ears)
    assert {change.turn for change in result.changes} == {2}
    decision = next(change for change in result.changes if change.field == "decision")
    assert (decision.before, decision.after) == ("answered", None)


def test_alone_it_is_only_printed(call, ears, tmp_path):
    alone = tmp_path / "alone.wav"
    alone.write_bytes(call.read_bytes())
    result = replay_audio(conversation(alone), ears)
    assert (result.turns, result.changes) == (2, ())
    printed = list(lines(result))
    assert printed[0] == f"{alone}: 2 turns from audio, 0 changes"
    assert "    On Sunday the clinic is closed all day." in printed
