"""The words of one knowledge base, as a misheard caller may have said them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rag import days
from rag.pieces import stem, stopwords
from rag.repair.nearness import Phrases

if TYPE_CHECKING:  # which reads the dictionary of mishearings
    from rag.documents import KnowledgeBase

# Word pieces of English, the most frequent first.
_ENGLISH = Path(__file__).parents[1] / "data" / "minilm-vocab.txt"
_COMMON = 1000
_MOST_PHRASES = 10_000
_SHORTEST = 3
_PART = re.compile(r"[.!?;:,()|#*\n]+")
# As rag.rewrite.words reads them, but for 40,000 passages in a second or two.
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, eq=False, slots=True)
class Lexicon:
    """What can be meant: the words of the documents, and two of them that stand side by side.

    ``stems`` are those of every word of the documents. Read-only, safe to share.
    """

    phrases: Phrases
    stems: frozenset[str]

    @classmethod
    def of(cls, kb: KnowledgeBase) -> Lexicon:
        """The lexicon of a knowledge base."""
        return cls.made(cls.plain(kb))

    @classmethod
    def made(cls, plain: Mapping[str, Sequence[str]]) -> Lexicon:
        """The lexicon that :meth:`plain` wrote."""
        return cls(Phrases([*plain["phrases"]]), frozenset(plain["stems"]))

    @staticmethod
    def plain(kb: KnowledgeBase) -> dict[str, list[str]]:
        """What the lexicon of a knowledge base is made of, to be kept; 8 s for 1.6 million words.

        Of a large one the most frequent phrases only.
        """
        counts: Counter[str] = Counter()
        stems: set[str] = set()
        for text in kb.texts.values():
            for part in _PART.split(text.lower().replace("’", "'")):
                said = _WORD.findall(part)
                stems.update(map(stem, said))
                counts.update(_phrases(said))
        kept = [phrase for phrase, _ in counts.most_common(_MOST_PHRASES)]
        return {"phrases": kept, "stems": sorted(stems)}

    def knows(self, word: str) -> bool:
        """Whether a word may well have been said: of the documents, common, a number or a day."""
        bare = word.partition("'")[0]
        return (
            len(bare) == 1
            or any(char.isdigit() for char in word)
            or bare in stopwords()
            or bare in common_words()
            or self.holds(word)
            or bool(days.WEEKDAY_WORD.fullmatch(word))
        )

    def holds(self, word: str) -> bool:
        """Whether the documents have the word, whatever its ending."""
        return not any(char.isdigit() for char in word) and stem(word) in self.stems


def _phrases(said: Sequence[str]) -> Iterable[str]:
    """The words of substance, and pairs that end in one."""
    plain = stopwords()
    for n, word in enumerate(said):
        if len(word) < _SHORTEST or word in plain or any(char.isdigit() for char in word):
            continue
        yield word
        if n and said[n - 1].isalpha() and (len(said[n - 1]) > 1 or said[n - 1] == "a"):
            yield f"{said[n - 1]} {word}"


@cache
def english_words() -> tuple[str, ...]:
    """Whole words of English, the most frequent first."""
    lines = _ENGLISH.read_text("utf-8").splitlines()
    return tuple(line for line in lines if len(line) > 1 and line.isascii() and line.isalpha())


@cache
def common_words() -> frozenset[str]:
    """Words that people say about anything; one of them is taken as said."""
    return frozenset(english_words()[:_COMMON])


@cache
def all_english_words() -> frozenset[str]:
    """Every word of :func:`english_words`."""
    return frozenset(english_words())
