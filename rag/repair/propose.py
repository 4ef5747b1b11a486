"""Mishearings to propose to a person, from what callers were heard to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from rag.pieces import stopwords
from rag.repair.dictionary import LONGEST, Mishearing
from rag.repair.lexicon import Lexicon
from rag.repair.nearness import between
from rag.repair.second import Place, by_sound
from rag.rewrite import clean, default_fillers

_FARTHEST_ASKED_AGAIN = 0.6
"""What a caller said in its place a moment later need not sound as much alike."""
_SAME_QUESTION = 0.5
_EXAMPLES = 3
_BESIDE = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing a caller was heard to say; ``place`` says where it is recorded."""

    heard: str
    is_answered: bool
    is_refused: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mishearing, and why to believe it.

    ``turns`` is in how many refused turns it was heard, ``asked_again`` after how many of them the
    caller put the question again in the words meant and was answered. ``distance`` is that of
    sound and letters, 0 to 1. ``examples`` are places, each with a few words around what was heard.
    """

    mishearing: Mishearing
    turns: int
    asked_again: int
    distance: float
    examples: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Seen:
    """What has been found of one proposal."""

    places: dict[str, str] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)


def propose(
    calls: Iterable[Sequence[Turn]],
    lexicon: Lexicon,
    known: Iterable[Mishearing] = (),
    fillers: frozenset[str] | None = None,
) -> list[Proposal]:
    """What may have been meant in refused turns, best evidence first.

    Looked for are words that neither the documents nor everyday English know and that sound like
    words of the documents, and what stands in their place when the caller's next turn is the same
    question and is answered. Nothing with a digit, nothing that sounds like nothing in the
    documents (most names), and nothing that is ``known`` already.
    """
    fillers = default_fillers() if fillers is None else fillers
    taken = {row.heard for row in known}
    seen: dict[Mishearing, _Seen] = {}
    for call in calls:
        for n, turn in enumerate(call):
            if not turn.is_refused:
                continue
            said = clean(turn.heard, fillers).split()
            after = call[n + 1] if n + 1 < len(call) else None
            again: tuple[tuple[int, Mishearing], ...] = ()
            if after and after.is_answered:
                again = _put_again(said, clean(after.heard, fillers).split(), lexicon)
            for at, row in (*again, *_sounding_alike(said, lexicon)):
                if row.heard in taken:
                    continue
                found = seen.setdefault(row, _Seen())
                found.places.setdefault(turn.place, _around(said, at, row.heard))
                if (at, row) in again:
                    found.again.add(turn.place)
    return sorted(
        (_proposal(row, found) for row, found in seen.items()),
        key=lambda one: (-one.asked_again, -one.turns, one.distance, one.mishearing.heard),
    )


def _proposal(row: Mishearing, found: _Seen) -> Proposal:
    # The places where it was asked again first.
    places = sorted(found.places.items(), key=lambda item: item[0] not in found.again)
    return Proposal(
        row, len(places), len(found.again),
        round(between(row.heard.split(), row.meant.split()), 3), tuple(places[:_EXAMPLES]),
    )  # fmt: skip


def _sounding_alike(said: Sequence[str], lexicon: Lexicon) -> list[tuple[int, Mishearing]]:
    """Of each unknown word the nearest phrase, with the neighbours that make it the nearest."""
    best: dict[int, Place] = {}
    for place in by_sound(said, lexicon):
        for n in range(place.start, place.end):
            is_nearer = n not in best or place.distance < best[n].distance
            if is_nearer and not lexicon.knows(said[n]):
                best[n] = place
    rows = ((one.start, Mishearing(one.change.heard, one.change.meant)) for one in best.values())
    return list(dict.fromkeys(rows))


def _put_again(
    said: Sequence[str], again: Sequence[str], lexicon: Lexicon
) -> tuple[tuple[int, Mishearing], ...]:
    """Where the two differ, if they are one question: unknown words that became known ones."""
    matcher = SequenceMatcher(None, said, again, autojunk=False)
    if matcher.ratio() < _SAME_QUESTION:
        return ()
    found = []
    for what, start, end, first, last in matcher.get_opcodes():
        heard, meant = said[start:end], again[first:last]
        if what != "replace" or not _may_be_misheard(heard, lexicon):
            continue
        if not _is_of_documents(meant, lexicon) or len(meant) > LONGEST:
            continue
        if between(heard, meant) <= _FARTHEST_ASKED_AGAIN:
            found.append((start, Mishearing(" ".join(heard), " ".join(meant))))
    return tuple(found)


def _may_be_misheard(heard: Sequence[str], lexicon: Lexicon) -> bool:
    return (
        0 < len(heard) <= LONGEST
        and any(not lexicon.knows(word) for word in heard)
        and not any(char.isdigit() for word in heard for char in word)
    )


def _is_of_documents(meant: Sequence[str], lexicon: Lexicon) -> bool:
    plain = stopwords()
    subjects = [word for word in meant if word not in plain]
    return bool(subjects) and all(lexicon.holds(word) for word in subjects)


def _around(said: Sequence[str], at: int, heard: str) -> str:
    """What was heard with two words to either side, digits left out."""
    end = at + len(heard.split())
    beside = said[max(at - _BESIDE, 0) : end + _BESIDE]
    text = " ".join("#" if any(c.isdigit() for c in word) else word for word in beside)
    return f"{'… ' if at > _BESIDE else ''}{text}{' …' if end + _BESIDE < len(said) else ''}"
