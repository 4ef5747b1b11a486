"""Recogniser of many languages, and the second opinion: Whisper on CTranslate2.

Method: Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision" (arXiv
2212.04356); the limits on silence and repetition are those of its section 4.5. Features, tokens
and prompt are ``faster-whisper``'s, the model runs on ``ctranslate2`` (both MIT); they are an
extra of their own, and nothing of them is imported until a recogniser is made.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from frontdesk import ConfigError, ModelFileError
from speech import sessions
from speech.audio import Float32, levels
from speech.languages import language_of
from speech.moonshine import tidy
from speech.recogniser import MAX_GAIN, SAMPLE_RATE_HZ, TARGET_RMS, is_audible, last_part
from speech.types import Hint, Utterance
from speech.whisper_files import files

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.tokenizer import Tokenizer

_FAILED = -1.0
_REPETITIVE = 2.4
_BEAM = 5
_LAST_LATIN = 0x24F
# Byte-level tokens: one of English is 3.4 characters, one of Gujarati 0.4.
_TOKENS_PER_SECOND = {"en": 8}
_MOST_TOKENS_PER_SECOND = 40
# What Whisper makes of noise, learnt from subtitles: never a caller's whole turn.
_ARTEFACTS = frozenset({"thanks for watching", "thank you for watching", "subtitles"})
# What steers the script. Of six Hindi questions by eSpeak NG over the telephone two came out in
# Devanagari without it, six with it. (Words of the documents in its place are heard where nobody
# said them.)
_GREETINGS = {
    "hi": "नमस्ते।", "gu": "નમસ્તે.", "te": "నమస్కారం.", "bn": "নমস্কার।", "ta": "வணக்கம்.",
}  # fmt: skip
# Shown to the model as if it had been said before, which it then goes on like. Single digits of
# real telephone speech, tiny.en, on 50 others than those it was chosen on: 33 right without, 44
# with it. (Ten digits counted up are gone on with: "2, 3, 2, 3, 4".)
_PROMPTS = {Hint.DIGITS: "7."}


class Whisper:
    """Speech to text for one piece of audio at a time; safe to call from several threads.

    Whisper always looks at 30 s, so a word costs as much as a sentence.
    """

    def __init__(
        self,
        model: str = "whisper-base",
        *,
        languages: Sequence[str] = ("en",),
        hotwords: Iterable[str] = (),
        threads: int = 2,
    ) -> None:
        """Load ``model``: "whisper-tiny-en", "whisper-base" or a folder of a CTranslate2 Whisper.

        ``languages`` (codes such as "hi") are those that audio may be in; of several, the model
        tells which. ``hotwords`` are words to lean towards, the most important first: about 200
        tokens of them fit. A model is loaded once a process, whatever is asked of it.

        Raises:
            ConfigError: if the model does not know a language, or none is given.
            ModelFileError: if the extra, or a model file, is missing or altered.
        """
        self._model = _load(model, threads)
        self._tokenizers = {code: _tokenizer(self._model, model, code) for code in languages}
        if not self._tokenizers:
            raise ConfigError("a recogniser needs a language; set recogniser.languages")
        self._hotwords = tuple(hotwords)

    def warm(self) -> None:
        """Run the model once, so that a call's first turn is as fast as its second."""
        hiss = np.random.default_rng(0).normal(0, 0.05, SAMPLE_RATE_HZ)
        self._decode(hiss.astype(np.float32), Hint.NONE, self._hotwords)

    def transcribe(
        self, audio: Float32, *, hint: Hint = Hint.NONE, hotwords: Iterable[str] | None = None
    ) -> Utterance:
        """What was said in ``audio``: mono float32 at 16 kHz, of which the last 30 s are heard.

        ``hotwords`` take the place of those of the recogniser. The text is '' for audio under
        0.1 s or with no 20 ms window above -60 dBFS, and where the model itself takes it for no
        speech or falls into repetition.

        Raises:
            SpeechError: if the audio is not one-dimensional float32, or the model fails.
        """
        start = time.perf_counter()
        audio = last_part(audio)
        audio_ms = audio.size * 1000 / SAMPLE_RATE_HZ
        text, confidence, language = "", -math.inf, next(iter(self._tokenizers))
        loudest, speech = levels(audio, SAMPLE_RATE_HZ)
        if is_audible(audio_ms, loudest):
            audio = audio * np.float32(min(TARGET_RMS / speech, MAX_GAIN))
            words = self._hotwords if hotwords is None else tuple(hotwords)
            with sessions.failing("recogniser failed"):
                text, confidence, language = self._decode(audio, hint, words)
        took_ms = (time.perf_counter() - start) * 1000
        return Utterance(text, audio_ms, took_ms, confidence if text else -math.inf, language)

    def _decode(
        self, audio: Float32, hint: Hint, hotwords: Sequence[str]
    ) -> tuple[str, float, str]:
        """Text, mean log probability of its tokens, and language."""
        features = self._model.feature_extractor(audio)
        frames = self._model.feature_extractor.nb_max_frames
        features = features[:, :frames]
        features = np.pad(features, ((0, 0), (0, frames - features.shape[1])))
        encoded = self._model.encode(features)
        language = self._language(encoded)
        tokenizer = self._tokenizers[language]
        prompt = self._prompt(language, hint, hotwords)
        rate = _TOKENS_PER_SECOND.get(language, _MOST_TOKENS_PER_SECOND)
        room = int(audio.size / SAMPLE_RATE_HZ * rate) + 8
        found: Any = self._model.model.generate(
            encoded,
            [prompt],
            beam_size=_BEAM,
            max_length=min(len(prompt) + room, self._model.max_length),
            return_scores=True,
            suppress_tokens=list(tokenizer.non_speech_tokens),
        )[0]
        tokens = found.sequences_ids[0]
        # The score is divided by the length without the end token, which it counts.
        confidence = found.scores[0] * len(tokens) / (len(tokens) + 1)
        text = tidy(tokenizer.decode(tokens))
        if is_invented(text, confidence) or is_in_another_script(text, language):
            text = ""
        return text, confidence, language

    def _language(self, encoded: Any) -> str:
        """The most probable of the languages that audio may be in."""
        if len(self._tokenizers) == 1:
            return next(iter(self._tokenizers))
        ranked = self._model.model.detect_language(encoded)[0]
        probability = {token.strip("<|>"): value for token, value in ranked}
        return max(self._tokenizers, key=lambda code: probability.get(code, 0.0))

    def _prompt(self, language: str, hint: Hint, hotwords: Sequence[str]) -> list[int]:
        """What the model takes for said before: script, words to lean towards, what was asked."""
        said = (_GREETINGS.get(language), ", ".join(hotwords), _PROMPTS.get(hint))
        before = ". ".join(part for part in said if part)
        prompt: list[int] = self._model.get_prompt(
            self._tokenizers[language], [], without_timestamps=True, hotwords=before or None
        )
        return prompt


def is_in_another_script(text: str, language: str) -> bool:
    """Whether ``text`` holds letters that ``language`` is not written in; Latin ones always may.

    Whisper base hears some Telugu and Bengali as Thai. Only for English and the languages of
    :mod:`speech.languages`.
    """
    if language != "en" and language not in _GREETINGS:
        return False
    letters = [c for c in text if c.isalpha() and ord(c) > _LAST_LATIN]
    return any(language_of(c, (language, "en")) != language or language == "en" for c in letters)


def is_invented(text: str, confidence: float) -> bool:
    """Whether Whisper's ``text`` is of the kind that it makes of noise, silence and what it does
    not understand: so unlikely or so repetitive that it counts as failed (section 4.5), or what
    it has learnt to put under silence.

    ``confidence`` is the mean log probability of the tokens. The probability of no speech adds
    nothing: Whisper only believes it where the text is that unlikely.
    """
    if confidence < _FAILED:
        return True
    raw = text.encode()
    if raw and len(raw) / len(zlib.compress(raw)) > _REPETITIVE:
        return True
    return " ".join("".join(c if c.isalnum() else " " for c in text).split()).lower() in _ARTEFACTS


@cache
def _load(model: str, threads: int) -> WhisperModel:
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise ModelFileError("Whisper needs the whisper extra; run: make setup") from None
    if Path(model).is_dir():
        given: dict[str, Any] = {}
    else:
        given = {"files": files(model)}
    with sessions.failing(f"cannot load the Whisper model {model!r}"):
        return WhisperModel(model, device="cpu", compute_type="int8", cpu_threads=threads, **given)


def _tokenizer(whisper: WhisperModel, model: str, language: str) -> Tokenizer:
    from faster_whisper.tokenizer import Tokenizer

    known = whisper.supported_languages
    if language not in known:
        raise ConfigError(
            f"{model!r} does not know the language {language!r}; it knows {', '.join(known)}"
        )
    many = whisper.model.is_multilingual
    return Tokenizer(whisper.hf_tokenizer, many, task="transcribe", language=language)
