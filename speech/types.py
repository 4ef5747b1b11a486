"""The words that pass from the recogniser to the rest of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from speech.audio import Int16


class Hint(Enum):
    """What the agent has just asked for, so what the next words are likely to be."""

    NONE = "none"
    DIGITS = "digits"
    YES_NO = "yes_no"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was heard in one piece of audio.

    ``text`` is '' where there was nothing to hear. ``confidence`` is the mean natural-log
    probability of the chosen tokens: 0.0 is certain, telephone speech that is heard right lies
    about -0.1, and it is -inf where no token was chosen. ``audio`` is what was heard, at
    ``rate_hz``, for a second opinion; ``stable`` the start of ``text`` that further speech is not
    expected to change; ``provisional`` says that the caller was still speaking. ``finished`` is the
    probability, in 0 to 1, that the turn sounds complete, where the recogniser can tell.
    """

    text: str
    audio_ms: float
    decode_ms: float
    confidence: float
    language: str = "en"
    audio: Int16 | None = field(default=None, compare=False, repr=False)
    rate_hz: int = 0
    stable: str = ""
    provisional: bool = False
    finished: float | None = None
