"""A second query for what may have been misheard. It replaces nothing: the first is asked too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.pieces import stem, stems_of, stopwords
from rag.repair.dictionary import LONGEST, Mishearing, by_words
from rag.repair.lexicon import Lexicon, all_english_words
from rag.rivals import log_odds
from rag.types import Passage, Query

_MOST_WORDS = 3
_SUREST = 1e-4


@dataclass(frozen=True, slots=True)
class Rule:
    """When a phrase is taken for what was said, and when the answer it brings is taken.

    ``farthest`` is the largest distance from the words heard where one of them is no word of
    English, ``farthest_english`` where it is one that only the documents do not hold. The first
    query has to score ``least``, so that the words that were heard right ask for something here,
    and the second ``margin`` more in log-odds: from 0.3 to 0.76 is 2.0, from 0.5 to 0.88.
    Chosen by ``python -m bench.repair`` so that no unanswerable question of those it was chosen on
    is lifted over the floor.
    """

    farthest: float = 0.3
    farthest_english: float = 0.15
    least: float = 0.1
    margin: float = 2.0


RULE = Rule()


@dataclass(frozen=True, slots=True)
class Change:
    """Words ``heard`` that were read as ``meant``, and ``why``.

    ``is_reviewed`` says whether a person put it in the dictionary.
    """

    heard: str
    meant: str
    why: str
    is_reviewed: bool = False


@dataclass(frozen=True, slots=True)
class Repaired:
    """The query to ask beside the first; what it reads otherwise, in the order of the words."""

    query: Query
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Words ``start`` to ``end`` of a question and what they may have been."""

    start: int
    end: int
    distance: float
    change: Change


def second_query(
    query: Query,
    lexicon: Lexicon,
    dictionary: Sequence[Mishearing] = (),
    rule: Rule = RULE,
) -> Repaired | None:
    """``query`` with its misheard words as they may have been said; None if none is found.

    What the ``dictionary`` holds is taken from there. Of what is left, up to three words in a row
    with one among them that neither the documents nor everyday English know are read as the one
    or two words of the documents that sound most like them, if those are near enough. Numbers are
    never touched, and languages other than English only by the dictionary.
    """
    said = query.text.split()
    places = _in_dictionary(said, dictionary)
    if query.language == "en":
        places += by_sound(said, lexicon, rule)
    kept = _apart(places)
    if not kept:
        return None
    text, focus, at = [], [], 0
    in_focus = set(query.focus)
    for place in kept:
        text += said[at : place.start] + place.change.meant.split()
        if in_focus.intersection(said[place.start : place.end]):
            focus += place.change.meant.split()
        at = place.end
    text += said[at:]
    focus = [word for word in (*query.focus, *focus) if word in text]
    changed = replace(query, text=" ".join(text), focus=tuple(dict.fromkeys(focus)))
    return Repaired(changed, tuple(place.change for place in kept))


def wins(
    repaired: Repaired, first: float, second: float, passage: Passage | None, rule: Rule = RULE
) -> bool:
    """Whether the answer to a second query may be spoken in place of a refusal.

    ``first`` and ``second`` are the scores of the two queries and ``passage`` is the second's. A
    word that was read otherwise has to stand there, or it is not what the answer was found by.
    What a person has reviewed needs no margin and no least score. The floor and the checks of an
    answer come on top.
    """
    is_reviewed = all(change.is_reviewed for change in repaired.changes)
    if passage is None or second <= first:
        return False
    ahead = log_odds(second, _SUREST) - log_odds(first, _SUREST)
    if not is_reviewed and (first < rule.least or ahead < rule.margin):
        return False
    there = stems_of(" ".join((passage.text, passage.heading, passage.question or "")))
    there -= {stem(word) for word in stopwords()}
    return any(
        not stems_of(change.meant).isdisjoint(there - stems_of(change.heard))
        for change in repaired.changes
    )


def has_unknown(query: Query, lexicon: Lexicon) -> bool:
    """Whether there is a word that neither the documents nor everyday English know."""
    return any(not lexicon.knows(word) for word in query.text.split())


def _in_dictionary(said: Sequence[str], dictionary: Sequence[Mishearing]) -> list[Place]:
    meanings = by_words(dictionary)
    found = []
    for start in range(len(said)) if meanings else ():
        for end in range(start + 1, min(start + LONGEST, len(said)) + 1):
            if meant := meanings.get(tuple(said[start:end])):
                change = Change(" ".join(said[start:end]), meant, "in mishearings.jsonl", True)
                # Sure of itself, the more so the longer.
                found.append(Place(start, end, start - end, change))
    return found


def by_sound(said: Sequence[str], lexicon: Lexicon, rule: Rule = RULE) -> list[Place]:
    """Every run of words that may have been misheard, with the phrase that it is nearest to."""
    unknown = [not lexicon.knows(word) for word in said]
    spans = [
        (start, end)
        for start in range(len(said))
        for end in range(start + 1, min(start + _MOST_WORDS, len(said)) + 1)
        if any(unknown[start:end]) and all(map(_is_plain, said[start:end]))
    ]
    near = lexicon.phrases.nearest([said[start:end] for start, end in spans], rule.farthest)
    found = []
    for (start, end), one in zip(spans, near, strict=True):
        words = [said[n] for n in range(start, end) if unknown[n]]
        english = [word for word in words if word in all_english_words()]
        if one and one[1] <= (rule.farthest_english if english else rule.farthest):
            of = "the documents" if english else "English"
            why = f"{(english or words)[0]} is no word of {of}"
            found.append(Place(start, end, one[1], Change(" ".join(said[start:end]), one[0], why)))
    return found


def _is_plain(word: str) -> bool:
    return word.isascii() and not any(char.isdigit() for char in word)


def _apart(places: Sequence[Place]) -> list[Place]:
    """The nearest of them that share no word, in the order of the words."""
    kept: list[Place] = []
    for place in sorted(places, key=lambda one: (one.distance, one.start)):
        if all(place.end <= one.start or one.end <= place.start for one in kept):
            kept.append(place)
    return sorted(kept, key=lambda one: one.start)
