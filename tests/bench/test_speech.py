"""Word errors, and recorded questions heard anew by the real recogniser."""

import asyncio
import json

import numpy as np
import pytest
import soundfile

from agent.second_opinion import SecondOpinion
from agent.settings import SAMPLE_KB
from bench.hearing import clips_of, figures, hear_all
from bench.public import speech as public
from bench.recordings import AUDIO
from bench.word_errors import Errors, invented, said
from frontdesk import KnowledgeBaseError, Spoken
from rag import Policy
from speech.moonshine import Moonshine
from speech.piper import Voice
from speech.types import Utterance


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Room 24", "room twenty-four."),
        ("Okay, it's cancelled.", "ok it's canceled"),
        ("I'm sorry, you can't.", "i am sorry you can not"),
        ("<beep> Press 1 (one).", "press one"),
    ],
)
def test_how_it_is_written_does_not_count(one, other):
    assert said(one) == said(other)


def test_errors_are_counted_by_words():
    assert Errors.of([("what do you charge", "what you charged"), ("yes", "yes")]) == Errors(2, 5)
    assert Errors.of([("a new filename", "a new file name"), ("log in", "login")]).wrong == 0


def test_invented_is_what_was_listed_and_not_said():
    pairs = [("do you take walking", "do you take a walk in"), ("flu shot", "flu shot")]
    assert invented(pairs, {"walk", "flu", "shot"}) == 1


class Again:
    """Hears what the clip says, as a better recogniser would."""

    def __init__(self, text):
        self._text = text

    def transcribe(self, audio, *, hotwords=None):
        return Utterance(self._text, audio.size / 16, 1.0, -0.1)


def test_recorded_questions_are_heard_anew(clinic):
    wanted = {("q070", "awb"), ("q070", "gongitsune"), ("q001", "joe")}
    clips = [one for one in clips_of(SAMPLE_KB, AUDIO) if (one.question.id, one.voice) in wanted]
    again = Again("What do you charge for a tetanus shot?")
    second = SecondOpinion(again, budget_ms=60_000, busy=lambda: 0.0)
    heard = asyncio.run(hear_all(clips, clinic, Policy(), Moonshine(), second))
    found = figures(heard, clinic, "gongitsune")
    assert found["others"]["n"] == 2
    assert found["others"]["answers"]["written"]["right"] == 2
    assert found["held_out_voice"]["answers"]["with_second_opinion"]["right"] == 1
    assert found["word_errors_percent"]["joe"] == 0
    assert set(found["others"]["found_first"]) == {
        "n", "written_percent", "heard_percent", "second_percent",
    }  # fmt: skip


def test_a_missing_list_says_how_to_make_one(tmp_path):
    with pytest.raises(KnowledgeBaseError, match="record_callers"):
        clips_of(SAMPLE_KB, tmp_path)


def test_the_public_figures_on_audio_of_our_own(tmp_path):
    voice = Voice(8000)
    rows = []

    def add(name, text, **keys):
        samples = np.asarray(voice.render(Spoken(keys.pop("spoken", text))), np.int16)
        soundfile.write(tmp_path / f"{name}.flac", samples, 8000)
        rows.append({"path": f"{name}.flac", "text": text, "dur": samples.size / 8000, **keys})

    for digit in public.DIGITS[1:8]:
        add(digit, digit, kind="isolated digit", speaker="joe")
    add("prompt", "Please hold the line.", kind="prompt", speaker="joe")
    slots = {"coffeeDrink": "latte", "size": "large"}
    add("order", None, spoken="A large latte please.", kind="coffee order", slots=slots)
    (tmp_path / public.FILES[0]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = public.run(tmp_path)
    assert found["bias"]["none"]["prompts_wer"] == 0
    assert found["bias"]["clinic"]["orders_slot_words_heard_percent"] == 100
    assert found["digits"]["wrong_percent"]["digits"] <= found["digits"]["wrong_percent"]["none"]
    assert found["no_digits_with_hint"]["heard_as_digits_percent"] == 0
    assert "seven digits" in public.printed(found)
