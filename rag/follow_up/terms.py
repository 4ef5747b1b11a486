"""Content words: what a question is about, its forms folded together.

Shared by the rules, by the guard on a model's rewrite, and by the benchmark against human ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from rag.pieces import stem, stopwords
from rag.rewrite import default_fillers, words

# Function words that the list of a knowledge base's search may leave in.
_MORE_FUNCTION_WORDS = frozenset(
    "what's it's that's there's where's how's who's i'm i've i'd i'll you're you've we're they're "
    "don't doesn't didn't isn't aren't wasn't can't couldn't won't wouldn't shouldn't let's "
    "this these those into onto upon between among within without through during over under "
    "again further once each other another same such more most much many few very really own "
    "while because until against being having doing anything something someone anyone "
    "me us him her his hers theirs ours yours itself himself themselves "
    "before after around along ever else still already out up down off back now often yet both "
    "either neither".split()
)


def content_words(text: str) -> tuple[str, ...]:
    """The stems of the words of ``text`` that carry a subject, in their order, each once."""
    return tuple(dict.fromkeys(filter(None, (term(word) for word in words(text)))))


@cache
def term(word: str) -> str:
    """The stem of one lower-case word, or "" for a function word or a filler."""
    bare = word.removesuffix("'s").removesuffix("'")
    if is_function_word(word) or is_function_word(bare):
        return ""
    return stem(bare)


@cache
def is_function_word(word: str) -> bool:
    """Whether ``word`` carries no subject of its own."""
    return word in stopwords() or word in _MORE_FUNCTION_WORDS or word in default_fillers()


def terms(text: Iterable[str]) -> frozenset[str]:
    """The content words of several texts together."""
    return frozenset(found for part in text for found in content_words(part))
