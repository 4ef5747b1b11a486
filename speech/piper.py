"""English voice: Piper on the shared session, at telephone level, every phrase kept.

``piper-tts`` is GPL-3.0 and so an extra of its own; nothing of it is imported until a voice is
made.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from frontdesk import ModelFileError, SpeechError, Spoken
from frontdesk.models import manifest, verified
from speech import sessions
from speech.audio import Float32, Int16, resample, to_int16
from speech.cache import AudioCache
from speech.phrases import phrases
from speech.reading import read_aloud

if TYPE_CHECKING:
    from piper import PiperVoice
    from piper.config import SynthesisConfig

CACHE_BYTES = 64 * 1024 * 1024

_TARGET_RMS = 0.1  # -20 dBFS over speech
_PEAK = 0.7  # -3.1 dBFS
_AUDIBLE = 300 / 32768
_LEAD_SECS = 0.02
_TAIL_SECS = 0.08
_FADE_SECS = 0.005
_SENTENCE_PAUSE_SECS = 0.2
_CLAUSE_PAUSE_SECS = 0.06
_FINISH = (_TARGET_RMS, _PEAK, _LEAD_SECS, _TAIL_SECS, _FADE_SECS)
_RUNTIME_ERRORS = (ort_errors.Fail, ort_errors.RuntimeException, ort_errors.InvalidArgument)


class Voice:
    """Text to speech for all calls; safe to call from several threads.

    Measured on one thread: 85 ms of work for each second of speech (RTF 0.085).
    """

    def __init__(self, sample_rate_hz: int = 8000, cache_bytes: int = CACHE_BYTES) -> None:
        """Open the shared session. Audio is synthesised at 22,050 Hz and resampled whole.

        Raises:
            frontdesk.ModelFileError: if piper-tts or a model file is missing or altered.
        """
        self.sample_rate_hz = sample_rate_hz
        self._piper, self._style = _load()
        self._cache = AudioCache(cache_bytes)
        made_by = (manifest()["piper-joe"].sha256, str(self._style), sample_rate_hz, _FINISH)
        self._identity = hashlib.sha256(repr(made_by).encode()).hexdigest()

    def warm(self) -> None:
        """Run the model once, so that a call's first words come as fast as its second."""
        self._synthesise("One moment please, while I look that up.")

    def render(self, spoken: Spoken) -> Int16:
        """``spoken`` as mono int16 samples at ``sample_rate_hz``; none for no words.

        The first audible sample comes within 20 ms, speech is about -20 dBFS RMS, peaks stay
        below -3 dBFS, and 80 ms follow the last audible sample. Read-only: calls share it.

        Raises:
            TypeError: for anything but a ``Spoken``.
            SpeechError: if the model fails.
        """
        pieces = list(self.render_phrases(spoken))
        if len(pieces) == 1:
            return pieces[0]
        audio = np.concatenate(pieces) if pieces else np.zeros(0, np.int16)
        audio.flags.writeable = False
        return audio

    def render_phrases(self, spoken: Spoken) -> Iterator[Int16]:
        """The pieces of ``render`` as each gets ready, the pauses between them included.

        Raises:
            TypeError: for anything but a ``Spoken``.
            SpeechError: if the model fails.
        """
        for piece, pause_secs in _with_pauses(spoken):
            yield self._phrase(piece, pause_secs)

    async def render_async(self, spoken: Spoken) -> Int16:
        """``render`` on a rendering thread."""
        return await sessions.run_rendering(self.render, spoken)

    async def phrases_async(self, spoken: Spoken) -> AsyncIterator[Int16]:
        """``render_phrases``, each piece on a rendering thread unless it is kept already."""
        for piece, pause_secs in _with_pauses(spoken):
            if piece in self._cache:
                yield self._phrase(piece, pause_secs)
            else:
                yield await sessions.run_rendering(self._phrase, piece, pause_secs)

    def is_ready(self, spoken: Spoken) -> bool:
        """Whether every phrase of ``spoken`` is kept."""
        return all(piece in self._cache for piece, _ in _with_pauses(spoken))

    def save(self, path: Path) -> None:
        """Write what is kept to ``path`` in one step, for ``load`` in a later process.

        Raises:
            OSError: if the file cannot be written.
        """
        kept = self._cache.items()
        arrays: dict[str, NDArray[Any]] = {f"a{number}": audio for number, (_, audio) in enumerate(kept)}
        words = np.array([key for key, _ in kept])
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            arrays |= {"identity": np.array(self._identity), "words": words}
            np.savez(file, **arrays)  # type: ignore[arg-type]  # its allow_pickle is no array
        os.replace(file.name, path)

    def load(self, path: Path) -> int:
        """Take up what ``save`` wrote; how many phrases. 0 for no file, or one of another voice.

        The keys are the words as they are read aloud, so a change of reading renders anew.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                if str(stored["identity"]) != self._identity:
                    return 0
                for number, key in enumerate(stored["words"]):
                    self._cache.put(str(key), stored[f"a{number}"])
                return len(stored["words"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return 0  # missing or cut short: it is only a cache

    def prepare(self, spokens: Iterable[Spoken]) -> None:
        """Render and keep sentences that are sure to be said: greeting, refusal, goodbye."""
        for spoken in spokens:
            self.render(spoken)

    async def prepare_async(self, spokens: Iterable[Spoken]) -> None:
        """``prepare`` on a rendering thread, for speculative work during a call."""
        await sessions.run_rendering(self.prepare, list(spokens))

    def _phrase(self, piece: str, pause_secs: float) -> Int16:
        audio = self._cache.get(piece, lambda: self._synthesise(piece))
        if not pause_secs:
            return audio
        return np.pad(audio, (0, round(pause_secs * self.sample_rate_hz)))

    def _synthesise(self, words: str) -> Int16:
        try:
            rendered = self._piper.synthesize(words, self._style)
            chunks = [chunk.audio_float_array for chunk in rendered]
        except _RUNTIME_ERRORS as error:
            raise SpeechError(f"voice failed on {words!r}: {error}") from error
        if not chunks:
            return np.zeros(0, np.int16)
        audio = np.concatenate(chunks).astype(np.float32)
        audio = resample(audio, self._piper.config.sample_rate, self.sample_rate_hz)
        return to_int16(finish(audio, self.sample_rate_hz))


def finish(audio: Float32, sample_rate_hz: int) -> Float32:
    """``audio`` at telephone level, with at most 20 ms before the first audible sample (above
    300 of 32,768) and 80 ms after the last.

    The level is the RMS over 20 ms windows within 20 dB of the loudest, so that pauses don't
    count; where it would lift a peak above -3 dBFS the peak decides.
    """
    window = sample_rate_hz // 50
    whole = audio[: audio.size // window * window].reshape(-1, window)
    energy = np.square(whole).mean(axis=1)
    loudest = float(energy.max(initial=0.0))
    if loudest <= 1e-10:
        return audio[:0]
    rms = float(np.sqrt(energy[energy >= loudest * 0.01].mean()))
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


def _with_pauses(spoken: Spoken) -> Iterator[tuple[str, float]]:
    """Each phrase with the pause after it; none after the last."""
    pieces = phrases(read_aloud(spoken))
    for index, piece in enumerate(pieces):
        if index == len(pieces) - 1:
            yield piece, 0.0
        else:
            ends = piece.endswith((".", "!", "?"))
            yield piece, _SENTENCE_PAUSE_SECS if ends else _CLAUSE_PAUSE_SECS


def _load() -> tuple[PiperVoice, SynthesisConfig]:
    config_path = verified("piper-joe-config")
    session: ort.InferenceSession = sessions.session("piper-joe")
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
