"""The recorded callers fit their index, the questions and the script that made them."""

import importlib
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import soundfile

ROOT = Path(__file__).resolve().parents[2]
AUDIO = ROOT / "tests" / "audio"


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


ROWS = read(ROOT / "kb" / "clinic" / "questions.jsonl")
INDEX = read(AUDIO / "index.jsonl")


@pytest.fixture(scope="module")
def recorder():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("record_callers")
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def band(recorder):
    return importlib.import_module("telephone_band")


def test_every_clip_exists_at_8_khz_with_its_stated_duration():
    for clip in INDEX:
        info = soundfile.info(AUDIO / clip["file"])
        assert info.samplerate == 8000
        assert info.channels == 1
        assert info.frames / 8000 == pytest.approx(clip["seconds"], abs=0.001)
        assert 0.4 < clip["seconds"] < 8


def test_no_clip_lies_outside_the_index_and_all_are_small():
    stored = {str(path.relative_to(AUDIO)) for path in AUDIO.rglob("*.flac")}
    assert stored == {clip["file"] for clip in INDEX}
    assert sum(path.stat().st_size for path in AUDIO.rglob("*.flac")) < 12_000_000


def test_clips_hold_only_mu_law_values(band):
    for clip in INDEX[::40]:
        samples, _ = soundfile.read(AUDIO / clip["file"], dtype="float32")
        assert np.array_equal(band.through_mu_law(samples), samples)


def test_clips_are_speech_in_the_telephone_band():
    for clip in INDEX[::25]:
        samples, _ = soundfile.read(AUDIO / clip["file"], dtype="float32")
        assert np.sqrt(np.mean(samples**2)) > 0.008
        if clip["noise"] is None:
            power = np.abs(np.fft.rfft(samples)) ** 2
            hz = np.fft.rfftfreq(samples.size, 1 / 8000)
            outside = power[(hz < 200) | (hz > 3600)].sum()
            assert outside < 0.01 * power.sum()


def test_quiet_clips_have_100_ms_of_silence_at_each_end():
    for clip in [clip for clip in INDEX if clip["noise"] is None][::10]:
        samples, _ = soundfile.read(AUDIO / clip["file"], dtype="float32")
        peak = np.abs(samples).max()
        assert np.abs(samples[:700]).max() < 0.1 * peak
        assert np.abs(samples[-700:]).max() < 0.1 * peak
        loud = np.flatnonzero(np.abs(samples) > 0.1 * peak)
        assert loud[0] < 8000 * 0.4
        assert samples.size - loud[-1] < 8000 * 0.5


def test_at_least_five_voices_of_several_engines_and_the_held_out_one(recorder):
    voices = Counter(clip["voice"] for clip in INDEX)
    assert len(voices) >= 5
    assert len({clip["engine"] for clip in INDEX}) >= 3
    assert len({(clip["voice"], clip["speed"]) for clip in INDEX}) > 2 * len(voices) - 1
    assert voices[recorder.held_out_voice] >= 60
    shared = [n for voice, n in voices.items() if voice != recorder.held_out_voice]
    assert max(shared) - min(shared) <= 4


def test_twelve_questions_by_all_voices_and_the_others_by_two():
    voices = defaultdict(set)
    for clip in INDEX:
        voices[clip["question"]].add(clip["voice"])
    everyone = {clip["voice"] for clip in INDEX}
    for row in ROWS[:12]:
        assert voices[row["id"]] == everyone
    for row in ROWS:
        assert len(voices[row["id"]]) >= 2
    assert set(voices) == {row["id"] for row in ROWS}


def test_some_clips_have_line_noise_at_a_stated_level():
    noisy = [clip for clip in INDEX if clip["noise"]]
    assert 0.2 < len(noisy) / len(INDEX) < 0.6
    assert {clip["noise"] for clip in noisy} == {"white", "hum", "babble"}
    assert all(10 <= clip["snr_db"] <= 30 for clip in noisy)
    assert all(clip["snr_db"] is None for clip in INDEX if not clip["noise"])


def test_the_index_is_what_the_seed_plans(recorder):
    planned = recorder.plan(ROWS)
    assert [{k: v for k, v in clip.items() if k != "seconds"} for clip in INDEX] == planned


def test_the_held_out_voice_asks_questions_of_every_kind(recorder):
    said = {clip["question"] for clip in INDEX if clip["voice"] == recorder.held_out_voice}
    kinds = Counter(row["kind"] for row in ROWS if row["id"] in said)
    for kind, total in Counter(row["kind"] for row in ROWS).items():
        assert kinds[kind] >= 0.3 * total, kind


def test_a_dialogue_is_spoken_by_the_same_voices():
    voices = {row["id"]: {audio["voice"] for audio in row["audio"]} for row in ROWS}
    by_text = {row["text"]: row for row in ROWS}
    for row in ROWS:
        if row["context"]:
            assert voices[row["id"]] <= voices[by_text[row["context"]]["id"]]


def test_every_row_carries_what_was_heard(recorder):
    files = {clip["file"]: clip for clip in INDEX}
    for row in ROWS:
        assert row["asr"]
        assert len(row["audio"]) == sum(clip["question"] == row["id"] for clip in INDEX)
        for audio in row["audio"]:
            assert files[audio["file"]]["voice"] == audio["voice"]
            assert files[audio["file"]]["noise"] == audio["noise"]
            assert isinstance(audio["asr"], str)
        tuned = [a["asr"] for a in row["audio"] if a["voice"] != recorder.held_out_voice]
        assert row["asr"] == tuned[0]


def test_the_callers_are_understood_about_as_well_as_the_voices_allow(recorder):
    errors, words = Counter(), Counter()
    for row in ROWS:
        said = recorder.words_of(row["text"])
        for audio in row["audio"]:
            heard = recorder.words_of(audio["asr"])
            errors[audio["voice"]] += recorder.word_errors(said, heard)
            words[audio["voice"]] += len(said)
    rates = {voice: errors[voice] / words[voice] for voice in words}
    assert rates["joe"] < 0.18
    assert rates[recorder.held_out_voice] < 0.25
    assert sum(errors.values()) / sum(words.values()) < 0.30


def test_word_errors_counts_edits(recorder):
    said = recorder.words_of("Call 24 hours before")
    assert said == ["call", "twenty", "four", "hours", "before"]
    assert recorder.word_errors(said, recorder.words_of("twenty-four hours before it")) == 2
    assert recorder.word_errors(said, []) == 5


def test_noise_has_the_stated_level(band):
    rng = np.random.default_rng(1)
    speech = rng.normal(0, 0.1, 16000).astype(np.float32)
    babble = rng.normal(0, 0.3, 32000).astype(np.float32)
    for kind in band.NOISES:
        added = band.add_noise(speech, kind, 20, np.random.default_rng(2), babble) - speech
        snr_db = 10 * np.log10(np.mean(speech**2) / np.mean(added**2))
        assert snr_db == pytest.approx(20, abs=0.3)
    with pytest.raises(ValueError, match="unknown noise 'rain'; known: white, hum, babble"):
        band.add_noise(speech, "rain", 20, rng, babble)


def test_band_keeps_the_telephone_range_and_pads(band):
    time = np.arange(24000) / 24000
    for hz, kept in ((60, 0), (1000, 1), (3000, 1), (3900, 0)):
        tone = (0.5 * np.sin(2 * np.pi * hz * time)).astype(np.float32)
        out = band.narrow(tone + np.float32(0.01) * np.sin(2 * np.pi * 1500 * time), 24000)
        rms = np.sqrt(np.mean(out[1600:6400] ** 2)) / np.sqrt(0.125)
        assert rms == pytest.approx(kept, abs=0.03), hz
    assert not out[:800].any()
