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

The first stage spares Silero plain silence, half of the VAD's work in a call. On 60 questions
and 60 prompts, at two levels and four of noise, the end of speech is flagged when it is without it
and the start a little earlier (medians 163 to 196 ms after the first audible sample, 165 to 232
without: the model starts afresh on the 0.3 s before the speech, not on seconds of silence); single
starts come up to 64 ms later. webrtcvad spares no more (54 % of the windows reach Silero, by level
50 %) and costs more itself.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np
import webrtcvad
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState

from speech import sessions
from speech.audio import Float32, to_int16

# A threshold of 0.3 flags the end 4 to 10 ms later, 0.7 16 to 28 ms earlier (Silero alone,
# medians), with 15 and 28 false gaps in the 143 clips where 0.5 has 20. Three windows (96 ms) to
# start: 101 to 127 ms after the first audible sample (medians; 90 % within 212). No volume gate:
# none of the clips was missed, nor when played 20 dB lower, and Pipecat's default min_volume of
# 0.6 flags the start of such quiet speech 664 ms late instead of 149 (flite, 90th percentile).
DEFAULT_PARAMS = VADParams(confidence=0.5, start_secs=0.1, stop_secs=0.1, min_volume=0.0)

_SILENCE_BELOW_SPEECH_DB = 35.0
_LEVEL_DECAY_DB_PER_S = 6.0
# How long after an end of speech one window is enough to call it resumed.
_RESUME_SECS = 1.0
# Windows kept while the first stage says silence, and shown to Silero before the window that
# ends the silence, so that its recurrent state knows what came before.
_REPLAYED_WINDOWS = 10
# The line's own noise is the quietest window of the last 2 s, known after 0.25 s.
_GATE_WINDOWS = 64
_GATE_KNOWS = 8
_GATE_DB = 3.0


class _SharedSilero:
    """Silero's recurrent state for one call, on the session of all calls.

    Pipecat's ``SileroOnnxModel`` without its checks: 92 µs of the model and 10 around it, not 60.
    """

    def __init__(self) -> None:
        self._session = sessions.session("silero-vad")
        self._rate = np.array(0, np.int64)
        self.reset_states()

    def reset_states(self) -> None:
        """Forget what came before."""
        self._state = np.zeros((2, 1, 128), np.float32)
        self._input = np.zeros((1, 0), np.float32)

    def __call__(self, samples: Float32, rate_hz: int) -> float:
        """Confidence that a window (256 samples at 8 kHz, 512 at 16) holds speech."""
        size = samples.size
        context = size // 8
        if self._input.size != context + size:
            self._input = np.zeros((1, context + size), np.float32)
            self._rate = np.array(rate_hz, np.int64)
        self._input[0, :context] = self._input[0, -context:]
        self._input[0, context:] = samples
        feed = {"input": self._input, "state": self._state, "sr": self._rate}
        output, self._state = self._session.run(None, feed)
        return float(output[0, 0])


class _FirstStage(Protocol):
    def is_silence(self, samples: Float32, db: float, rate_hz: int) -> bool:
        """Whether a window, of level ``db``, holds nothing but the line's own noise."""
        ...


class _LevelGate:
    """Takes a window for silence within ``_GATE_DB`` of the quietest one of late."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_GATE_WINDOWS)

    def is_silence(self, samples: Float32, db: float, rate_hz: int) -> bool:
        self._recent.append(db)
        return len(self._recent) > _GATE_KNOWS and db < min(self._recent) + _GATE_DB


class _WebRtcGate:
    """Takes a window for silence in which webrtcvad, at its most lenient, hears no voice."""

    def __init__(self) -> None:
        self._vad = webrtcvad.Vad(0)

    def is_silence(self, samples: Float32, db: float, rate_hz: int) -> bool:
        pcm = to_int16(samples).tobytes()
        frame_bytes = rate_hz // 100 * 2
        return not any(
            self._vad.is_speech(pcm[at : at + frame_bytes], rate_hz)
            for at in range(0, len(pcm) - frame_bytes + 1, frame_bytes)
        )


FirstStage = Literal["level", "webrtc"]
_FIRST_STAGES: dict[FirstStage | None, Callable[[], _FirstStage | None]] = {
    "level": _LevelGate,
    "webrtc": _WebRtcGate,
    None: lambda: None,
}


class SharedSileroAnalyzer(SileroVADAnalyzer):
    """Silero VAD for one call, at 8 kHz (windows of 256 samples) or 16 kHz (512): 32 ms each.

    It runs where it is called: a window takes about 0.2 ms, less than a hop to a thread.

    After an end of speech, speech that comes back within 1 s is flagged at its first window
    (32 ms) instead of after ``start_secs``, so that a pause inside a sentence is taken back
    before anybody answers it.
    """

    def __init__(
        self,
        *,
        sample_rate: int | None = None,
        params: VADParams | None = None,
        silence_below_speech_db: float | None = _SILENCE_BELOW_SPEECH_DB,
        first_stage: FirstStage | None = "level",
    ) -> None:
        """Take the shared session; ``set_sample_rate`` (the pipeline calls it) comes next.

        Args:
            sample_rate: 8000 or 16000 Hz; None takes the pipeline's.
            params: thresholds; None takes ``DEFAULT_PARAMS``.
            silence_below_speech_db: a window this far below the caller's recent speech counts
                as silence, whatever Silero believes; None leaves it to Silero alone.
            first_stage: what spares Silero plain silence: "level" (the line's own noise, and 3 dB
                more), "webrtc" (webrtcvad, mode 0), or None.

        Raises:
            frontdesk.ModelFileError: if the model file is missing or altered.
        """
        # Not SileroVADAnalyzer's own: it would load the model again for every call.
        VADAnalyzer.__init__(self, sample_rate=sample_rate, params=params or DEFAULT_PARAMS)
        self._model: _SharedSilero = _SharedSilero()  # type: ignore[assignment]
        self._windows_since_reset = 0
        self._low_confidence_windows = 0
        self._below_db = silence_below_speech_db
        self._speech_db = -math.inf
        self._quiet_secs = math.inf
        self._first_stage = _FIRST_STAGES[first_stage]()
        self._skipped: deque[Float32] = deque(maxlen=_REPLAYED_WINDOWS)

    async def analyze_audio(self, buffer: bytes) -> VADState:
        """State after ``buffer`` (int16 mono), worked out here and now."""
        return self._run_analyzer(buffer)

    @property
    def is_pausing(self) -> bool:
        """Whether silence has begun after speech, too short so far to count as a pause."""
        return self._vad_state == VADState.STOPPING

    def voice_confidence(self, buffer: bytes) -> float:
        """Confidence in 0 to 1 that the window ``buffer`` is speech."""
        self._watch_for_resumption()
        samples = np.frombuffer(buffer, np.int16).astype(np.float32) * np.float32(1 / 32768)
        db = 10 * math.log10(float(np.dot(samples, samples)) / samples.size + 1e-12)
        if self._first_stage is not None and self._spared(samples, db):
            return 0.0
        confidence = self._silero(samples)
        if self._below_db is not None and self._far_below_speech(db, confidence):
            return 0.0
        return confidence

    def _silero(self, samples: Float32) -> float:
        confidence = self._model(samples, self.sample_rate)
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

    def _far_below_speech(self, db: float, confidence: float) -> bool:
        """Whether a window of this level is silence beside what the caller has said lately."""
        assert self._below_db is not None
        if self._quiet_secs > _RESUME_SECS:
            self._speech_db = -math.inf
        self._speech_db -= _LEVEL_DECAY_DB_PER_S * self._window_secs
        if confidence >= self._params.confidence:
            self._speech_db = max(self._speech_db, db)
        return db < self._speech_db - self._below_db

    def _spared(self, samples: Float32, db: float) -> bool:
        """Whether the first stage hears plain silence, so that Silero need not look."""
        assert self._first_stage is not None
        silent = self._first_stage.is_silence(samples, db, self.sample_rate)
        if self._vad_state == VADState.QUIET and silent:
            self._skipped.append(samples)
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
