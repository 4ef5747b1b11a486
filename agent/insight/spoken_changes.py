"""Facts that are the same and will be heard otherwise: read aloud in other words.

A sentence whose words did not change may be said otherwise, since it counts as of another language
or because ``spoken.json`` says it in another way; a value may be written otherwise ("3 p.m.",
"15:00") and be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent import respelled
from frontdesk import Spoken
from rag import Index
from rag.choose import spoken_form
from rag.facts import Fact
from rag.facts.reading import content
from rag.speakable import not_for_callers
from rag.types import Passage
from speech.phrased import Phrase
from speech.reading import read_aloud

Voices = Mapping[str, Mapping[str, Phrase]]


@dataclass(frozen=True, slots=True)
class SpokenChange:
    """One fact, how it was heard and how it will be; ``passage`` is of the new documents."""

    passage: str
    text: str
    old: str
    new: str

    def as_json(self) -> dict[str, Any]:
        """It as JSON has it."""
        return asdict(self)


def spoken_changes(old: Index, new: Index) -> list[SpokenChange]:
    """The facts of both that are heard otherwise, in the order of the new documents."""
    before = _sentences(old)
    found = [*_same_words(before, old, new), *_same_values(before, old, new)]
    order = {one.id: number for number, one in enumerate(new.kb.passages)}
    return sorted(found, key=lambda one: order[one.passage])


def _sentences(index: Index) -> dict[str, tuple[Passage, int]]:
    """Each sentence that callers may hear, once, with its passage and number."""
    found: dict[str, tuple[Passage, int]] = {}
    for number, sentence in enumerate(index.sentences):
        if not not_for_callers(sentence.text):
            found.setdefault(sentence.text, (index.kb.passages[sentence.passage], number))
    return found


def _same_words(
    before: Mapping[str, tuple[Passage, int]], old: Index, new: Index
) -> Iterator[SpokenChange]:
    voices = respelled.by_voice(old.kb.folder), respelled.by_voice(new.kb.folder)
    for text, (passage, _) in _sentences(new).items():
        was = before.get(text)
        if was is None or (was[0].language == passage.language and voices[0] == voices[1]):
            continue
        olds, news = _heard(text, was[0], voices[0]), _heard(text, passage, voices[1])
        for voice in sorted(olds.keys() | news.keys()):
            one, other = (heard.get(voice, heard[""]) for heard in (olds, news))
            if one != other:
                yield SpokenChange(passage.id, text, one, other)
                break


def _heard(text: str, passage: Passage, voices: Voices) -> dict[str, str]:
    """The words by voice, "" for any that says it as it is read."""
    read = read_aloud(Spoken(spoken_form(text)), passage.language)
    said = {name: phrases[read] for name, phrases in voices.items() if read in phrases}
    return {"": read} | {name: phrase.key for name, phrase in said.items()}


def _same_values(
    before: Mapping[str, tuple[Passage, int]], old: Index, new: Index
) -> Iterator[SpokenChange]:
    after = _sentences(new)
    written = _written({k: v for k, v in before.items() if k not in after}, old)
    now = _written({k: v for k, v in after.items() if k not in before}, new)
    for key, (passage, language, value) in now.items():
        was = written.get(key)
        if was is None or was[2] == value:
            continue
        olds, news = _value_heard(was[2], was[1]), _value_heard(value, language)
        if olds.casefold() != news.casefold():
            yield SpokenChange(passage, value, olds, news)


def _value_heard(written: str, language: str) -> str:
    return read_aloud(Spoken(written), language).rstrip(" .")


def _written(
    sentences: Mapping[str, tuple[Passage, int]], index: Index
) -> dict[tuple[object, ...], tuple[str, str, str]]:
    """Each fact, by what it says, with its passage, language and value as it is written."""
    found: dict[tuple[object, ...], tuple[str, str, str]] = {}
    for text, (passage, number) in sentences.items():
        for fact in index.facts[number]:
            value = text[fact.value.start : fact.value.end]
            if fact.kind != "statement" and value:
                found.setdefault(_key(fact, value), (passage.id, passage.language, value))
    return found


def _key(fact: Fact, written: str) -> tuple[object, ...]:
    """What it says of what, without the words that its value is written in."""
    value, subject = fact.value, fact.subject - content(written.lower())
    return value.kind, value.value, value.unit, subject, fact.qualifiers.days, fact.attribute
