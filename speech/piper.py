"""English voice: Piper on the shared session, at telephone level, every phrase kept.

``piper-tts`` is GPL-3.0 and so an extra of its own; nothing of it is imported until a voice is
made.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from frontdesk import ModelFileError, Spoken
from frontdesk.models import manifest, verified
from speech import sessions
from speech.audio import Float32, Int16, levels, resample, to_int16
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
_SILENCE_RMS = 1e-5  # -100 dBFS
_LEAD_SECS = 0.02
_TAIL_SECS = 0.08
_FADE_SECS = 0.005
_SEAL_BYTES = hashlib.sha256().digest_size
_SENTENCE_PAUSE_SECS = 0.2
_CLAUSE_PAUSE_SECS = 0.06
_FINISH = (_TARGET_RMS, _PEAK, _AUDIBLE, _LEAD_SECS, _TAIL_SECS, _FADE_SECS)


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
        model = manifest()["piper-joe"].sha256
        made_by = (model, version("piper-tts"), str(self._style), sample_rate_hz, _FINISH)
        self._identity = repr(made_by).encode()

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
            yield self._paused(self._phrase(piece), pause_secs)

    async def phrases_async(self, spoken: Spoken) -> AsyncIterator[Int16]:
        """``render_phrases``, each piece on a rendering thread unless it is kept already."""
        for piece, pause_secs in _with_pauses(spoken):
            audio = self._cache.held(piece)
            if audio is None:
                audio = await sessions.run_rendering(self._phrase, piece)
            yield self._paused(audio, pause_secs)

    def is_ready(self, spoken: Spoken) -> bool:
        """Whether every phrase of ``spoken`` is kept."""
        return all(piece in self._cache for piece, _ in _with_pauses(spoken))

    def save(self, path: Path) -> None:
        """Write what is kept to ``path`` in one step, for ``load`` in a later process.

        Rendering that much takes about 200 MB, which is given back first.

        Raises:
            OSError: if the file cannot be written.
            SpeechError: if the model fails.
        """
        self._give_memory_back()
        kept = self._cache.items()
        arrays: dict[str, NDArray[Any]] = {f"a{at}": audio for at, (_, audio) in enumerate(kept)}
        packed = BytesIO()
        arrays["words"] = np.array([key for key, _ in kept], np.str_)
        np.savez(packed, **arrays)  # type: ignore[arg-type]  # its allow_pickle is no array
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            whole = Path(folder, path.name)
            whole.write_bytes(self._seal(packed.getvalue()) + packed.getvalue())
            os.replace(whole, path)

    def load(self, path: Path) -> int:
        """Take up what ``save`` wrote; how many phrases. 0 for no file, one cut short or altered,
        or one of another voice: it is only a cache.

        The keys are the words as they are read aloud, so a change of reading renders anew.
        """
        kept = self._read(path)
        for words, audio in kept:
            self._cache.put(words, audio)
        sessions.release_memory()
        return len(kept)

    def _read(self, path: Path) -> list[tuple[str, Int16]]:
        try:
            data = path.read_bytes()
        except OSError:
            return []
        seal, packed = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
        if seal != self._seal(packed):
            return []
        with np.load(BytesIO(packed), allow_pickle=False) as stored:
            return [(words, stored[f"a{at}"]) for at, words in enumerate(stored["words"].tolist())]

    def _seal(self, packed: bytes) -> bytes:
        """What stands before ``packed``: only the same voice makes the same of the same bytes."""
        return hashlib.sha256(self._identity + packed).digest()

    def _give_memory_back(self) -> None:
        """Run the model on next to nothing, and let it keep no more memory than that takes."""
        options = ort.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        inputs = {
            "input": np.zeros((1, 1), np.int64),
            "input_lengths": np.ones(1, np.int64),
            "scales": np.array([0, 1, 0], np.float32),
        }
        with sessions.failing("voice failed"):
            self._piper.session.run(None, inputs, options)
        sessions.release_memory()

    def _phrase(self, piece: str) -> Int16:
        return self._cache.get(piece, lambda: self._synthesise(piece))

    def _paused(self, audio: Int16, pause_secs: float) -> Int16:
        return np.pad(audio, (0, round(pause_secs * self.sample_rate_hz))) if pause_secs else audio

    def _synthesise(self, words: str) -> Int16:
        with sessions.failing(f"voice failed on {words!r}"):
            rendered = self._piper.synthesize(words, self._style)
            chunks = [chunk.audio_float_array for chunk in rendered]
            if not chunks:
                return np.zeros(0, np.int16)
            audio = np.concatenate(chunks).astype(np.float32)
            audio = resample(audio, self._piper.config.sample_rate, self.sample_rate_hz)
            return to_int16(finish(audio, self.sample_rate_hz))


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
