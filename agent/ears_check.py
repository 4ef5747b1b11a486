"""The ear check of a whole knowledge base: every sentence that has a value or a name."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from agent.ear_items import Item, items_in, lost, names_of
from agent.ears import Heard, listen
from agent.progress import Progress
from agent.respelled import write_json
from frontdesk import Spoken
from rag import Index, store
from rag.choose import spoken_form
from rag.speakable import not_for_callers
from speech import telephone
from speech.audio import resample
from speech.phrased import Phrase, PhrasedVoice, sentences
from speech.recogniser import Recogniser

_HEARING_HZ = 16000
_FILE = "ears.json"
_REST_EVERY = 16  # sentences; without, the memory of a check grows past 1 GB


class Listener:
    """A recogniser at the far end of a telephone line from a voice.

    What it has heard before is kept in ``kept``, by voice, recogniser and words.
    """

    def __init__(
        self, name: str, voice: PhrasedVoice, make: Callable[[], Recogniser], kept: dict[str, str]
    ) -> None:
        """``make`` is called when something has to be heard that is not kept."""
        self.name = name
        self._voice, self._make, self._kept = voice, make, kept
        self.used: dict[str, str] = {}

    @cached_property
    def _recogniser(self) -> Recogniser:
        return self._make()

    def hear(self, phrase: Phrase) -> str:
        """What the recogniser makes of ``phrase``.

        Raises:
            SpeechError: if voice or recogniser fails.
        """
        key = self._key(phrase)
        text = self._kept.get(key)
        if text is None:
            audio = telephone.over_the_line(self._voice.synthesise(phrase))
            heard = resample(audio, telephone.RATE_HZ, _HEARING_HZ)
            text = self._recogniser.transcribe(heard).text
        self.used[key] = text
        return text

    def _key(self, phrase: Phrase) -> str:
        made_by = hashlib.blake2b(self._voice.identity, digest_size=16)
        made_by.update(f"\0{self.name}\0{phrase.key}".encode())
        return made_by.hexdigest()


@dataclass(frozen=True, slots=True)
class Report:
    """What became of each sentence, in the order of the documents.

    ``second_before`` and ``second_after`` are how many of the ``respelled_items`` of sentences
    that are said otherwise now the second ear hears, who took no part in the choice.
    """

    heard: tuple[Heard, ...]
    respelled_items: int
    second_before: int
    second_after: int


def check(
    index: Index,
    voice: PhrasedVoice,
    first: Listener,
    second: Listener | None,
    progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Speak every sentence of ``index`` in the language of ``voice`` that states something.

    Raises:
        SpeechError: if voice or recogniser fails.
    """
    work = list(_with_items(index, voice.language))

    def one(what: tuple[str, tuple[Item, ...]]) -> Heard:
        text, items = what
        said = [Phrase(words) for words in sentences(Spoken.strip(text))]
        return listen(text, items, said, first, second)

    found = []
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        for heard in pool.map(one, work):
            found.append(heard)
            progress("ears", len(found), len(work))
            if not len(found) % _REST_EVERY:
                voice.rest()
    finally:
        pool.shutdown(cancel_futures=True)
    respelled = [heard for heard in found if heard.instead]
    items, before, after = 0, 0, 0
    for heard in respelled if second else ():
        items += len(heard.items)
        before += len(heard.items) - len(_lost_by(second, heard.said, heard.items))
        after += len(heard.items) - len(_lost_by(second, heard.instead, heard.items))
    return Report(tuple(found), items, before, after)


def respellings_of(heard: Iterable[Heard]) -> dict[str, Phrase]:
    """The sentences that are to be said otherwise."""
    return {
        was.words: now
        for one in heard
        if one.instead
        for was, now in zip(one.said, one.instead, strict=True)
        if was != now
    }


def version_of(*modules: ModuleType) -> str:
    """A hash of the rules by which a recogniser hears: what others heard is not kept."""
    digest = hashlib.blake2b(digest_size=8)
    for module in modules:
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def kept_in(kb: Path) -> dict[str, str]:
    """What was heard in earlier checks."""
    with suppress(OSError, ValueError):
        found = json.loads(_path(kb).read_text("utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def keep_in(kb: Path, listeners: Sequence[Listener]) -> None:
    """Keep what was heard in this check.

    Raises:
        OSError: if the file cannot be written.
    """
    write_json(_path(kb), {key: text for one in listeners for key, text in one.used.items()})


def _with_items(index: Index, language: str) -> Iterable[tuple[str, tuple[Item, ...]]]:
    mine = [
        (number, spoken_form(sentence.text))
        for number, sentence in enumerate(index.sentences)
        if index.kb.passages[sentence.passage].language == language
        and not not_for_callers(sentence.text)
    ]
    names = names_of(text for _, text in mine)
    for number, text in mine:
        items = items_in(text, names, index.facts[number])
        if items:
            yield text, items


def _lost_by(ear: Listener | None, said: Sequence[Phrase], items: Sequence[Item]) -> Sequence[Item]:
    return lost(items, " ".join(ear.hear(phrase) for phrase in said)) if ear else ()


def _path(kb: Path) -> Path:
    return store.artefact_path(kb).with_name(_FILE)
