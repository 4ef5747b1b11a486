"""Voice for Indic languages, and the fallback: eSpeak NG, through its C interface.

eSpeak NG 1.52 comes with ``espeakng-loader``; it is GPL-3.0 and so an extra of its own, and
nothing of it is loaded until a voice is made. The calls are those of its ``speak_lib.h``.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from frontdesk import ConfigError, ModelFileError, SpeechError
from speech import sessions
from speech.audio import Int16, resample, to_float32, to_int16
from speech.languages import language_of
from speech.phrased import CACHE_BYTES, Phrase, PhrasedVoice
from speech.piper import finish

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: all audio has come when a call returns
_DONT_EXIT = 0x8000
_CHARS_UTF8 = 1
_POS_CHARACTER = 1
_RATE = 1  # espeakRATE, words a minute
_OK = 0
_VOICES = {"en": "en-us"}
_WORDS_PER_MINUTE = 175  # its own
_GO_ON = 0

_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


class EspeakVoice(PhrasedVoice):
    """Speaks each phrase in that of its languages whose script it is written in.

    Measured on one thread: 1.2 ms of work for each second of speech (RTF 0.0012), in six
    languages alike.
    """

    def __init__(
        self,
        languages: Sequence[str] = ("en",),
        sample_rate_hz: int = 8000,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Start the library. ``languages`` are codes such as "hi"; the first is the usual one.

        Raises:
            ConfigError: if eSpeak NG does not speak a language.
            ModelFileError: if the extra is missing or does not start.
        """
        if not languages:
            raise ConfigError("a voice needs a language; set voice.languages")
        self._library = _library()
        for language in languages:
            self._library.choose(language)
        self._languages = tuple(languages)
        self.language = languages[0]
        made_by = ("espeak", version("espeakng-loader"), _WORDS_PER_MINUTE, languages)
        super().__init__(repr((*made_by, sample_rate_hz)).encode(), sample_rate_hz, cache_bytes)

    def synthesise(self, phrase: Phrase) -> Int16:
        """``phrase`` at telephone level; none for no words.

        Raises:
            SpeechError: if eSpeak NG fails.
        """
        if not any(c.isalnum() for c in phrase.words):
            return np.zeros(0, np.int16)
        language = language_of(phrase.words, self._languages)
        rate = round(_WORDS_PER_MINUTE / phrase.slowness)
        with sessions.failing(f"voice failed on {phrase.words!r}"):
            samples = to_float32(self._library.speak(phrase.words, language, rate))
            audio = resample(samples, self._library.rate_hz, self.sample_rate_hz)
            return to_int16(finish(audio, self.sample_rate_hz))


class _Library:
    """The library of the process. It holds one voice and one text at a time, hence the lock."""

    def __init__(self, path: str, data: str) -> None:
        self._lock = threading.Lock()
        self._c = ctypes.CDLL(path)
        self._heard: list[bytes] = []
        self._callback = _Callback(self._take)  # kept: the library does not hold on to it
        self.rate_hz = self._c.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), _DONT_EXIT)
        if self.rate_hz <= 0:
            raise ModelFileError("eSpeak NG does not start; run: make setup FORCE=1")
        self._c.espeak_SetSynthCallback(self._callback)
        self._c.espeak_Synth.argtypes = [
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int, ctypes.c_uint,
            ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p,
        ]  # fmt: skip

    def choose(self, language: str) -> None:
        """Speak ``language`` from now on.

        Raises:
            ConfigError: if there is no voice for it.
        """
        with self._lock:
            self._choose(language)

    def speak(self, text: str, language: str, words_per_minute: int) -> Int16:
        """``text`` as samples at ``rate_hz``.

        Raises:
            SpeechError: if the library refuses.
        """
        data = text.replace("\0", " ").encode() + b"\0"
        with self._lock:
            self._choose(language)
            self._c.espeak_SetParameter(_RATE, words_per_minute, 0)
            self._heard.clear()
            status = self._c.espeak_Synth(
                data, len(data), 0, _POS_CHARACTER, 0, _CHARS_UTF8, None, None
            )
            raw = b"".join(self._heard)
            self._heard.clear()
        if status != _OK:
            raise SpeechError(f"eSpeak NG refused a text (status {status})")
        return np.frombuffer(raw, np.int16)

    def _choose(self, language: str) -> None:
        name = _VOICES.get(language, language)
        if self._c.espeak_SetVoiceByName(name.encode()) != _OK:
            raise ConfigError(f"eSpeak NG does not speak {language!r}; see voice.languages")

    def _take(self, samples: Any, count: int, _events: Any) -> int:
        if samples and count > 0:
            self._heard.append(ctypes.string_at(samples, 2 * count))
        return _GO_ON


@cache
def _library() -> _Library:
    try:
        import espeakng_loader
    except ImportError:
        raise ModelFileError("this voice needs the espeak extra; run: make setup") from None
    path, data = espeakng_loader.get_library_path(), espeakng_loader.get_data_path()
    try:
        return _Library(path, data)
    except OSError as error:
        raise ModelFileError(
            f"eSpeak NG does not load ({error}); run: make setup FORCE=1"
        ) from error
