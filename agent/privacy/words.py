"""A text as words and groups of digits, for readers of numbers that were said or written.

Unlike :func:`speech.number_words.words_of` a stop or a comma parts groups of digits, as it does in
"312.555.0142": here no number is an amount.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from speech.number_words import TIMES, Word, pieces

_WORD = re.compile(r"\d+(?:st|nd|rd|th)(?![^\W\d_])|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*")
_FILLERS = frozenset(
    "uh um er ah erm hmm dash hyphen then space stroke like okay that's uhm slash dot point".split()
)
_NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty "
    "ninety o oh ohh nought".split()
) | set(TIMES)
_GLUE = re.compile(r"[\s,.\-()_\u2010-\u2015\u200b-\u200d\u2060]*")
_LONGEST_WORD, _MOST_PARTS = 64, 40


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a run: its digits or letter, and its place in the text."""

    said: str
    start: int
    end: int
    is_word: bool
    """Said in words, not in digits."""


def words_of(text: str) -> list[Word]:
    """The words and groups of digits of ``text``."""
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].lower().replace("’", "'")[:_LONGEST_WORD]
        found.append(Word(word, match.start(), match.end(), text[end : match.start()]))
        end = match.end()
    return found


def runs_of(words: Sequence[Word]) -> list[list[Part]]:
    """Numbers that stand side by side, as runs of their parts; "um" and "dash" part none."""
    found: list[list[Part]] = []
    at = 0
    while at < len(words):
        run, after = _run(words, at)
        if run:
            found.append(run)
        at = max(after, at + 1)
    return found


def _run(words: Sequence[Word], at: int) -> tuple[list[Part], int]:
    run: list[Part] = []
    here = at
    while here < len(words) and len(run) < _MOST_PARTS:
        word = words[here].text
        if run and not _GLUE.fullmatch(words[here].glue):
            break
        part, used = _part(words, here, inside=bool(run))
        if used:
            run.append(part)
            here += used
        elif run and word in _FILLERS and _number_comes(words, here + 1):
            here += 1
        else:
            break
    return run, here


def _number_comes(words: Sequence[Word], at: int) -> bool:
    """Whether a number is the next word, or the one after a filler."""
    ahead = words[at : at + 2]
    if ahead and ahead[0].text not in _FILLERS:
        ahead = ahead[:1]
    return any(w.text.isdecimal() or w.text in _NUMBER_WORDS for w in ahead)


def _part(words: Sequence[Word], at: int, *, inside: bool) -> tuple[Part, int]:
    """The next piece alone: :func:`speech.number_words.pieces` gives it from its own words."""
    nothing = Part("", 0, 0, False)
    word = words[at].text
    if word.isdecimal():
        said, used = _written(words, at)
    elif word in _NUMBER_WORDS:
        said, used = _spoken(words, at, inside=inside)
    else:
        return nothing, 0
    if not used:
        return nothing, 0
    follows = words[at + used].text if at + used < len(words) else ""
    if len(said) <= 2 and follows in ("hundred", "thousand") and not word.isdecimal():
        said, used = said + ("00" if follows == "hundred" else "000"), used + 1
    return Part(said, words[at].start, words[at + used - 1].end, not word.isdecimal()), used


def _written(words: Sequence[Word], at: int) -> tuple[str, int]:
    """Digits; "4 thousand 111" is 4111: so "four thousand, one hundred eleven" is looked up."""
    said = words[at].text
    ahead = [word.text for word in words[at + 1 : at + 3]]
    if len(said) > 3 or ahead[:1] != ["thousand"]:
        return said, 1
    rest = ahead[-1] if ahead[-1].isdecimal() and len(ahead[-1]) <= 3 else ""
    return said + rest.zfill(3), 3 if rest else 2


def _spoken(words: Sequence[Word], at: int, *, inside: bool) -> tuple[str, int]:
    """The shortest row of words from ``at`` that is a piece: "double five", "twenty three"."""
    for used in (2, 1):
        ahead = words[at : at + used]
        if len(ahead) < used:
            continue
        parts, taken = pieces(ahead, 0, inside=True)
        if taken == used and (used == 1 or len(parts) == 1 or ahead[0].text in TIMES):
            if (
                not inside
                and ahead[0].text in ("o", "oh", "ohh")
                and not _number_comes(words, at + 1)
            ):
                return "", 0
            return "".join(parts), used
    return "", 0
