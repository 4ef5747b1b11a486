"""The rules of hearing while the caller speaks. Pure: texts, samples and times in, values out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from speech.audio import Int16
from speech.types import Utterance

FIRST_MS = 250.0
"""Speech there has to be before it is decoded for the first time."""
PACE_MS = 250.0
"""Speech to be added before it is decoded again, at rest."""
_MAX_PACE_MS = 2000.0
# One decode in four times its own length: a caller's interims take at most a quarter of a core,
# however long the turn and however busy the machine.
_SHARE = 4.0
_QUIET_MS = 100


def pace_ms(took_ms: float, delay_ms: float = 0.0) -> float:
    """Speech to be added before the next decode, when the last one took ``took_ms`` and pressing
    work waits ``delay_ms`` for a thread.
    """
    return min(_MAX_PACE_MS, max(PACE_MS, _SHARE * (took_ms + delay_ms)))


def stable_prefix(before: str, now: str) -> str:
    """The start of ``now`` whose words the text ``before`` it begins with too, without the mark
    behind the last one.

    LocalAgreement-2: what two decodes in a row agree on is taken to stay (Liu et al., "Low-Latency
    Sequence-to-Sequence Speech Recognition and Translation by Partial Hypothesis Selection",
    Interspeech 2020; Macháček et al., "Turning Whisper into Real-Time Transcription System",
    2023). Case and punctuation do not count: a recogniser ends every text with some.
    """
    end = 0
    words = now.split()
    for ours, theirs in zip(words, before.split(), strict=False):
        if _bare(ours) != _bare(theirs):
            break
        end += 1
    return " ".join(words[:end]).rstrip(".,?!;:-\u2026")


def _bare(word: str) -> str:
    return "".join(c for c in word.casefold() if c.isalnum())


def quiet_place(samples: Int16, rate_hz: int, from_ms: int, to_ms: int) -> int:
    """The sample in the middle of the quietest 100 ms between ``from_ms`` and ``to_ms``: where
    speech that does not pause is best cut. ``from_ms`` where that range is too short.
    """
    start = from_ms * rate_hz // 1000
    window = _QUIET_MS * rate_hz // 1000
    part = samples[start : to_ms * rate_hz // 1000].astype(np.float64)
    if part.size < window:
        return start
    energy = np.cumsum(np.concatenate(([0.0], np.square(part))))
    return start + int(np.argmin(energy[window:] - energy[:-window])) + window // 2


def joined(parts: Sequence[Utterance]) -> Utterance:
    """One utterance of what was heard in parts, one after the other (at least one).

    It carries no audio: nothing could hear that again at once. Confidence is weighted by length.
    """
    *_, last = parts
    if len(parts) == 1:
        return last
    heard = [part for part in parts if part.text]
    audio_ms = sum(part.audio_ms for part in parts)
    weight = sum(part.audio_ms for part in heard)
    return Utterance(
        " ".join(part.text for part in heard),
        audio_ms,
        last.decode_ms,
        sum(part.confidence * part.audio_ms for part in heard) / weight if weight else -math.inf,
        (heard or parts)[-1].language,
        stable=" ".join([part.text for part in heard if part is not last] + [last.stable]).strip(),
        provisional=last.provisional,
        finished=last.finished,
    )
