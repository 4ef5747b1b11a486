"""Whether a sound over the agent's voice is really a caller who wants the turn."""

from __future__ import annotations

import math

import numpy as np

from agent.playback import ECHO_REACH_MS, Playback
from agent.turns import Doubt
from speech.audio import Int16
from speech.echo import likeness

# Speech of seven callers, 110 ms into it, is explained by what the agent says to 0.44 at most (57
# clips); an echo 20 dB down and 150 ms late to 0.99 and more, in a room of 100 ms to 0.7, of 250
# ms to 0.35.
ECHO_SHARE = 0.5
_WINDOW_MS = 200.0
# So much of a sound is looked at before it is an echo for good: of less, too much is chance.
_SURE_MS = 150.0
# An echo goes on as loud as it began, within what a room adds; a caller over it is louder.
_LOUDER_DB = 6.0
# So far under the caller's own speech is another voice, a television, breath.
_QUIETER_DB = 18.0
_FORGETS_DB = 0.5


class Doubts:
    """What one call knows of its line: how the caller's voice and the agent's echo come in."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._echo_gain = math.inf
        self._echo_since_ms = 0.0
        self._caller_db = -math.inf

    def caller_spoke(self, turn: Int16, rate_hz: int) -> None:
        """``turn`` was a caller's, heard while the agent was silent: this is how loud they are."""
        self._caller_db = max(_loudest_db(turn, rate_hz), self._caller_db - _FORGETS_DB)

    def at_start(self, heard: Int16, rate_hz: int, now_ms: float) -> Doubt | None:
        """Why the speech that the VAD found at the end of ``heard`` may be none of the caller's."""
        if not rate_hz or not self._playback.is_near(now_ms):
            return None
        window = heard[-round(_WINDOW_MS * rate_hz / 1000) :]
        found = likeness(window, self._source(now_ms, rate_hz), rate_hz)
        if found.share >= ECHO_SHARE:
            self._echo_gain, self._echo_since_ms = found.gain, now_ms
            return Doubt.ECHO
        return Doubt.QUIET if self._is_quiet(window, rate_hz) else None

    def still(self, doubt: Doubt, heard: Int16, rate_hz: int, now_ms: float) -> bool:
        """Whether ``doubt`` still stands, from the end of ``heard``."""
        if doubt is Doubt.WORDLESS:
            return True
        window = heard[-round(_WINDOW_MS * rate_hz / 1000) :]
        if doubt is Doubt.QUIET:
            return self._is_quiet(window, rate_hz)
        if not self._playback.is_near(now_ms):
            return False
        played = self._source(now_ms, rate_hz)
        if now_ms - self._echo_since_ms > _SURE_MS:
            expected_db = _loudest_db(played, rate_hz) + _db(self._echo_gain)
            if _loudest_db(window, rate_hz) <= expected_db + _LOUDER_DB:
                return True
        found = likeness(window, played, rate_hz)
        # The least that was seen: a caller who had begun already makes it look like more.
        self._echo_gain = min(self._echo_gain, found.gain)
        return found.share >= ECHO_SHARE

    def _source(self, now_ms: float, rate_hz: int) -> Int16:
        return self._playback.lately(now_ms, _WINDOW_MS + ECHO_REACH_MS, rate_hz)

    def _is_quiet(self, window: Int16, rate_hz: int) -> bool:
        return _loudest_db(window, rate_hz) < self._caller_db - _QUIETER_DB


def _loudest_db(samples: Int16, rate_hz: int) -> float:
    """Level of the loudest 20 ms, in dB of full scale; -inf for less."""
    size = rate_hz // 50
    whole = samples[: samples.size // size * size].reshape(-1, size)
    if not whole.size:
        return -math.inf
    energy = np.square(whole.astype(np.float32) / np.float32(32768)).mean(axis=1).max()
    return _db(math.sqrt(float(energy)))


def _db(ratio: float) -> float:
    return 20 * math.log10(ratio) if ratio > 0 else -math.inf
