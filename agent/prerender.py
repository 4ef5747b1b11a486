"""Speech that is made before it is asked for.

What the agent says by itself first, in its order of need; then every sentence of the documents
that may be quoted. A sentence that is kept costs a call nothing; one that had to be rendered
during a call came 0.3 s later.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from loguru import logger

from agent import respelled
from agent.handover_words import sentences
from agent.knowledge import EVERY_S
from agent.progress import Progress
from agent.session import FIXED_SENTENCES
from agent.settings import Settings
from agent.speech_settings import speaking_of
from frontdesk import SpeechError, Spoken
from rag import Index, store
from rag.choose import spoken_form
from rag.conversation import SAYINGS as EVERYDAY
from rag.days import WEEKDAYS
from rag.guard import SAYINGS as GUARDED
from rag.guard import nothing_asked
from rag.judge import OTHER_DAY, in_parts
from rag.parts import OFFER
from rag.speakable import not_for_callers
from speech.phrased import PhrasedVoice

_BACKGROUND_NICENESS = 10
_FOLDER = "speech"
_REST_EVERY = 64
_ROOM = 0.85  # above it, what is rendered next would push out what was first


@dataclass(frozen=True, slots=True)
class Prepared:
    """How many sentences are ready, and how many of them were rendered now.

    ``failed`` are the voice's errors, one for each sentence that it could not say.
    """

    ready: int
    rendered: int
    failed: tuple[str, ...] = ()
    is_full: bool = False


def keep(voice: PhrasedVoice, settings: Settings) -> None:
    """Have ``voice`` keep what it renders beside the index of the knowledge base, and say what
    is not understood as it is read in the way that is (:mod:`agent.respelled`).
    """
    folder = store.artefact_path(settings.kb).with_name(_FOLDER)
    voice.keep_in(folder, settings.voice.disk_mb * 1_000_000)
    voice.respell(respelled.load(settings.kb, voice.identity))


def own_words(settings: Settings, refusal: str) -> tuple[Spoken, ...]:
    """What the agent says whatever the documents are, the surest first."""
    days = [day.title() for day in WEEKDAYS]
    said = (
        settings.records.announced(Spoken(settings.voice.greeting)).text,
        refusal,
        *sentences(settings.handover.rules()),
        *(words.text for words in FIXED_SENTENCES),
        *GUARDED.values(),
        nothing_asked("1").say.text,
        *EVERYDAY.values(),
        OFFER,
        *(OTHER_DAY.format(day) for day in days),
    )
    return tuple(dict.fromkeys(Spoken(words) for words in said if words))


def quotable(index: Index, settings: Settings) -> Iterator[Spoken]:
    """The first ``voice.prerender`` sentences, as they would be said; those that it can say."""
    for sentence in index.sentences[: settings.voice.prerender]:
        if index.kb.passages[sentence.passage].language not in settings.voice.languages:
            continue
        if not not_for_callers(sentence.text):
            yield from in_parts([spoken_form(sentence.text)])


def prepare(
    voice: PhrasedVoice,
    words: Iterable[Spoken],
    *,
    most_bytes: int | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    is_over: Callable[[], bool] = lambda: False,
) -> Prepared:
    """Render what of ``words`` is not kept, until ``is_over`` or ``most_bytes`` are taken.

    ``progress`` is called with how many are done. A voice that fails here fails again, and is
    reported, when it is asked to speak.
    """

    def prepared(one: Spoken) -> tuple[bool, int] | str:
        try:
            return not voice.is_ready(one), voice.prepare(one)
        except SpeechError as error:
            return str(error)

    ready, rendered, taken = 0, 0, 0
    failed: list[str] = []
    pool = ThreadPoolExecutor(threads)
    try:
        for one in pool.map(prepared, words) if threads > 1 else map(prepared, words):
            if isinstance(one, str):
                failed.append(one)
            else:
                ready, rendered, taken = ready + 1, rendered + one[0], taken + one[1]
            progress(ready + len(failed))
            if rendered and not ready % _REST_EVERY:
                voice.rest()
            is_full = most_bytes is not None and taken >= _ROOM * most_bytes
            if is_full or is_over():
                return Prepared(ready, rendered, tuple(failed), is_full)
    finally:
        pool.shutdown(cancel_futures=True)
    return Prepared(ready, rendered, tuple(failed))


def prepare_all(settings: Settings, index: Index, refusal: str, progress: Progress) -> Prepared:
    """Render all that may be quoted of ``index``, on every core, with what the agent says itself.

    Raises:
        ConfigError: if the voice is not known.
        ModelFileError: if it is not installed.
    """
    voice = voice_of(settings)
    keep(voice, settings)
    words = [*own_words(settings, refusal), *quotable(index, settings)]
    return prepare(
        voice,
        words,
        most_bytes=settings.voice.disk_mb * 1_000_000,
        threads=os.cpu_count() or 1,
        progress=lambda done: progress("speech", done, len(words)),
    )


def voice_of(settings: Settings) -> PhrasedVoice:
    """The voice that calls are answered with, without the other models.

    Raises:
        ConfigError: if it is not known.
        ModelFileError: if it is not installed.
    """
    return speaking_of(settings).voice()


def prepare_own_words(voice: PhrasedVoice, settings: Settings, refusal: str) -> None:
    """Have ``voice`` keep what it renders, and render what the agent says by itself."""
    keep(voice, settings)
    _report(prepare(voice, own_words(settings, refusal)))


class Prerenderer:
    """Renders the documents' sentences in a thread of low priority while calls go on."""

    def __init__(self, voice: PhrasedVoice, index: Callable[[], Index], settings: Settings) -> None:
        """``index`` gives the one in service, and another one after an exchange."""
        self._voice = voice
        self._index = index
        self._settings = settings
        self._over = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Render until the block ends."""
        thread = threading.Thread(target=self._run, name="prerender", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _run(self) -> None:
        if sys.platform == "linux":  # what is heard and said now comes first
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BACKGROUND_NICENESS)
        rendered = ""
        while not self._over.is_set():
            index = self._index()
            if index.kb.sha256 != rendered:
                rendered = index.kb.sha256
                self._render(index)
            del index  # one that was exchanged may go
            self._over.wait(EVERY_S)

    def _render(self, index: Index) -> None:
        def is_over() -> bool:
            return self._over.is_set() or self._index() is not index

        words = quotable(index, self._settings)
        most_bytes = self._settings.voice.disk_mb * 1_000_000
        done = prepare(self._voice, words, most_bytes=most_bytes, is_over=is_over)
        _report(done)
        if done.rendered:
            self._voice.rest()
            logger.info("rendered {} sentences, {} are ready", done.rendered, done.ready)


def _report(done: Prepared) -> None:
    if done.failed:
        logger.warning("cannot prepare {} sentences: {}", len(done.failed), done.failed[0])
    if done.is_full:
        logger.warning("voice.disk_mb has room for {} sentences, the rest wait", done.ready)
