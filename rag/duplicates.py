"""Near-duplicates among bags of words: an exact set-similarity join that scales.

Two passages are the same one written twice if only slips of spelling, or a few words more on one
side, part their words; a number, a day or a "not" that differs makes them two.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from rag.distance import edits

Bag = frozenset[str]

_NEAR = 0.9
"""The same passage twice shares at least this much of its words (Jaccard)."""

_FEWEST = 4
"""Of a smaller bag, one word that differs is more than a tenth, however it is spelt."""

_SHORTEST = 5
"""A word of fewer letters is not taken for a slip of another."""

_NEVER = frozenset("no not never without except only".split())
DAY_WORD = re.compile(
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|week(?:day|end))s?"
)


def near_duplicates(bags: Sequence[Bag]) -> Iterator[tuple[int, int]]:
    """(earlier, later) positions of ``bags`` that are nearly the same; each later one once.

    Bags whose numbers differ are never compared.
    """
    parts: dict[Bag, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        parts[frozenset(filter(_has_digit, bag))].append(at)
    for part in parts.values():
        yield from _join(bags, part)


def is_same(a: Bag, b: Bag) -> bool:
    """Whether only slips of spelling, or a few words more on one side, part two bags of words."""
    common = len(a & b)
    most = (1 - _NEAR) * (len(a) + len(b) - common) + 1e-9
    if len(a) + len(b) - 2 * common > 2 * most + 1:
        return False
    left, right = set(a - b), set(b - a)
    for one in sorted(left):
        twin = next((two for two in sorted(right) if _is_misspelt(one, two)), None)
        if twin:
            left.discard(one)
            right.discard(twin)
    rest = left | right
    if (left and right) or len(rest) > most:
        return False
    return not any(_has_digit(word) or word in _NEVER or DAY_WORD.fullmatch(word) for word in rest)


def _join(bags: Sequence[Bag], part: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The near-duplicates among the bags at the positions ``part``."""
    partners = _partners([bags[at] for at in part])
    merged: set[int] = set()
    for at, others in enumerate(partners):
        for other in sorted(others):
            if other not in merged and is_same(bags[part[other]], bags[part[at]]):
                merged.add(at)
                yield part[other], part[at]
                break


def _partners(bags: Sequence[Bag]) -> list[set[int]]:
    """For each bag the earlier ones that may be the same.

    With words that are slips of each other taken for one, of two bags that are the same the smaller
    is held by the larger, which has at most a tenth more. So the rarest few words of the smaller
    one are among the rarest few, and that tenth, of the larger (prefix filtering: Bayardo and
    others, WWW 2007; by several words at once: Wang and others, SIGMOD 2012). No pair is missed.
    """
    spelt = _one_spelling(bags)
    count = Counter(word for bag in bags for word in {spelt.get(word, word) for word in bag})
    ranked = [
        sorted({spelt.get(word, word) for word in bag}, key=lambda word: (count[word], word))
        for bag in bags
    ]
    held: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, words in enumerate(ranked):
        if len(bags[at]) >= _FEWEST:
            held[tuple(words[: _key_length(len(bags[at]))])].append(at)
    partners: list[set[int]] = [set() for _ in bags]
    for at, words in enumerate(ranked):
        size = len(bags[at])
        more = _most_more(size)
        for length in {_key_length(size - more), _key_length(size)}:
            for key in combinations(words[: more + length], min(length, len(words))):
                for other in held.get(key, ()):
                    if other != at:
                        partners[max(at, other)].add(min(at, other))
    return partners


def _key_length(size: int) -> int:
    """How many words a bag of ``size`` is looked up by: fewer for a long one, to have few keys."""
    return 3 if size <= 40 else 2 if size <= 120 else 1


def _most_more(size: int) -> int:
    """How many words a bag of ``size`` may have beyond one that is the same (:func:`is_same`).

    A tenth of their union, which is the bag and one spelling of each slip: at most
    (size + 0.5) / 0.9 words.
    """
    return int((1 - _NEAR) * (size + 0.5) / _NEAR + 1e-9)


def _one_spelling(bags: Sequence[Bag]) -> dict[str, str]:
    """For every word that may be a slip of another, one of those that stands for all of them.

    Words that are one edit apart share a form with one letter left out, or one is such a form.
    """
    words = sorted({word for bag in bags for word in bag})
    first: dict[str, str] = {}
    parent: dict[str, str] = {}

    def root(word: str) -> str:
        while parent.get(word, word) != word:
            word = parent[word]
        return word

    for word in words:
        if len(word) < _SHORTEST or not word.isalpha():
            continue
        for form in {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}:
            parent[root(word)] = root(first.setdefault(form, word))
    return {word: root(word) for word in parent}


def _is_misspelt(one: str, two: str) -> bool:
    shorter = min(len(one), len(two))
    if shorter < _SHORTEST or abs(len(one) - len(two)) > 1:
        return False
    # One slip leaves the first or the second half as it was.
    half = shorter // 2
    if one[:half] != two[:half] and one[-half:] != two[-half:]:
        return False
    return one.isalpha() and two.isalpha() and edits(one, two, 1) <= 1


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
