"""Letters as they are spelled: "m r i", "b twelve", "b as in boy"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from speech.number_words import Word, number_at
from speech.unit_words import COINS, UNIT_WORDS
from speech.values import Kind, Value

_BESIDE = re.compile(r"\s*|-")
_OWN_WORDS = frozenset("aio")
_COUNTED = frozenset((*COINS, *UNIT_WORDS, "percent"))
_NO_LETTERS = frozenset({"pm", "ok"})
_LONGEST_NUMBER = 4  # "I L six zero six one four" is a state and its post code


def letters_at(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """Letters that begin with word ``at``, two at least or with a number, and words taken."""
    said, here, letters = "", at, 0
    while here < len(words) and (here == at or _BESIDE.fullmatch(words[here].glue)):
        word = words[here].text
        if len(word) == 1 and word.isalpha():
            said += text[words[here].start]
            letters, here = letters + 1, here + 1
            if [w.text for w in words[here : here + 2]] == ["as", "in"]:
                here = min(here + 3, len(words))
            continue
        number = number_at(words, here) if said or _two_follow(words, here + 1) else None
        digits = number.digits if number else ""
        if number is None or not digits.isdecimal() or len(digits) > _LONGEST_NUMBER:
            break
        if here + number.used < len(words) and words[here + number.used].text in _COUNTED:
            break  # "U S forty nine dollars"
        said, here = said + digits, here + number.used
    if not letters:
        return None
    start, end = words[at].start, words[here - 1].end
    as_it_stands = text[start:end]
    if not _are_letters(said.lower(), letters, as_it_stands):
        return None
    if not re.search(r"\s", as_it_stands):  # H2O, whose O is no zero
        said = as_it_stands
    return Value(Kind.LETTERS, said.replace("-", "").upper(), start, end, said), here - at


def _are_letters(said: str, letters: int, as_it_stands: str) -> bool:
    """Not so "k i can", "i i guess" and "a 20 minute wait"."""
    if said in _NO_LETTERS or len(said) == 1:
        return False
    if letters == 1:
        return said[0] not in _OWN_WORDS
    return len(said) > 2 or "-" in as_it_stands or not _OWN_WORDS & set(said)


def _two_follow(words: Sequence[Word], at: int) -> bool:
    """Whether two letters follow, and not those of a time: "five w k r a"."""
    pair = [word.text for word in words[at : at + 2]]
    return len(pair) == 2 and all(len(w) == 1 and w.isalpha() for w in pair) and pair[1] != "m"
