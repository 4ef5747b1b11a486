"""How English words sound, by rules over their letters.

In the manner of Elovitz, Johnson, McHugh and Shore (NRL Report 7948, 1976). What is heard and what
was meant are read by the same rules, so a mistake that both share costs nothing, and a recogniser
spells what it does not know as it sounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

_LETTERS = Path(__file__).with_name("letters.txt")
_NO_LETTER = re.compile(r"[^a-z]")

SOUNDS = (
    "AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW "
    "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH"
).split()
"""Every sound there is (ARPAbet without stress)."""
NUMBER = {sound: number for number, sound in enumerate(SOUNDS)}


def sounds_of(words: Iterable[str]) -> tuple[int, ...]:
    """The sounds of some words said one after the other, as numbers in ``SOUNDS``.

    Two equal sounds in a row are one. Words without a Latin letter have none.
    """
    found: list[int] = []
    for word in words:
        for sound in _of_word(word):
            if not found or found[-1] != sound:
                found.append(sound)
    return tuple(found)


@lru_cache(maxsize=65536)
def _of_word(word: str) -> tuple[int, ...]:
    letters = _NO_LETTER.sub("", word.lower())
    found: list[int] = []
    at = 0
    while at < len(letters):
        for pattern, sounds in _rules():
            if fits := pattern.match(letters, at):
                found += sounds
                at = fits.end()
                break
        else:
            at += 1
    return tuple(found)


@cache
def _rules() -> tuple[tuple[re.Pattern[str], tuple[int, ...]], ...]:
    rules = []
    for line in _LETTERS.read_text("utf-8").splitlines():
        if line and not line.startswith("# "):
            pattern, _, sounds = line.partition(" ")
            rules.append((re.compile(pattern), tuple(NUMBER[s] for s in sounds.split())))
    return tuple(rules)
