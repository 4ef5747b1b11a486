"""Voice activity detection: Pipecat's Silero analyzer on one model session for all calls.

Measured at 8 kHz, µ-law, in 20 ms frames, on 72 synthesised questions (flite, eSpeak NG) and 71
recorded human prompts, with line noise of 2 and of 30 (int16 RMS). Silero's confidence falls
below 0.5 about 90 ms after the last audible sample (|x| > 300), so that three silent windows flag
the end after 173 to 191 ms (medians of the sets; 90 % within 234). Counting a window 35 dB below
the caller's own speech as silence flags it after 120 to 128 ms (90 % within 179). The price is
more gaps before the end: 26 against 17 in the human prompts (11 of the 24 prompts with one have
a comma or a full stop inside, the others none) and 19 against 6 in the questions. At 33 dB: 113
to 120 ms and 31 and 22 gaps; at 30 dB: 105 to 116 ms and 50 and 25. A false gap costs one
superseded decode, as long as the turn logic does not commit on it. For speech 20 dB quieter the
level of 300 hides its own end; the flag comes 174 to 301 ms after it
(medians), against 271 to 315 with Silero alone.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import webrtcvad
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState

from speech import sessions

# A threshold of 0.3 flags the end 4 to 10 ms later, 0.7 16 to 28 ms earlier (Silero alone,
# medians), with 15 and 28 false gaps in the 143 clips where 0.5 has 20. Three windows (96 ms) to
# start: 101 to 127 ms after the first audible sample (medians; 90 % within 212). No volume gate:
# none of the clips was missed, nor when played 20 dB lower, and Pipecat's default min_volume of
# 0.6 flags the start of such quiet speech 664 ms late instead of 149 (flite, 90th percentile).
DEFAULT_PARAMS = VADParams(confidence=0.5, start_secs=0.1, stop_secs=0.1, min_volume=0.0)

_SILENCE_BELOW_SPEECH_DB = 35.0
_LEVEL_DECAY_DB_PER_S = 6.0
# How long after an end of speech one window is enough to call it resumed.
_RESUME_SECS = 0.6
# Windows kept while the first stage says silence, and shown to Silero before the window that
# ends the silence, so that its recurrent state knows what came before.
_REPLAYED_WINDOWS = 3


class _SharedSilero(SileroOnnxModel):
    """Silero's recurrent state for one call, on the session of all calls."""

    def __init__(self) -> None:
        self.session = sessions.session("silero-vad")
        self.reset_states()
        self.sample_rates = [8000, 16000]


class SharedSileroAnalyzer(SileroVADAnalyzer):
    """Silero VAD for one call, at 8 kHz (windows of 256 samples) or 16 kHz (512): 32 ms each.

    It runs where it is called: a window takes about 0.2 ms, less than a hop to a thread.

    After an end of speech, speech that comes back within 0.6 s is flagged at its first window
    (32 ms) instead of after ``start_secs``, so that a pause inside a sentence is taken back
    before anybody answers it.
    """

    def __init__(
        self,
        *,
        sample_rate: int | None = None,
        params: VADParams | None = None,
        silence_below_speech_db: float | None = _SILENCE_BELOW_SPEECH_DB,
        first_stage: bool = False,
    ) -> None:
        """Take the shared session; ``set_sample_rate`` (the pipeline calls it) comes next.

        Args:
            sample_rate: 8000 or 16000 Hz; None takes the pipeline's.
            params: thresholds; None takes ``DEFAULT_PARAMS``.
            silence_below_speech_db: a window this far below the caller's recent speech counts
                as silence, whatever Silero believes; None leaves it to Silero alone.
            first_stage: let webrtcvad (mode 0) spare Silero plain silence. Off by default: it
                delays the start of quiet speech (human prompts 20 dB lower: 278 against 174 ms at
                the 90th percentile) to save 0.2 ms of work a silent window.

        Raises:
            frontdesk.ModelFileError: if the model file is missing or altered.
        """
        # Not SileroVADAnalyzer's own: it would load the model again for every call.
        VADAnalyzer.__init__(self, sample_rate=sample_rate, params=params or DEFAULT_PARAMS)
        self._model = _SharedSilero()
        self._windows_since_reset = 0
        self._low_confidence_windows = 0
        self._below_db = silence_below_speech_db
        self._speech_db = -math.inf
        self._quiet_secs = math.inf
        self._first_stage = webrtcvad.Vad(0) if first_stage else None
        self._skipped: deque[bytes] = deque(maxlen=_REPLAYED_WINDOWS)

    async def analyze_audio(self, buffer: bytes) -> VADState:
        """State after ``buffer`` (int16 mono), worked out here and now."""
        return self._run_analyzer(buffer)

    def voice_confidence(self, buffer: bytes) -> float:
        """Confidence in 0 to 1 that the window ``buffer`` is speech."""
        self._watch_for_resumption()
        if self._first_stage is not None and self._spared(self._first_stage, buffer):
            return 0.0
        confidence = self._silero(buffer)
        if self._below_db is not None and self._far_below_speech(buffer, confidence):
            return 0.0
        return confidence

    def _silero(self, buffer: bytes) -> float:
        samples = np.frombuffer(buffer, np.int16).astype(np.float32) / np.float32(32768)
        confidence = float(self._model(samples, self.sample_rate)[0, 0])
        self._maybe_reset_model(confidence)
        return confidence

    @property
    def _window_secs(self) -> float:
        return self.num_frames_required() / self.sample_rate

    def _watch_for_resumption(self) -> None:
        if self._vad_state in (VADState.SPEAKING, VADState.STOPPING):
            self._quiet_secs = 0.0
        else:
            self._quiet_secs += self._window_secs
        resumes = 0 < self._quiet_secs <= _RESUME_SECS
        self._vad_start_frames = (
            1 if resumes else max(1, round(self._params.start_secs / self._window_secs))
        )

    def _far_below_speech(self, buffer: bytes, confidence: float) -> bool:
        """Whether this window is silence beside what the caller has said lately."""
        assert self._below_db is not None
        if self._quiet_secs > _RESUME_SECS:
            self._speech_db = -math.inf
        samples = np.frombuffer(buffer, np.int16).astype(np.float32)
        db = 10 * math.log10(float(np.dot(samples, samples)) / samples.size + 1e-3)
        self._speech_db -= _LEVEL_DECAY_DB_PER_S * self._window_secs
        if confidence >= self._params.confidence:
            self._speech_db = max(self._speech_db, db)
        return db < self._speech_db - self._below_db

    def _spared(self, first_stage: webrtcvad.Vad, buffer: bytes) -> bool:
        """Whether the first stage hears plain silence, so that Silero need not look."""
        frame_bytes = self.sample_rate // 100 * 2
        voiced = any(
            first_stage.is_speech(buffer[at : at + frame_bytes], self.sample_rate)
            for at in range(0, len(buffer) - frame_bytes + 1, frame_bytes)
        )
        if self._vad_state == VADState.QUIET and not voiced:
            self._skipped.append(buffer)
            if len(self._skipped) == _REPLAYED_WINDOWS:
                self._model.reset_states()
            return True
        while self._skipped:
            self._silero(self._skipped.popleft())
        return False

    def _get_smoothed_volume(self, audio: bytes) -> float:
        # Pipecat measures BS.1770 loudness here, dearer than Silero itself (see its
        # AudioVolumeTracker); without a gate nobody reads it.
        if self._params.min_volume <= 0:
            return 1.0
        return super()._get_smoothed_volume(audio)
