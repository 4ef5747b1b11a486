"""The ear check: what must be understood, what is said otherwise, what is left for a person."""

import json
import shutil

import numpy as np
import pytest

from agent import ears_check, respelled
from agent.ear_items import items_in, lost, names_of
from agent.ears import listen
from agent.ears_check import Listener, check, respellings_of
from agent.settings import SAMPLE_KB
from rag import store
from speech.phrased import Phrase, PhrasedVoice
from speech.types import Utterance


def texts(items):
    return [item.text for item in items]


class Ear:
    """Hears every phrase as it is, but for what it is told."""

    def __init__(self, **mishearings):
        self.mishearings = {key.replace("_", " "): text for key, text in mishearings.items()}
        self.asked = []

    def hear(self, phrase):
        self.asked.append(phrase)
        words = phrase.words if phrase.slowness == 1 else f"{phrase.words} (slow)"
        for said, heard in self.mishearings.items():
            words = words.replace(said, heard)
        return words


# --- what must be understood


def test_values_names_and_facts_in_words(clinic):
    number = next(n for n, s in enumerate(clinic.sentences) if "around the clock" in s.text)
    text = clinic.sentences[number].text
    found = texts(items_in(text, (), clinic.facts[number]))
    assert {"555-0142", "7 days", "around the clock", "closed"} <= set(found)


def test_a_name_is_a_word_with_a_capital_within_a_sentence():
    sentences = (
        "Cigna and Blue Cross pay. Bring a card.",
        "We accept Cigna at Lot A on Elm Street.",
    )
    names = names_of(sentences)
    assert names == ("A", "Blue", "Cigna", "Cross", "Elm", "Lot", "Street")
    assert texts(items_in(sentences[0], names)) == ["Cigna", "Blue Cross"]
    assert texts(items_in("A clinic. A Blue Cross card.", names)) == ["Blue Cross"]


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("Call 555-0142.", "call five, five, five, zero, one, four, two"),
        ("Open from 7 a.m. to 3 p.m.", "open from seven a m to three p. M.."),
        ("It costs $120.", "It costs one hundred and twenty dollars"),
        ("In Room 101.", "in room one o one"),
        ("On March 3.", "on march third"),
        ("At 418 Harlan Street.", "at four eighteen harland street"),
        ("We take Aetna.", "we take eaton, spelled A E T N A"),
    ],
)
def test_understood_however_it_is_spelled(written, heard):
    assert lost(items_in(written, names_of([written])), heard) == ()


@pytest.mark.parametrize(
    ("written", "heard", "gone"),
    [
        ("Call 555-0142.", "call five, five, five, a one, four, two", ["555-0142"]),
        ("Call 555-0110.", "call 555-110", ["555-0110"]),
        ("From 9 a.m. to 1 p.m.", "for my name to one p m", ["9 a.m."]),
        ("It costs $55.", "it cost $5", ["$55"]),
        ("8 to 8 of 8 patients.", "eight to eight of patients", ["8"]),
        ("We take Aetna.", "we take insurance", ["Aetna"]),
    ],
)
def test_not_understood(written, heard, gone):
    assert texts(lost(items_in(written, names_of([written])), heard)) == gone


# --- what is done about it


def said(text, first, second=None):
    read = text.replace("555-0142", "five five five, oh one four two")
    return listen(text, items_in(text, names_of([text])), [Phrase(read)], first, second)


def test_what_is_understood_stays_as_it_is():
    heard = said("Call 555-0142.", Ear())
    assert (heard.instead, heard.lost, heard.is_for_a_person) == ((), (), False)


def test_what_is_not_is_said_otherwise():
    heard = said("Call 555-0142 or 555-0142.", Ear(oh="a"), Ear())
    assert heard.instead[0].words.count("zero one four two") == 2
    assert heard.lost == ()
    assert texts(heard.lost_at_first) == ["555-0142", "555-0142"]
    assert respellings_of([heard]) == {heard.said[0].words: heard.instead[0]}


def test_what_only_the_second_ear_understands_is_no_finding():
    heard = said("Call 555-0142.", Ear(one="won", four="for"), Ear())
    assert (texts(heard.by_second), heard.lost, heard.instead) == (["555-0142"], (), ())


def test_a_name_that_the_second_ear_knows_is_not_spelled():
    heard = said("We take Aetna.", Ear(Aetna="Eaton"), Ear())
    assert (texts(heard.by_second), heard.instead) == (["Aetna"], ())
    heard = said("We take Aetna.", Ear(Aetna="Eaton"), Ear(Aetna="Eaton"))
    assert heard.instead == (Phrase("We take Aetna, spelled A-E-T-N-A."),)


def test_what_nobody_understands_is_for_a_person_after_some_tries():
    deaf = Ear(one="", four="", two="")
    heard = said("Call 555-0142.", deaf, deaf)
    assert texts(heard.lost) == ["555-0142"]
    assert heard.is_for_a_person
    assert heard.instead == ()
    assert len(deaf.asked) <= 26


def test_what_is_read_as_something_else_is_for_a_person():
    text = "It costs $40."
    heard = listen(text, items_in(text, ()), [Phrase("It costs fourteen dollars.")], Ear(), None)
    assert texts(heard.misread) == ["$40"]
    assert heard.is_for_a_person


# --- a whole knowledge base


class Written(PhrasedVoice):
    """Puts the number of its words where the samples would be."""

    def __init__(self):
        super().__init__(b"written", 8000, 0)
        self.words = []

    def synthesise(self, phrase):
        self.words.append(phrase.words)
        return np.full(8000, 100, np.int16)


class Reads:
    """Hears what the voice said last."""

    def __init__(self, voice):
        self._voice = voice

    def transcribe(self, audio, *, hint=None):
        assert audio.dtype == np.float32
        assert audio.size == 16000
        return Utterance(self._voice.words[-1].replace("oh", "a"), 1000.0, 1.0, 0.0)


def test_all_that_states_something_is_checked_and_heard_once(tmp_path, monkeypatch):
    monkeypatch.setattr("agent.ears_check.os.cpu_count", lambda: 1)
    (tmp_path / "hours.md").write_text(
        "Call 555-0142. We are kind.\n\nStaff only: the code is 1234.\n", "utf-8"
    )
    index = store.open_index(tmp_path)
    voice = Written()

    def checked():
        ear = Listener("reads", voice, lambda: Reads(voice), ears_check.kept_in(tmp_path))
        report = check(index, voice, ear, None)
        ears_check.keep_in(tmp_path, [ear])
        return report

    report = checked()
    assert [one.text for one in report.heard] == ["Call 555-0142."]
    assert report.heard[0].instead == (Phrase("Call five five five, zero one four two."),)
    spoken = len(voice.words)
    assert spoken == 2
    again = checked()
    assert again == report
    assert len(voice.words) == spoken


@pytest.mark.slow
def test_the_command_mends_what_is_not_understood(command, tmp_path):
    kb, page = tmp_path / "kb", tmp_path / "page.html"
    kb.mkdir()
    (kb / "hours.md").write_text(
        "The nurse line at 555-0142 is answered around the clock. It costs 40 dollars.\n", "utf-8"
    )
    code, out, err = command("kb", "check", kb, "--ears", "--json", "--html", page)
    figures = json.loads(out)
    assert (code, figures["lost"], figures["for_a_person"]) == (0, 0, []), err
    assert figures["values"] >= 3
    mended = json.loads((kb / "spoken.json").read_text()) if figures["respelled"] else {}
    assert len(next(iter(mended.values()), {})) == len(figures["respelled"])
    assert page.read_text("utf-8").count("<audio") == 2 * len(figures["respelled"])
    assert command("kb", "check", kb, "--ears", "--json")[1] == out


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_fact_of_the_clinic_survives_as_it_ships(command, tmp_path):
    folder = tmp_path / "clinic"
    shutil.copytree(SAMPLE_KB, folder, ignore=shutil.ignore_patterns(".frontdesk"))
    shipped = (folder / "spoken.json").read_text("utf-8")
    code, out, err = command("kb", "check", folder, "--ears", "--json")
    found = json.loads(out)
    assert (code, found["lost"], found["for_a_person"]) == (0, 0, []), err
    assert found["values"] > 150
    assert (folder / "spoken.json").read_text("utf-8") == shipped, "nothing needed mending"


def test_a_page_among_the_documents_would_be_read_to_callers(command, tmp_path):
    (tmp_path / "hours.md").write_text("Call 555-0142.\n", "utf-8")
    page = tmp_path / "page.html"
    code, _, err = command("kb", "check", tmp_path, "--ears", "--html", page)
    assert code == 2
    assert "would be read as a document" in err
    assert not page.exists()


def test_a_voice_that_is_a_service_cannot_be_checked(command, tmp_path, monkeypatch):
    (tmp_path / "hours.md").write_text("Call 555-0142.\n", "utf-8")
    monkeypatch.setenv("FRONTDESK_VOICE__ENGINE", "some.module:Service")
    code, _, err = command("kb", "check", tmp_path, "--ears")
    assert code == 2
    assert "the voice is a service" in err


def test_respellings_of_another_voice_stay(tmp_path):
    respelled.save(tmp_path, b"a", {"x": Phrase("y")})
    respelled.save(tmp_path, b"b", {"x": Phrase("z", 1.2)})
    assert respelled.load(tmp_path, b"a") == {"x": Phrase("y")}
    respelled.save(tmp_path, b"a", {})
    assert respelled.load(tmp_path, b"b") == {"x": Phrase("z", 1.2)}
