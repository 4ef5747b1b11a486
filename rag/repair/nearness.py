"""How far some heard words are from phrases, by sound and by letter.

Most of the distance is of sounds, the rest of letters, each a weighted edit distance (Wagner and
Fischer, 1974) over the longer of the two. What one sound costs in the place of another is learned
by ``tools/fit_sounds.py`` from 1,814 pairs of words that a recogniser took for each other. Of 700
other pairs the word meant was nearer than all of 60 others in 62.3 %; by letters alone in 51.7 %,
by sounds alone in 54.7 %.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.pieces import stopwords
from rag.repair.sounds import SOUNDS, sounds_of

_COSTS = Path(__file__).with_name("costs.json")
_LETTERS = 26
_SHORTLIST = 32
"""Phrases measured in full: those that share most sounds and letters."""
_LONGER = 1.4
"""How many times the sounds of one side the other may have."""
OF_SOUNDS = 0.7
"""The share of the distance that is of sounds: a recogniser spells freely what is no word."""
_MORE_BESIDE = 0.15
"""How much farther a word may be that stands beside the same word in the documents."""

Costs = NDArray[np.float32]
Words = Sequence[str]


class Phrases:
    """Phrases to be near to, ready to be compared with what was heard. Read-only."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self.phrases = tuple(phrases)
        split = [phrase.split() for phrase in phrases]
        self._sounds, self._letters = _read(split)
        self._bags = np.stack([_bag(words) for words in split] or [_bag(())])

    def nearest(self, heard: Sequence[Words], farthest: float) -> list[tuple[str, float] | None]:
        """For each of some runs of words the nearest phrase, and its distance (0 is the same).

        What the two begin or end with in common speaks for the phrase, but the rest has to be
        near enough by itself: "biopsy results" is far from "results". None without such a phrase.
        """
        if not heard or not self.phrases:
            return [None] * len(heard)
        found = np.stack([self._shortlist(words) for words in heard])
        lines = np.repeat(np.arange(len(heard)), found.shape[1])
        rows = found.reshape(-1)
        sounds, letters = _read(heard)
        by_sound = distances(sounds.rows(lines), self._sounds.rows(rows), sound_costs())
        by_letter = distances(letters.rows(lines), self._letters.rows(rows), letter_costs())
        table = _mixed(by_sound, by_letter).reshape(found.shape)
        return [self._first(words, found[n], table[n], farthest) for n, words in enumerate(heard)]

    def _shortlist(self, heard: Words) -> NDArray[np.int64]:
        apart = np.abs(self._bags - _bag(heard)).sum(axis=1, dtype=np.int32)
        share = apart / (self._sounds.sizes + self._letters.sizes + len("".join(heard)))
        if len(share) <= _SHORTLIST:
            return np.arange(len(share))
        return np.argpartition(share, _SHORTLIST)[:_SHORTLIST]

    def _first(
        self, heard: Words, rows: NDArray[np.int64], apart: Costs, farthest: float
    ) -> tuple[str, float] | None:
        said = len(sounds_of(heard))
        for n in np.lexsort((rows, apart)).tolist():
            if apart[n] > farthest:
                break
            phrase, size = self.phrases[rows[n]], self._sounds.sizes[rows[n]]
            if max(size, said) > _LONGER * min(size, said):
                continue
            if _rest_is_near(heard, phrase.split(), farthest):
                return phrase, float(apart[n])
        return None


class Strings:
    """Strings of numbers of different length: ``values`` (strings, longest) and ``sizes``."""

    def __init__(self, values: NDArray[np.int16], sizes: NDArray[np.int64]) -> None:
        self.values, self.sizes = values, sizes

    @classmethod
    def of(cls, strings: Sequence[Sequence[int]]) -> Strings:
        """Some strings, the shorter ones filled up with 0."""
        values = np.zeros((len(strings), max(map(len, strings), default=0)), np.int16)
        for number, string in enumerate(strings):
            values[number, : len(string)] = string
        return cls(values, np.array([len(string) for string in strings], np.int64))

    def rows(self, numbers: NDArray[np.int64]) -> Strings:
        """Some of them."""
        return Strings(self.values[numbers], self.sizes[numbers])


def between(heard: Words, meant: Words) -> float:
    """The distance of some words from others; 1 where one side has none."""
    if not heard or not meant:
        return 1.0
    (sounds, letters), (meant_sounds, meant_letters) = _read([heard]), _read([meant])
    by_sound = distances(sounds, meant_sounds, sound_costs())
    by_letter = distances(letters, meant_letters, letter_costs())
    return float(_mixed(by_sound, by_letter)[0])


def rest_of(a: Words, b: Words) -> tuple[Words, Words]:
    """Both without the words that they begin and end with in common."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return a[start : len(a) - end], b[start : len(b) - end]


def letters_of(words: Words) -> tuple[int, ...]:
    """The Latin letters of some words, as numbers from 0."""
    return tuple(ord(c) - 97 for word in words for c in word if "a" <= c <= "z")


@cache
def sound_costs() -> Costs:
    """Of one sound for another; the last row and column are "none" (sounds + 1, sounds + 1)."""
    found = np.array(json.loads(_COSTS.read_text("utf-8"))["costs"], np.float32)
    if found.shape != (len(SOUNDS) + 1, len(SOUNDS) + 1):
        raise ValueError(f"{_COSTS.name} is not of {len(SOUNDS)} sounds")
    return found


@cache
def letter_costs() -> Costs:
    """One for every letter that differs."""
    costs: Costs = 1 - np.eye(_LETTERS + 1, dtype=np.float32)
    return costs


def _read(phrases: Sequence[Words]) -> tuple[Strings, Strings]:
    """Their sounds and their letters."""
    sounds = Strings.of([sounds_of(words) for words in phrases])
    return sounds, Strings.of([letters_of(words) for words in phrases])


def _mixed(by_sound: Costs, by_letter: Costs) -> Costs:
    return (OF_SOUNDS * by_sound + (1 - OF_SOUNDS) * by_letter).astype(np.float32)


def _rest_is_near(heard: Words, phrase: Words, farthest: float) -> bool:
    rest, other = rest_of(heard, phrase)
    shared = set(heard).intersection(phrase) - stopwords()
    return between(rest, other) <= farthest + (_MORE_BESIDE if shared else 0)


def distances(heard: Strings, phrases: Strings, costs: Costs) -> Costs:
    """From each string heard to the phrase in the same row, over the longer of the two."""
    none, width = len(costs) - 1, phrases.values.shape[1]
    every = np.arange(len(heard.sizes))
    # What it costs to say all of a phrase up to a place, nothing of it heard.
    added = np.zeros((len(every), width + 1), np.float32)
    np.cumsum(costs[none, phrases.values], axis=1, out=added[:, 1:])
    row: Costs = added.copy()
    ends: Costs = added[every, phrases.sizes]
    for at in range(heard.values.shape[1]):
        symbols = heard.values[:, at]
        new = row + costs[symbols, none][:, None]
        other = row[:, :-1] + costs[symbols[:, None], phrases.values]
        np.minimum(new[:, 1:], other, out=new[:, 1:])
        # The cheapest way to a place may pass over any number of sounds of the phrase before it.
        row = np.minimum.accumulate(new - added, axis=1) + added
        ends = np.where(heard.sizes == at + 1, row[every, phrases.sizes], ends)
    longer = np.maximum(np.maximum(phrases.sizes, heard.sizes), 1)
    return (ends / longer).astype(np.float32)


def _bag(words: Words) -> NDArray[np.int8]:
    both = [*sounds_of(words), *(len(SOUNDS) + letter for letter in letters_of(words))]
    return np.bincount(np.array(both, np.int64), minlength=len(SOUNDS) + _LETTERS).astype(np.int8)
