"""What a sentence is compared with: the sentences of the passages it cites, the nearest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag.grounding.words import Word, content, plain, words
from rag.sentences import split_sentences

_MOST_SENTENCES = 400
# A sentence that is longer than any is a page without stops; it is looked at in parts.
_LONGEST = 1500
_ASKS = (
    "is are was were do does did can could will would shall should may have has had what when "
    "where which who how why anything any"
).split()
_ANY_ASKS = "|".join([*_ASKS, *(word.capitalize() for word in _ASKS)])
_CAPITAL_ASKS = "|".join(word.capitalize() for word in _ASKS)
_QUESTION = re.compile(
    rf"(?:^\W*(?:(?:[Aa]nd|[Ss]o|[Oo]r|[Oo][Kk]|[Aa]lso),? )?(?:{_ANY_ASKS})"
    rf"|(?<=\w )(?:{_CAPITAL_ASKS}))\b[^?]*\?\W*$"
)
# A sentence of these alone says nothing of the business.
_COURTESIES = frozenset(
    "afraid agree apologies assist assistance check glad good great happy hear hello help hold "
    "let moment nice perfect please pleased question right see sorry thank think understand "
    "welcome wonderful".split()
)
# What a word is worth that a sentence before has.
_LESS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its words.

    ``content`` are the words that name something, ``stems`` those of all words.
    """

    text: str
    words: tuple[Word, ...]
    content: tuple[Word, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sentences of some passages; ``stems`` are those of all words."""

    sentences: tuple[Sentence, ...]
    stems: frozenset[str]

    def nearest(self, said: Sentence, most: int) -> list[Sentence]:
        """At most ``most`` sentences that share words with ``said``, those that share most first.

        The first one shares most; each further one adds most to what those before it have.
        """
        wanted = {word.stem: word.rarity for word in said.content}
        shared = [(one, wanted.keys() & one.stems) for one in self.sentences]
        # Words of no weight decide between equals, then the shorter sentence.
        ties = [len(said.stems & one.stems) / (1 + len(one.words)) for one in self.sentences]
        left = set(range(len(shared)))
        chosen: list[Sentence] = []
        while left and len(chosen) < most:
            best = max(left, key=lambda n: (sum(wanted[s] for s in shared[n][1]), ties[n]))
            left.remove(best)
            chosen.append(shared[best][0])
            for found in shared[best][1]:
                wanted[found] /= _LESS
        return chosen


@lru_cache(maxsize=256)
def evidence_of(passages: tuple[str, ...], around: str = "") -> Evidence:
    """The sentences of ``passages``; the words of ``around`` are known too."""
    texts = [line for one in passages for line in _lines(one)][:_MOST_SENTENCES]
    sentences = tuple(sentence_of(text) for text in texts)
    stems = frozenset(s for one in sentences for s in one.stems)
    return Evidence(sentences, stems | sentence_of(around).stems if around else stems)


@lru_cache(maxsize=2048)
def sentence_of(text: str) -> Sentence:
    """``text`` as one sentence."""
    text = plain(text)
    found = words(text)
    return Sentence(text, found, content(found), frozenset(word.stem for word in found))


def stated(said: str) -> list[str]:
    """The sentences of ``said`` that state something: questions and courtesies do not.

    A question that runs on from a statement is cut off; one that names a figure states something.
    """
    found = (_QUESTION.sub(_without_figures, one).strip() for one in split_sentences(said))
    return [one for one in found if _states(one)]


def _without_figures(question: re.Match[str]) -> str:
    text = question.group()
    return text if any(word.is_number for word in sentence_of(text).words) else ""


def _states(said: str) -> bool:
    words = sentence_of(said).content
    return any(word.text not in _COURTESIES for word in words)


def _lines(text: str) -> list[str]:
    return [
        sentence[start : start + _LONGEST]
        for line in text.split("\n")
        for sentence in split_sentences(line)
        for start in range(0, len(sentence), _LONGEST)
    ]
