"""Numbers and spellings of which the end is still to come: “my number is 555”, “J O H”.

A caller stops between the groups of a telephone number, and what was said so far sounds and reads
as complete as it ever will. Only its length tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from speech.types import Hint

# A telephone number has seven digits, ten with its area code, eleven with the country's 1 before
# them. Seven may be all, or the first seven of ten said one by one.
_LOCAL, _NATIONAL = 7, 10
_GROUPED = 3

_TOKEN = re.compile(r"[a-z']+|\d+")
_ONE_DIGIT = frozenset(
    "zero oh o one two three four five six seven eight nine double triple".split()
)
# What a recogniser makes of a digit among digits.
_MISHEARD = frozenset("to too for fore won ate hero nice night niner tree sicks".split())
_TWO_DIGITS = frozenset(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split())
_HUNDRED = frozenset({"hundred"})
_ANNOUNCED = re.compile(
    r"\b(?:(?:my|our|his|her|the)(?: (?:\w+ )?(?:phone|cell|mobile))? number(?: is|'s| was)"
    r"|area code(?: is)?|(?:phone|cell|mobile|extension) is"
    r"|(?:reach|call|text) (?:me|us|him|her)(?: back)? (?:at|on))\b"
)
_SPELT = re.compile(r"\b(?:spel\w+|name is|letters?)\b")
_ALONE = frozenset({"", "it's", "its", "that's", "yes", "yeah", "sure", "okay", "um", "uh"})
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_BORN = re.compile(r"\b(?:birthday|birth|born)\b")


def half_said(text: str, expects: Hint = Hint.NONE) -> bool:
    """Whether ``text`` ends in a number, a spelling or a date that is not whole yet.

    ``expects`` is what the agent has just asked for. A number is one that people group or spell
    out: said digit by digit, announced (“my number is”), asked for, or all that was said. “At
    five thirty” is none.
    """
    words = _TOKEN.findall(text.lower().replace("’", "'"))
    if not words:
        return False
    line = " ".join(words)
    if _spells(words, line) or _dates(words, line, expects):
        return True
    announced = list(_ANNOUNCED.finditer(line))
    if announced:  # the digits may have been misheard, so all words after it count
        since = line[announced[-1].end() :].split()
        return _more_to_come(_count([word for word in since if _is_digits(word)]))
    start = _number_start(words)
    said = words[start:]
    one_by_one = sum(word in _ONE_DIGIT or len(word) >= _GROUPED for word in said) >= _GROUPED
    before = [word for word in words[:start] if word not in _MISHEARD]
    alone = bool(said) and " ".join(before) in _ALONE
    if one_by_one or alone or expects is Hint.DIGITS:
        return _more_to_come(_count(said))
    return False


def _more_to_come(digits: int) -> bool:
    return digits < _LOCAL or _LOCAL < digits < _NATIONAL


def _number_start(words: Sequence[str]) -> int:
    """Where the number that ends ``words`` begins; past the end if there is none."""
    start = len(words)
    for at in range(len(words) - 1, -1, -1):
        if _is_digits(words[at]):
            start = at
        elif words[at] not in _MISHEARD or not at or not _is_digits(words[at - 1]):
            break
    return start


def _is_digits(word: str) -> bool:
    return (
        word.isdigit()
        or word in _ONE_DIGIT
        or word in _TWO_DIGITS
        or word in _TENS
        or word in _HUNDRED
    )


def _count(said: Sequence[str]) -> int:
    """How many digits the words of a number stand for."""
    digits = 0
    for at, word in enumerate(said):
        if word.isdigit():
            digits += len(word)
        elif word in _TWO_DIGITS or word in _HUNDRED or word == "triple":
            digits += 2
        elif word in _TENS:
            follows = at + 1 < len(said) and said[at + 1] in _ONE_DIGIT - {"zero", "oh", "o"}
            digits += 1 if follows else 2
        else:
            digits += 1
    return digits


def _spells(words: Sequence[str], line: str) -> bool:
    """“J O H”: letters one by one at the end, three or announced."""
    letters = 0
    while letters < len(words) and len(words[-1 - letters]) == 1 and words[-1 - letters].isalpha():
        letters += 1
    return letters >= (1 if _SPELT.search(line) else 3)


def _dates(words: Sequence[str], line: str, expects: Hint) -> bool:
    """“My birthday is March”: a month where a date is due."""
    return words[-1] in _MONTHS and (expects is Hint.DATE or bool(_BORN.search(line)))
