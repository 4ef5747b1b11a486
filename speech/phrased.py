"""A voice for all calls, whatever synthesises: phrase by phrase, each made once and kept.

A sentence that is kept is spoken whole; one that must be made first is cut, so that its first
part is heard while the rest is made (:mod:`speech.phrases`).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from frontdesk import Spoken
from speech import sessions
from speech.audio import Int16
from speech.cache import AudioCache
from speech.kept import Kept
from speech.phrases import phrases
from speech.reading import read_aloud
from speech.reading.slowly import slowed

CACHE_BYTES = 64 * 1024 * 1024
"""Rendered speech in memory: 140 minutes for a telephone."""

_TELEPHONE_HZ = 8000
_SENTENCE_PAUSE_SECS = 0.2
_CLAUSE_PAUSE_SECS = 0.06
_ENDS = (".", "!", "?", "।")
_SLOW = 1.4  # a quarter longer, as Piper takes it


class Phrase(NamedTuple):
    """Words in the form that is read aloud, spoken ``slowness`` times as long as usual."""

    words: str
    slowness: float = 1.0

    @property
    def key(self) -> str:
        """What it is kept under."""
        return self.words if self.slowness == 1 else f"{self.words} (x {self.slowness:.2f})"


class PhrasedVoice(ABC):
    """Text to speech for all calls; safe to call from several threads.

    A subclass renders one phrase; ``identity`` says what makes the same samples of the same
    words, so that nothing is taken up that another voice or another version made.
    """

    language = "en"

    def __init__(self, identity: bytes, sample_rate_hz: int, cache_bytes: int) -> None:
        """Keep up to ``cache_bytes`` of rendered speech in memory."""
        self.identity = identity
        self.sample_rate_hz = sample_rate_hz
        self._cache = AudioCache(cache_bytes, companded=sample_rate_hz == _TELEPHONE_HZ)
        self._respelled: Mapping[str, Phrase] = {}

    @abstractmethod
    def synthesise(self, phrase: Phrase) -> Int16:
        """``phrase`` as mono int16 samples at ``sample_rate_hz``; none for no words.

        Raises:
            SpeechError: if the voice fails.
        """

    def keep_in(self, folder: Path, max_bytes: int) -> None:
        """Keep what is rendered in ``folder`` too, and take from there what is not in memory."""
        self._cache.disk = Kept(folder, self.identity, max_bytes)

    def respell(self, sentences: Mapping[str, Phrase]) -> None:
        """Say these sentences, in the form that is read aloud, as what they map to from now on."""
        self._respelled = dict(sentences)

    def render(self, spoken: Spoken) -> Int16:
        """``spoken`` as mono int16 samples at ``sample_rate_hz``; none for no words.

        Slow words take longer, and pause where a caller writes. Read-only: calls share it.

        Raises:
            TypeError: for anything but a ``Spoken``.
            SpeechError: if the voice fails.
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
            SpeechError: if the voice fails.
        """
        for phrase, pause_secs in _with_pauses(self._phrases(spoken)):
            yield self._paused(self._made(phrase), pause_secs)

    async def phrases_async(self, spoken: Spoken) -> AsyncIterator[Int16]:
        """``render_phrases``, each piece on another thread unless it is in memory already."""
        for phrase, pause_secs in _with_pauses(self._phrases(spoken)):
            audio = self._cache.held(phrase.key)
            if audio is None and phrase.key in self._cache:
                # Not on a rendering thread: reading must not wait behind what others render.
                audio = await asyncio.to_thread(self._cache.stored, phrase.key)
            if audio is None:
                audio = await sessions.run_rendering(self._made, phrase)
            yield self._paused(audio, pause_secs)

    def is_ready(self, spoken: Spoken) -> bool:
        """Whether every phrase of ``spoken`` is kept, in memory or on disk."""
        return all(phrase.key in self._cache for phrase in self._phrases(spoken))

    def prepare(self, spoken: Spoken) -> int:
        """Render the sentences of ``spoken`` that are not kept; the bytes that all of them take.

        Nobody who speaks waits for it: a call that wants the same sentence now makes it itself.

        Raises:
            SpeechError: if the voice fails.
        """
        taken = 0
        for sentence in self._sentences(spoken):
            if sentence.key not in self._cache:
                self._cache.put(sentence.key, self.synthesise(sentence))
            taken += self._cache.size_of(sentence.key)
        return taken

    def rest(self) -> None:
        """Give back the memory that rendering took, as far as the voice can."""
        sessions.release_memory()

    def _sentences(self, spoken: Spoken) -> list[Phrase]:
        """The sentences of ``spoken`` as they are said."""
        said = [self._said(sentence) for sentence in sentences(spoken)]
        if not spoken.slow:
            return said
        return [Phrase(slowed(one.words), max(_SLOW, one.slowness)) for one in said]

    def _said(self, sentence: str) -> Phrase:
        return self._respelled.get(sentence, Phrase(sentence))

    def _phrases(self, spoken: Spoken) -> list[Phrase]:
        """What is rendered one after the other."""
        said = self._sentences(spoken)
        return [
            phrase
            for number, sentence in enumerate(said)
            for phrase in self._cut(sentence, is_first=number == 0)
        ]

    def _cut(self, sentence: Phrase, *, is_first: bool) -> list[Phrase]:
        if sentence.key in self._cache:
            return [sentence]
        # "What I do have is this: On Saturday the clinic …": both parts are kept, not the whole.
        opening, _, rest = sentence.words.partition(": ")
        known = self._said(rest)
        if rest and known.key in self._cache:
            return [Phrase(f"{opening}:", sentence.slowness), known]
        if not is_first:
            return [sentence]
        return [Phrase(words, sentence.slowness) for words in phrases(sentence.words)]

    def _made(self, phrase: Phrase) -> Int16:
        return self._cache.get(phrase.key, lambda: self.synthesise(phrase))

    def _paused(self, audio: Int16, pause_secs: float) -> Int16:
        if not pause_secs:
            return audio
        paused = np.pad(audio, (0, round(pause_secs * self.sample_rate_hz)))
        paused.flags.writeable = False
        return paused


def sentences(spoken: Spoken) -> list[str]:
    """The sentences of ``spoken`` in the form that is read aloud, each whole.

    Raises:
        TypeError: for anything but a ``Spoken``.
    """
    found: list[str] = []
    for piece in phrases(read_aloud(spoken)):
        if found and not found[-1].endswith(_ENDS):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


def _with_pauses(said: list[Phrase]) -> Iterator[tuple[Phrase, float]]:
    """Each phrase with the pause after it; none after the last."""
    for phrase in said[:-1]:
        yield phrase, _SENTENCE_PAUSE_SECS if phrase.words.endswith(_ENDS) else _CLAUSE_PAUSE_SECS
    for phrase in said[-1:]:
        yield phrase, 0.0
