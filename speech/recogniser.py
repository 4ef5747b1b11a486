"""What a recogniser is to the rest, and what all of ours ask of the audio they are given."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from frontdesk import SpeechError
from speech.audio import Float32
from speech.types import Hint, Utterance

SAMPLE_RATE_HZ = 16000
MAX_AUDIO_MS = 30_000
TARGET_RMS = 0.1
"""Level of speech that recognisers hear best: -20 dBFS."""
MAX_GAIN = 30.0

_MIN_AUDIO_MS = 100
_SILENCE_RMS = 0.001  # -60 dBFS


class Recogniser(Protocol):
    """Speech to text for one piece of audio at a time; safe to call from several threads.

    One whose ``transcribe`` also takes ``width``, of its beam, is asked with 1 for the text so far
    while the caller speaks; others hear a turn at its pauses only.
    """

    def transcribe(self, audio: Float32, *, hint: Hint = Hint.NONE) -> Utterance:
        """What was said in ``audio`` (mono float32, 16 kHz), given what was asked for.

        Raises:
            frontdesk.SpeechError: if the audio is of another shape or type, or the model fails.
        """
        ...

    def warm(self) -> None:
        """Run the model once, so that a call's first turn is as fast as its second."""
        ...


def last_part(audio: Float32) -> Float32:
    """The last 30 s of ``audio``, in which samples that are not finite are silence.

    Raises:
        SpeechError: if the audio is not one-dimensional float32.
    """
    if audio.ndim != 1 or audio.dtype != np.float32:
        raise SpeechError(f"audio must be 1-d float32, got {audio.dtype} {audio.shape}")
    audio = audio[-MAX_AUDIO_MS * SAMPLE_RATE_HZ // 1000 :]
    if np.isfinite(audio).all():
        return audio
    return np.nan_to_num(audio, nan=0.0, posinf=0.0, neginf=0.0)


def is_audible(audio_ms: float, loudest_rms: float) -> bool:
    """Whether there is anything to hear: 0.1 s, and a 20 ms window above -60 dBFS."""
    return audio_ms >= _MIN_AUDIO_MS and loudest_rms >= _SILENCE_RMS
