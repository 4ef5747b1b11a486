"""The word that passes from the recogniser to the rest of a call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was heard in one piece of audio.

    ``text`` is '' where there was nothing to hear. ``confidence`` is the mean natural-log
    probability of the chosen tokens: 0.0 is certain, telephone speech that is heard right lies
    about -0.1, and it is -inf where no token was chosen.
    """

    text: str
    audio_ms: float
    decode_ms: float
    confidence: float
    language: str = "en"
