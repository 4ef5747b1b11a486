"""A long answer in parts that a person can listen to.

A voice reads 50 words in about 20 s; callers who want more say so. Nothing is left out and no word
is changed: the parts together are the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_SENTENCES, MOST_WORDS = 2, 50
OFFER = "Shall I go on?"

# Where a sentence that is too long may be broken, best first.
_BREAKS = (re.compile(r"(?<=;)\s+"), re.compile(r"(?<=,)\s+"), re.compile(r"\s+"))
_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|sure|okay|ok|please|mhm|go (?:on|ahead)|carry on|continue|keep going"
    r"|more|read on|the rest|of course|all right|alright|certainly|definitely)\b"
)
_ON = re.compile(r"\b(?:go on|carry on|continue|keep going|more|read on|the rest)\b")
# What may stand around it; any other word makes it a question, or a no.
_AROUND_YES = frozenset(
    "yes yeah yep yup sure okay ok please mhm go on ahead carry continue keep going more read the "
    "rest of course all right alright certainly definitely tell me and then that would be great "
    "good lovely i like to hear it do you can may thanks thank um uh".split()
)
_MOST_YES = 8


def parts(sentences: Sequence[str]) -> tuple[str, ...]:
    """``sentences`` in parts of at most two sentences and 50 words, in their order."""
    found: list[list[str]] = []
    for piece in (piece for sentence in sentences for piece in _pieces(sentence)):
        last = found[-1] if found else []
        words = sum(len(one.split()) for one in (*last, piece))
        if last and len(last) < MOST_SENTENCES and words <= MOST_WORDS:
            last.append(piece)
        else:
            found.append([piece])
    return tuple(" ".join(part) for part in found)


def asks_for_more(words: str) -> bool:
    """Whether ``words`` ask to go on, and do not only say yes."""
    return wants_more(words) and bool(_ON.search(words))


def wants_more(words: str) -> bool:
    """Whether ``words``, lower case, answer :data:`OFFER` with yes."""
    said = words.split()
    return bool(0 < len(said) <= _MOST_YES and _AROUND_YES.issuperset(said) and _YES.search(words))


def _pieces(sentence: str) -> list[str]:
    """A sentence whole, or broken before it has too many words."""
    found = []
    while len(sentence.split()) > MOST_WORDS:
        at = _break(sentence)
        found.append(sentence[:at].rstrip())
        sentence = sentence[at:].lstrip()
    return [*found, sentence]


def _break(sentence: str) -> int:
    """Where to break: the last place of the best kind in the second half of what fits."""
    fits = [word.end() for word in re.finditer(r"\S+", sentence)][MOST_WORDS - 1]
    for kind in _BREAKS:
        places = [one.start() for one in kind.finditer(sentence, 0, fits + 1)]
        if places and places[-1] >= fits // 2:
            return places[-1]
    return fits
