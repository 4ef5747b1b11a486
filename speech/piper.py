"""English voice: Piper on the shared session, at telephone level, every phrase kept.

``piper-tts`` is GPL-3.0 and so an extra of its own; nothing of it is imported until a voice is
made.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort

from frontdesk import ModelFileError
from frontdesk.models import manifest, verified
from speech import sessions
from speech.audio import Float32, Int16, levels, resample, to_int16
from speech.phrased import CACHE_BYTES, Phrase, PhrasedVoice

if TYPE_CHECKING:
    from piper import PiperVoice
    from piper.config import SynthesisConfig

_TARGET_RMS = 0.1  # -20 dBFS over speech
_PEAK = 0.7  # -3.1 dBFS
_AUDIBLE = 300 / 32768
_SILENCE_RMS = 1e-5  # -100 dBFS
_LEAD_SECS = 0.02
_TAIL_SECS = 0.08
_FADE_SECS = 0.005
_FINISH = (_TARGET_RMS, _PEAK, _AUDIBLE, _LEAD_SECS, _TAIL_SECS, _FADE_SECS)


class Voice(PhrasedVoice):
    """The English voice. Measured on one thread: 85 ms of work for each second of speech.

    The first audible sample of a phrase comes within 20 ms, speech is about -20 dBFS RMS, peaks
    stay below -3 dBFS, and 80 ms follow the last audible sample.
    """

    def __init__(self, sample_rate_hz: int = 8000, cache_bytes: int = CACHE_BYTES) -> None:
        """Open the shared session. Audio is synthesised at 22,050 Hz and resampled whole.

        Raises:
            frontdesk.ModelFileError: if piper-tts or a model file is missing or altered.
        """
        self._piper, self._style = _load()
        model = manifest()["piper-joe"].sha256
        made_by = (model, version("piper-tts"), str(self._style), sample_rate_hz, _FINISH)
        super().__init__(repr(made_by).encode(), sample_rate_hz, cache_bytes)

    def warm(self) -> None:
        """Run the model once, so that a call's first words come as fast as its second."""
        self.synthesise(Phrase("One moment please, while I look that up."))

    def synthesise(self, phrase: Phrase) -> Int16:
        """``phrase`` at telephone level; none for no words.

        Raises:
            SpeechError: if the model fails.
        """
        style = replace(self._style, length_scale=phrase.slowness)
        with sessions.failing(f"voice failed on {phrase.words!r}"):
            rendered = self._piper.synthesize(phrase.words, style)
            chunks = [chunk.audio_float_array for chunk in rendered]
            if not chunks:
                return np.zeros(0, np.int16)
            audio = np.concatenate(chunks).astype(np.float32)
            audio = resample(audio, self._piper.config.sample_rate, self.sample_rate_hz)
            return to_int16(finish(audio, self.sample_rate_hz))

    def rest(self) -> None:
        """Run the model on next to nothing, and let it keep no more memory than that takes.

        Rendering a knowledge base takes about 200 MB.
        """
        options = ort.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        inputs = {
            "input": np.zeros((1, 1), np.int64),
            "input_lengths": np.ones(1, np.int64),
            "scales": np.array([0, 1, 0], np.float32),
        }
        with sessions.failing("voice failed"):
            self._piper.session.run(None, inputs, options)
        super().rest()


def finish(audio: Float32, sample_rate_hz: int) -> Float32:
    """``audio`` at telephone level, with at most 20 ms before the first audible sample (above
    300 of 32,768) and 80 ms after the last.

    The level is that of ``speech.audio.levels``; where it would lift a peak above -3 dBFS the
    peak decides.
    """
    loudest, rms = levels(audio, sample_rate_hz)
    if loudest <= _SILENCE_RMS:
        return audio[:0]
    audio = audio * np.float32(min(_TARGET_RMS / rms, _PEAK / float(np.abs(audio).max())))
    audible = np.flatnonzero(np.abs(audio) > _AUDIBLE)
    start = max(0, int(audible[0]) - round(_LEAD_SECS * sample_rate_hz))
    end = int(audible[-1]) + round(_TAIL_SECS * sample_rate_hz)
    audio = audio[start:end].copy()
    fade = min(round(_FADE_SECS * sample_rate_hz), audio.size)
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    audio[:fade] *= ramp
    audio[-fade:] *= ramp[::-1]
    return audio


def _load() -> tuple[PiperVoice, SynthesisConfig]:
    config_path = verified("piper-joe-config")
    session: ort.InferenceSession = sessions.session("piper-joe", arena=True)
    try:
        from piper import PiperVoice
        from piper.config import PiperConfig, SynthesisConfig
    except ImportError as error:
        raise ModelFileError("the voice needs the package piper-tts; run: make setup") from error
    # PiperVoice.load would make its own session, with a thread for every core.
    config = PiperConfig.from_dict(json.loads(config_path.read_text(encoding="utf-8")))
    # No random timbre or timing. The same words give the same samples, and are heard better:
    # 7.8 % word errors by our own recogniser over the telephone band on 15 facts, against 9.8 %
    # with the voice's own 0.667 and 0.8 (four renderings each).
    style = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
    return PiperVoice(session=session, config=config), style
