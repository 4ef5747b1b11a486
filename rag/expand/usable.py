"""Whether a made question may stand for its passage, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable

from rag import numbers
from rag.pieces import stopwords
from rag.rewrite import words
from rag.types import Passage
from rag.verify import missing_numbers

_FEWEST_WORDS, _MOST_WORDS = 3, 16
_ASKING = frozenset("much many long often far late early time name".split())


def as_asked(question: str) -> str:
    """``question`` in the words in which a caller's is looked up: lower case, no marks."""
    return " ".join(numbers.digits(words(question)))


def usable(question: str, passage: Passage) -> bool:
    """Whether a question of :func:`as_asked` is 3 to 16 words and states no number of its own.

    A number that the passage does not hold would lead its callers to the passage, and one without
    a word of substance ("how much is", which a small model made) every caller.
    """
    found = question.split()
    has_subject = not (stopwords() | _ASKING).issuperset(found)
    if not has_subject or not _FEWEST_WORDS <= len(found) <= _MOST_WORDS:
        return False
    text = f"{passage.heading} {passage.text}"
    return not missing_numbers(question, f"{text} {as_asked(text)}")


def only_usable(questions: Iterable[str], passage: Passage) -> tuple[str, ...]:
    """Those of ``questions`` that are :func:`usable`, as asked, each once."""
    asked = dict.fromkeys(as_asked(question) for question in questions)
    return tuple(question for question in asked if usable(question, passage))
