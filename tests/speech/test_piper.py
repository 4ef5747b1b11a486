"""The voice: only Spoken, at telephone level, audible at once, the same every time."""

import builtins
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from frontdesk import ModelFileError, SpeechError, Spoken
from speech.audio import to_float32
from speech.cache import AudioCache
from speech.phrased import Phrase
from speech.piper import Voice, finish
from tests.speech.conftest import resident_bytes

ROOT = Path(__file__).resolve().parent.parent.parent
SENTENCE = Spoken("On Saturday the clinic is open from 9 a.m. to 1 p.m.")
LONG = Spoken(
    "The missed visit fee is $40, and we ask for 24 hours' notice before you cancel. Thank you."
)


def speech_rms_db(audio: np.ndarray, rate_hz: int) -> float:
    x = to_float32(audio)
    window = rate_hz // 50
    energy = np.square(x[: x.size // window * window].reshape(-1, window)).mean(axis=1)
    return float(10 * np.log10(energy[energy >= energy.max() * 0.01].mean()))


@pytest.mark.parametrize("text", ["Goodbye.", SENTENCE.text, LONG.text, "Yes, of course."])
def test_level_and_silence(engines, text):
    audio = engines.voice.render(Spoken(text))
    assert audio.dtype == np.int16
    at = np.flatnonzero(np.abs(audio.astype(int)) > 300)
    assert at[0] <= 0.02 * 8000
    assert 0.06 * 8000 <= audio.size - at[-1] <= 0.1 * 8000
    assert np.abs(audio.astype(int)).max() <= 0.71 * 32768
    assert -23 <= speech_rms_db(audio, 8000) <= -19


def test_length_is_that_of_speech(engines):
    assert 2.0 <= engines.voice.render(SENTENCE).size / 8000 <= 5.0


def test_the_same_words_give_the_same_samples(engines):
    again = Voice(cache_bytes=0)
    assert np.array_equal(again.render(SENTENCE), engines.voice.render(SENTENCE))


def test_another_rate(engines):
    wide = Voice(sample_rate_hz=16000)
    assert wide.sample_rate_hz == 16000
    assert wide.render(SENTENCE).size == pytest.approx(
        2 * engines.voice.render(SENTENCE).size, rel=0.03
    )


def test_phrases_make_up_the_whole(engines):
    pieces = list(engines.voice.render_phrases(LONG))
    assert len(pieces) == 3
    assert np.array_equal(np.concatenate(pieces), engines.voice.render(LONG))


async def test_async_gives_the_same(engines):
    pieces = [piece async for piece in engines.voice.phrases_async(LONG)]
    assert np.array_equal(np.concatenate(pieces), engines.voice.render(LONG))


def test_no_words_no_samples(engines):
    assert engines.voice.render(Spoken("")).size == 0
    assert list(engines.voice.render_phrases(Spoken(" "))) == []


@pytest.mark.parametrize("text", ["...", "!", "—", "🙂"])
def test_no_word_in_it_no_samples(engines, text):
    assert engines.voice.render(Spoken(text)).size == 0


def test_a_repeated_sentence_is_kept(engines, monkeypatch):
    engines.voice.render(SENTENCE)
    monkeypatch.setattr(engines.voice._piper, "synthesize", None)
    assert engines.voice.render(SENTENCE).size > 0


async def test_nothing_is_rendered_on_the_event_loop(monkeypatch):
    voice, threads = Voice(cache_bytes=0), []
    synthesise = voice.synthesise

    def noted(phrase):
        threads.append(threading.current_thread().name)
        return synthesise(phrase)

    monkeypatch.setattr(voice, "synthesise", noted)
    # Another call may drop what was kept a moment ago: only having it counts.
    monkeypatch.setattr(AudioCache, "__contains__", lambda *_: True)
    assert len([piece async for piece in voice.phrases_async(LONG)]) == 2
    assert len(threads) == 2
    assert all(name.startswith("rendering") for name in threads)


@pytest.mark.parametrize("error", [KeyError("phoneme"), MemoryError(), RuntimeError("espeak")])
def test_however_the_voice_fails_it_is_a_speech_error(engines, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(engines.voice._piper, "synthesize", fail)
    with pytest.raises(SpeechError, match="voice failed on 'Never said") as raised:
        engines.voice.render(Spoken("Never said before."))
    assert raised.value.__cause__ is error


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with two sentences, and the voice that rendered them."""
    folder = tmp_path_factory.mktemp("kept") / "speech"
    voice = Voice()
    voice.keep_in(folder, 10_000_000)
    assert voice.prepare(SENTENCE) > 10_000
    voice.prepare(LONG)
    return folder, voice


def test_what_was_rendered_before_is_not_rendered_again(kept, monkeypatch):
    folder, voice = kept
    other = Voice()
    assert not other.is_ready(SENTENCE)
    other.keep_in(folder, 10_000_000)
    assert other.is_ready(SENTENCE)
    assert other.is_ready(LONG)
    assert not other.is_ready(Spoken("Goodbye."))
    monkeypatch.setattr(other._piper, "synthesize", None)
    for spoken in (SENTENCE, LONG):
        assert np.array_equal(other.render(spoken), voice.render(spoken))
    with pytest.raises(ValueError, match="read-only"):
        other.render(SENTENCE)[0] = 1


async def test_what_is_on_disk_is_read_on_another_thread(kept, monkeypatch):
    other, threads = Voice(), []
    other.keep_in(kept[0], 10_000_000)
    stored = other._cache.stored

    def noted(key):
        threads.append(threading.current_thread().name)
        return stored(key)

    monkeypatch.setattr(other._cache, "stored", noted)
    monkeypatch.setattr(other._piper, "synthesize", None)
    for _ in range(2):
        assert len([piece async for piece in other.phrases_async(SENTENCE)]) == 1
    assert len(threads) == 1
    assert threads[0] != threading.current_thread().name
    assert not threads[0].startswith("rendering")


def test_speech_of_another_voice_is_none(kept, monkeypatch):
    def is_ready(**rate):
        voice = Voice(**rate)
        voice.keep_in(kept[0], 10_000_000)
        return voice.is_ready(SENTENCE)

    assert is_ready()
    assert not is_ready(sample_rate_hz=16000)
    monkeypatch.setattr("speech.piper.version", lambda _: "0.0.1")
    assert not is_ready()
    monkeypatch.undo()
    monkeypatch.setattr("speech.piper._FINISH", ())
    assert not is_ready()


def test_a_sentence_that_is_kept_is_said_whole(kept):
    assert [phrase.words for phrase in kept[1]._phrases(LONG)] == [
        "The missed visit fee is forty dollars, and we ask for twenty-four hours' notice before "
        "you cancel.",
        "Thank you.",
    ]
    assert len(Voice()._phrases(LONG)) == 3


def test_what_is_kept_is_found_behind_an_opening(kept):
    opened = Spoken(f"What I do have is this: {SENTENCE.text}")
    assert not kept[1].is_ready(opened)
    kept[1].prepare(Spoken("What I do have is this:"))
    assert kept[1].is_ready(opened)
    whole = kept[1].render(SENTENCE)
    assert np.array_equal(kept[1].render(opened)[-whole.size :], whole)


def test_slow_takes_longer_and_is_kept_apart(kept):
    usual, slow = kept[1].render(SENTENCE), kept[1].render(SENTENCE.slowly())
    assert slow.size > 1.05 * usual.size
    assert np.array_equal(kept[1].render(SENTENCE), usual)


def test_a_respelled_sentence_is_said_as_it_is_respelled():
    voice, words = Voice(), "Room one zero four."
    voice.respell({"It is in Room one oh four.": Phrase(words)})
    said = voice.render(Spoken("It is in Room 104."))
    assert np.array_equal(said, voice.render(Spoken(words)))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is given back on Linux")
def test_resting_gives_memory_back_and_changes_no_sample(kept):
    again = Voice(cache_bytes=0)
    again.render(Spoken("We ask that you call the front desk before noon " * 8))
    before = resident_bytes()
    again.rest()
    assert before - resident_bytes() > 30_000_000
    assert np.array_equal(again.render(SENTENCE), kept[1].render(SENTENCE))


def test_two_calls_that_say_the_same_render_it_once(monkeypatch):
    voice = Voice()
    synthesise, counted, together = voice.synthesise, [], threading.Barrier(4, timeout=5)

    def count(phrase):
        counted.append(phrase.words)
        return synthesise(phrase)

    def render(_):
        together.wait()
        return voice.render(Spoken("Please hold the line."))

    monkeypatch.setattr(voice, "synthesise", count)
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(render, range(4)))
    assert counted == ["Please hold the line."]
    assert all(np.array_equal(result, results[0]) for result in results)


@pytest.mark.parametrize("wrong", ["We open at 8.", b"We open", None])
def test_only_spoken_has_a_voice(engines, wrong):
    with pytest.raises(TypeError, match="only Spoken"):
        engines.voice.render(wrong)
    with pytest.raises(TypeError, match="only Spoken"):
        list(engines.voice.render_phrases(wrong))


def test_missing_extra_names_the_command(monkeypatch):
    real = builtins.__import__

    def without_piper(name, *args, **kwargs):
        if name.split(".")[0] == "piper":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_piper)
    with pytest.raises(ModelFileError, match="make setup"):
        Voice()


def test_silence_finishes_to_nothing():
    assert finish(np.zeros(8000, np.float32), 8000).size == 0
    assert finish(np.zeros(0, np.float32), 8000).size == 0


@pytest.mark.slow
def test_speaking_a_citation_is_a_type_error(tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "from frontdesk import Spoken\n"
        "from speech.piper import Voice\n"
        "def say(voice: Voice) -> None:\n"
        '    voice.render(Spoken("text"))\n'
        '    voice.render("text [kb-a]")\n'
        '    voice.render_phrases("text [kb-a]")\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(snippet)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
    )
    errors = [line for line in done.stdout.splitlines() if "snippet.py" in line]
    assert done.returncode == 1, done.stdout + done.stderr
    assert [line.split(":")[1] for line in errors] == ["5", "6"], done.stdout
    assert all('incompatible type "str"; expected "Spoken"' in line for line in errors)
