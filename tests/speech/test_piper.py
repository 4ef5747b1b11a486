"""The voice: only Spoken, at telephone level, audible at once, the same every time."""

import builtins
import os
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
    synthesise = voice._synthesise

    def noted(words):
        threads.append(threading.current_thread().name)
        return synthesise(words)

    monkeypatch.setattr(voice, "_synthesise", noted)
    # Another call may drop what was kept a moment ago: only having it counts.
    monkeypatch.setattr(AudioCache, "__contains__", lambda *_: True)
    assert len([piece async for piece in voice.phrases_async(LONG)]) == 3
    assert len(threads) == 3
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
def kept(engines, tmp_path_factory):
    """A file with the four phrases of two sentences, and the voice that wrote it."""
    voice = Voice()
    voice.render(SENTENCE)
    voice.render(LONG)
    path = tmp_path_factory.mktemp("kept") / "folder" / "speech.npz"
    voice.save(path)
    return path, voice


def test_saved_and_loaded_is_the_same(kept, monkeypatch):
    path, voice = kept
    other = Voice()
    assert not other.is_ready(SENTENCE)
    assert other.load(path) == 4
    assert other.is_ready(SENTENCE)
    assert other.is_ready(LONG)
    assert not other.is_ready(Spoken("Goodbye."))
    monkeypatch.setattr(other._piper, "synthesize", None)
    for spoken in (SENTENCE, LONG):
        assert np.array_equal(other.render(spoken), voice.render(spoken))
    with pytest.raises(ValueError, match="read-only"):
        other.render(SENTENCE)[0] = 1


def test_what_was_used_last_stays_longest_after_loading(kept):
    path, voice = kept
    other = Voice(cache_bytes=sum(audio.nbytes for _, audio in voice._cache.items()) - 1)
    assert other.load(path) == 4
    assert not other.is_ready(SENTENCE)
    assert other.is_ready(LONG)


def test_nothing_kept_is_saved_and_loaded(tmp_path):
    Voice().save(tmp_path / "speech.npz")
    assert Voice().load(tmp_path / "speech.npz") == 0


def test_saving_leaves_one_file_that_others_may_read(kept):
    path, _ = kept
    mask = os.umask(0)
    os.umask(mask)
    assert [file.name for file in path.parent.iterdir()] == ["speech.npz"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_saving_that_fails_leaves_the_old_file_and_no_other(kept, tmp_path, monkeypatch):
    path = tmp_path / "speech.npz"
    path.write_bytes(b"old")

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        kept[1].save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["speech.npz"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_a_file_cut_short_is_none(kept, tmp_path, share):
    whole = kept[0].read_bytes()
    path = tmp_path / "speech.npz"
    path.write_bytes(whole[: int(len(whole) * share)])
    other = Voice()
    assert other.load(path) == 0
    assert not other.is_ready(SENTENCE)


def test_an_altered_file_is_none(kept, tmp_path):
    path, whole = tmp_path / "speech.npz", kept[0].read_bytes()
    other = Voice()
    for at in (0, 31, 32, 40, len(whole) // 2, len(whole) - 300, len(whole) - 1):
        altered = bytearray(whole)
        altered[at] ^= 4
        path.write_bytes(altered)
        assert other.load(path) == 0
    assert other._cache.items() == []
    path.write_bytes(whole)
    assert other.load(path) == 4


@pytest.mark.parametrize("what", ["missing", "a folder", "text", "an archive of before"])
def test_no_such_file_is_none(tmp_path, what):
    path = tmp_path / "speech.npz"
    match what:
        case "a folder":
            path.mkdir()
        case "text":
            path.write_text("hello " * 100)
        case "an archive of before":
            np.savez(path, words=np.array(["Goodbye."]), a0=np.ones(3, np.int16))
    assert Voice().load(path) == 0


def test_speech_of_another_voice_is_none(kept, monkeypatch):
    path, _ = kept
    assert Voice(sample_rate_hz=16000).load(path) == 0
    monkeypatch.setattr("speech.piper.version", lambda _: "0.0.1")
    assert Voice().load(path) == 0
    monkeypatch.undo()
    monkeypatch.setattr("speech.piper._FINISH", ())
    assert Voice().load(path) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory is given back on Linux")
def test_saving_gives_memory_back_and_changes_no_sample(kept, tmp_path):
    again = Voice(cache_bytes=0)
    again.render(Spoken("We ask that you call the front desk before noon " * 8))
    before = resident_bytes()
    again.save(tmp_path / "speech.npz")
    assert before - resident_bytes() > 30_000_000
    assert np.array_equal(again.render(SENTENCE), kept[1].render(SENTENCE))


def test_two_calls_that_say_the_same_render_it_once(monkeypatch):
    voice = Voice()
    synthesise, counted, together = voice._synthesise, [], threading.Barrier(4, timeout=5)

    def count(words):
        counted.append(words)
        return synthesise(words)

    def render(_):
        together.wait()
        return voice.render(Spoken("Please hold the line."))

    monkeypatch.setattr(voice, "_synthesise", count)
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
