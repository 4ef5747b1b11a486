"""What a recogniser is to the rest: one piece of audio in, an utterance out."""

from __future__ import annotations

from typing import Protocol

from speech.audio import Float32
from speech.types import Hint, Utterance


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
