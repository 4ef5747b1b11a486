"""Runs of digits with the letters that belong to them: "W 2 2 0 9", "XYZ884420193", "DE89 3704"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.privacy.words import Part, runs_of
from speech.number_words import Word

_GLUED = ("", "-")
_LONGEST_PREFIX = 4
_OWN_WORDS = frozenset("aio")


@dataclass(frozen=True, slots=True)
class Run:
    """Digits that were said or written side by side, and the letters among them."""

    parts: tuple[Part, ...]
    start: int
    end: int
    letters: int

    @property
    def digits(self) -> str:
        """All of them, in order."""
        return "".join(part.said for part in self.parts)

    @property
    def one_by_one(self) -> bool:
        """Whether most were said alone: "four one one one", "4-1-1-1"."""
        alone = sum(len(p.said) == 1 or (p.is_word and len(set(p.said)) == 1) for p in self.parts)
        return 2 * alone > len(self.parts)


def id_runs(words: Sequence[Word]) -> list[Run]:
    """The runs of ``words``, each with its letters; runs that letters join are one."""
    place = {word.start: at for at, word in enumerate(words)}
    ends = {word.end: at for at, word in enumerate(words)}
    found: list[Run] = []
    for parts in runs_of(words):
        first, last = place[parts[0].start], ends[parts[-1].end]
        left, letters = _letters_before(words, first)
        right, more = _letters_after(words, last)
        run = Run(tuple(parts), words[left].start, words[right].end, letters + more)
        if found and letters and words[left].start < found[-1].end + 2:
            before = found.pop()
            run = Run(before.parts + run.parts, before.start, run.end, before.letters + run.letters)
        found.append(run)
    return found


def _letters_before(words: Sequence[Word], first: int) -> tuple[int, int]:
    """The first word of the letters that lead to word ``first``, and how many letters."""
    left, letters = first, 0
    while left > 0 and words[left].glue in (*_GLUED, " ", ", ", ". "):
        word = words[left - 1].text
        glued = words[left].glue in _GLUED and len(word) <= _LONGEST_PREFIX
        if not word.isalpha() or not (len(word) == 1 or glued):
            break
        left, letters = left - 1, letters + len(word)
    while left < first and words[left].text in _OWN_WORDS and words[left + 1].glue == " ":
        if left + 1 < first:  # "a b c 1 2": the a is one of them
            break
        left, letters = left + 1, letters - 1
    return left, letters


def _letters_after(words: Sequence[Word], last: int) -> tuple[int, int]:
    """The last word of the letters glued to word ``last``, and how many letters."""
    if last + 1 < len(words) and words[last + 1].glue in _GLUED:
        word = words[last + 1].text
        if word.isalpha() and len(word) <= _LONGEST_PREFIX and words[last].text.isdecimal():
            return last + 1, len(word)
    return last, 0
