"""The voice of all calls by its name, in one language or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from frontdesk import ConfigError, Spoken
from speech.audio import Int16
from speech.languages import language_of
from speech.phrased import CACHE_BYTES, Phrase, PhrasedVoice
from speech.piper import Voice

ENGINES = ("piper", "espeak")

_TELEPHONE_HZ = 8000


class Voices(PhrasedVoice):
    """One voice a language: each phrase is spoken by that of the script it is written in."""

    def __init__(self, voices: Mapping[str, PhrasedVoice], cache_bytes: int) -> None:
        """``voices`` by language, the usual one first, all at one rate.

        What they render is kept here, so theirs need keep nothing.
        """
        usual = next(iter(voices))
        self._voices = dict(voices)
        self.language = usual
        identity = repr([(code, voice.identity) for code, voice in voices.items()]).encode()
        super().__init__(identity, voices[usual].sample_rate_hz, cache_bytes)

    def synthesise(self, phrase: Phrase) -> Int16:
        """``phrase`` as its language's voice says it.

        Raises:
            SpeechError: if that voice fails.
        """
        return self._voices[language_of(phrase.words, tuple(self._voices))].synthesise(phrase)

    def rest(self) -> None:
        """Give back the memory that rendering took, each voice its own."""
        for voice in {id(voice): voice for voice in self._voices.values()}.values():
            voice.rest()


class SpokenElsewhere(PhrasedVoice):
    """Stands where a service speaks: all is ready, and nothing is rendered here."""

    def __init__(self) -> None:
        super().__init__(b"", _TELEPHONE_HZ, cache_bytes=0)

    def is_ready(self, spoken: Spoken) -> bool:
        """Always: the service makes it."""
        return True

    def prepare(self, spoken: Spoken) -> int:
        """Nothing, which takes no bytes."""
        return 0

    def synthesise(self, phrase: Phrase) -> Int16:
        """No samples."""
        return np.zeros(0, np.int16)


def voice_for(
    engine: str = "piper",
    languages: Sequence[str] = ("en",),
    sample_rate_hz: int = 8000,
    cache_bytes: int = CACHE_BYTES,
) -> PhrasedVoice:
    """The voice of ``engine``, "piper" or "espeak", for ``languages``, the usual one first.

    Piper speaks English; the other languages beside it are eSpeak NG's.

    Raises:
        ConfigError: if there is no such engine, or it does not speak a language.
        ModelFileError: if its extra or a model file is missing or altered.
    """
    if engine not in ENGINES:
        raise ConfigError(f"no voice {engine!r}: {', '.join(ENGINES)}, or package.module:Class")
    if engine == "piper" and tuple(languages) == ("en",):
        return Voice(sample_rate_hz, cache_bytes)
    # Imported here: the extra of a voice that is not used need not be there.
    from speech.espeak import EspeakVoice

    if engine == "espeak":
        return EspeakVoice(languages, sample_rate_hz, cache_bytes)
    if "en" not in languages:
        raise ConfigError('piper speaks English only; set voice.engine = "espeak"')
    others = [code for code in languages if code != "en"]
    espeak = EspeakVoice(others, sample_rate_hz, cache_bytes=0)
    piper = Voice(sample_rate_hz, cache_bytes=0)
    return Voices({code: piper if code == "en" else espeak for code in languages}, cache_bytes)
