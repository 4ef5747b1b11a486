"""Whether what was recognised was said at all: an utterance of noise has no text.

A recogniser makes words of anything: coughs, keys and breath become "Thank you for watching!",
barks "This is a physical fit", two voices played backwards "See you next week". Three things give
them away: the words themselves, how sure the recogniser was and, between sure and unsure, whether
Silero hears a voice. The limits were chosen on one half of ``bench.noise_gate`` (one family of
made noises, three voices); docs/audio.md has what they do on the other.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from speech import sessions
from speech.audio import Float32
from speech.types import Utterance

SURE = -0.7
"""Mean natural-log probability of the tokens from which words are taken as they are."""
UNSURE = -1.3
"""Below it, words are taken for noise."""
VOICED_WINDOWS = 5
"""Between the two, windows of 32 ms in which Silero must hear a voice."""

# Taken down by many a subtitler, said by no caller: what models write where there is no speech.
_NEVER_SAID = frozenset(
    {
        "thank you for watching",
        "thanks for watching",
        "please subscribe",
        "transcript emily beynon",
        "subtitles by the amara org community",
    }
)
_VOICED = 0.5
_RATE_HZ = 16000
_WINDOW = 512
_CONTEXT = 64


def without_noise(audio: Float32, heard: Utterance) -> Utterance:
    """``heard``, without its text if ``audio`` (mono float32, 16 kHz) was no speech.

    Raises:
        SpeechError: if the model fails.
    """
    return heard if is_speech(audio, heard) else replace(heard, text="", confidence=-math.inf)


def is_speech(audio: Float32, heard: Utterance) -> bool:
    """Whether ``heard`` was said in ``audio`` (mono float32, 16 kHz). False for no text.

    Takes microseconds, but up to 0.2 ms for every 32 ms of audio where Silero has to be asked: in
    some 15 of 100 utterances on bad lines, and never for a provisional one, which is believed
    while it is unsure. The confidence of a recogniser that gives none is to be 0.0.

    Raises:
        SpeechError: if the model fails.
    """
    if not heard.text or _never_said(heard.text) or heard.confidence < UNSURE:
        return False
    return heard.confidence >= SURE or heard.provisional or has_voice(audio)


def has_voice(audio: Float32) -> bool:
    """Whether Silero hears a voice in ``audio`` (mono float32, 16 kHz) for 160 ms in all.

    A whisper is none to it. Stops listening when it has heard enough.

    Raises:
        SpeechError: if the model fails.
    """
    session = sessions.session("silero-vad")
    state = np.zeros((2, 1, 128), np.float32)
    samples = np.concatenate((np.zeros(_CONTEXT, np.float32), audio))
    voiced = 0
    with sessions.failing("noise gate failed"):
        for at in range(0, audio.size - _WINDOW + 1, _WINDOW):
            inputs = {
                "input": samples[None, at : at + _CONTEXT + _WINDOW],
                "state": state,
                "sr": np.array(_RATE_HZ, np.int64),
            }
            probability, state = session.run(None, inputs)
            voiced += bool(probability[0, 0] > _VOICED)
            if voiced == VOICED_WINDOWS:
                return True
    return False


def _never_said(text: str) -> bool:
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    return " ".join(words) in _NEVER_SAID
