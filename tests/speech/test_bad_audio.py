"""Bad audio: nothing crashes, noise has no words, and hard voices keep theirs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.hard_voices import VOICES, hard
from bench.noise_gate import past_vad
from bench.noises import FAMILIES, KINDS, RATE_HZ, noise
from bench.recordings import AUDIO
from frontdesk import SpeechError
from speech import noise as gate
from speech.audio import resample, to_float32
from speech.moonshine import Moonshine
from speech.noise import SURE, UNSURE, has_voice, is_speech, without_noise
from speech.types import Utterance
from telephony.recording import load_audio


@pytest.fixture(scope="module")
def moonshine() -> Moonshine:
    return Moonshine()


def wide(audio: np.ndarray) -> np.ndarray:
    return resample(audio, RATE_HZ, 16000)


def clip(name: str) -> np.ndarray:
    return to_float32(load_audio(AUDIO / name))


def heard(text: str, confidence: float) -> Utterance:
    return Utterance(text, 1000.0, 50.0, confidence)


# Two voices backwards and a bark are near enough to a voice; docs/audio.md has what comes of them.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("babble", "barks")])
@pytest.mark.parametrize("family", FAMILIES)
async def test_noise_is_no_turn_or_has_no_text(moonshine, family, kind):
    for seed in (101, 102, 103):
        made = noise(family, kind, seed)
        audio = wide(made)
        utterance = moonshine.transcribe(audio)
        without = without_noise(audio, utterance)
        assert without.text == "" or not await past_vad(made), utterance
        assert without.audio_ms == utterance.audio_ms


@pytest.mark.parametrize("kind", VOICES)
def test_a_hard_voice_keeps_its_words(moonshine, kind):
    audio = wide(hard(kind, clip("gongitsune/q001.flac")))
    utterance = moonshine.transcribe(audio)
    assert without_noise(audio, utterance) is utterance, utterance


def test_the_limits(monkeypatch):
    asked = []
    monkeypatch.setattr(gate, "has_voice", lambda audio: bool(asked.append(1)) or audio.size > 1)
    voice, none = np.ones(2, np.float32), np.ones(1, np.float32)
    assert is_speech(none, heard("open on sunday", SURE))
    assert is_speech(none, replace(heard("open on sunday", UNSURE), provisional=True))
    assert not is_speech(none, replace(heard("open on sunday", UNSURE - 0.01), provisional=True))
    assert not is_speech(voice, heard("open on sunday", UNSURE - 0.01))
    assert not is_speech(voice, heard("", 0.0))
    assert not is_speech(voice, heard("", -math.inf))
    assert not is_speech(voice, heard("Thank you for watching!", -0.1))
    assert not asked, "Silero is not asked where the answer is known"
    assert is_speech(voice, heard("open on sunday", UNSURE))
    assert not is_speech(none, heard("open on sunday", UNSURE))
    assert is_speech(voice, heard("Thank you for calling.", SURE - 0.01))
    assert len(asked) == 3


def test_a_voice_is_heard_soon_and_noise_to_its_end(monkeypatch):
    real, windows = gate.sessions.session("silero-vad"), []

    class Counted:
        def run(self, outputs, inputs):
            windows.append(inputs["input"].shape)
            return real.run(outputs, inputs)

    monkeypatch.setattr(gate.sessions, "session", lambda name: Counted())
    question = wide(clip("gongitsune/q001.flac"))
    assert has_voice(question)
    assert len(windows) < question.size / 512 / 2
    windows.clear()
    hiss = wide(noise("first", "hiss", 1))
    assert not has_voice(hiss)
    assert len(windows) == hiss.size // 512
    assert set(windows) == {(1, 64 + 512)}
    assert not has_voice(np.zeros(100, np.float32))


def test_a_model_that_fails_is_a_speech_error(monkeypatch):
    monkeypatch.setattr(gate.sessions, "session", lambda name: object())
    with pytest.raises(SpeechError, match="noise gate failed"):
        has_voice(np.zeros(2048, np.float32))


@pytest.mark.parametrize(
    "audio",
    [
        np.zeros(0),
        np.full(1, 0.5),
        np.full(16000, np.nan),
        np.full(16000, np.inf),
        np.full(16000, 0.5),  # an offset and nothing else
        np.where(np.arange(16000) % 40 < 20, 32.0, -32.0),  # far beyond full scale
        np.full(16000, 1e-30),
    ],
    ids=["nothing", "one sample", "nan", "inf", "offset", "too loud", "denormal"],
)
def test_audio_that_is_none_is_no_speech(moonshine, audio):
    samples = audio.astype(np.float32)
    utterance = moonshine.transcribe(samples)
    assert without_noise(samples, utterance).text == "", utterance
