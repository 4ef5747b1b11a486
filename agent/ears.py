"""Whether what the agent says is understood: voice, telephone line, recogniser, same values?

A recogniser hears worse than a person, so what it understands a caller will. The first ear leans
towards no word, since a caller expects none; a second, independent one is asked about what the
first lost, and about what was respelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Protocol

from agent.ear_items import Item, lost, places_of
from speech.phrased import Phrase
from speech.respelling import respellings

_MOST_TRIES = 24


class Ear(Protocol):
    """What makes text of a phrase, said by the voice and come out of the line."""

    def hear(self, phrase: Phrase) -> str:
        """What is understood.

        Raises:
            SpeechError: if voice or recogniser fails.
        """
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one thing that is said: ``text`` as written, ``said`` as it is read aloud.

    ``instead`` are the phrases to say it with, where others were understood better. ``lost`` are
    the values and names that no ear heard, ``by_second`` those that only the second one did.
    ``lost_at_first`` are those that the first ear did not hear before anything was changed, and
    ``misread`` are those that are read aloud as something else, before any voice.
    """

    text: str
    said: tuple[Phrase, ...]
    heard: str
    items: tuple[Item, ...]
    lost: tuple[Item, ...] = ()
    by_second: tuple[Item, ...] = ()
    lost_at_first: tuple[Item, ...] = ()
    misread: tuple[Item, ...] = ()
    instead: tuple[Phrase, ...] = ()
    tried: int = field(default=0, compare=False)

    @property
    def is_for_a_person(self) -> bool:
        """Whether somebody has to look at it."""
        return bool(self.lost or self.misread)


def listen(
    text: str, items: tuple[Item, ...], said: Sequence[Phrase], first: Ear, second: Ear | None
) -> Heard:
    """Say ``text``, as the phrases ``said``, and find out which of ``items`` are understood.

    A value that the first ear loses is said otherwise until it hears it, or until no way is left;
    a name only if the second ear loses it too, since knowing a name is what hears it.

    Raises:
        SpeechError: if voice or recogniser fails.
    """
    words = " ".join(phrase.words for phrase in said)
    misread = lost(items, words)
    items = tuple(item for item in items if item not in misread)
    best = tuple(said)
    tried = 0
    known: tuple[Item, ...] = ()
    heard = _heard(best, first, items)
    missing = lost_at_first = lost(items, heard)
    if second is not None and (names := [item for item in missing if item.value is None]):
        still_lost = lost(names, _heard(best, second, items))
        known = tuple(item for item in names if item not in still_lost)
        missing = tuple(item for item in missing if item not in known)
    while missing and tried < _MOST_TRIES:
        better = None
        for other in _otherwise(best, missing):
            tried += 1
            other_heard = _heard(other, first, items)
            still = tuple(item for item in lost(items, other_heard) if item not in known)
            if len(still) < len(missing):
                better = other, other_heard, still
                break
            if tried >= _MOST_TRIES:
                break
        if better is None:
            break
        best, heard, missing = better
    if missing and second is not None:
        still = lost(missing, _heard(best, second, items))
        known += tuple(item for item in missing if item not in still)
        missing = still
    return Heard(
        text,
        tuple(said),
        heard,
        items,
        missing,
        known,
        lost_at_first,
        misread,
        best if best != tuple(said) else (),
        tried,
    )


def _heard(said: Sequence[Phrase], ear: Ear, items: Sequence[Item]) -> str:
    return " ".join(ear.hear(phrase) for phrase in said if items)


def _otherwise(said: tuple[Phrase, ...], missing: Sequence[Item]) -> Iterator[tuple[Phrase, ...]]:
    """The same with one phrase said otherwise: the first way for each place that says what is
    ``missing``, then the second, and so on.
    """
    ways = [
        [(number, other) for other in respellings(phrase, start, end)]
        for item in missing
        for number, phrase in enumerate(said)
        for start, end in places_of(item, phrase.words)
    ]
    tried = set()
    for way in (way for round_ in zip_longest(*ways) for way in round_ if way):
        if way not in tried:
            tried.add(way)
            number, other = way
            yield (*said[:number], other, *said[number + 1 :])
