"""Words heard while the agent speaks that do not mean to stop it: “mhm”, “right”, its own echo."""

from __future__ import annotations

from rag.conversation import recognise
from rag.rewrite import words as split_words
from rag.types import Reason, Verdict

# Acknowledgements of `rag.conversation` that object, or ask to be left alone.
_OBJECTS = frozenset("no nope nah never nevermind nothing not".split())
_HUMS = frozenset("m mm mmm mhm hm hmm h uh huh um hum eh ah oh ha".split())
# A caller may repeat a word or two of the agent's as a question; an echo brings whole phrases.
_ECHO_WORDS = 4
_ECHO_SHARE = 0.8
# Listening takes few words; to look for more of them takes longer than it is worth.
_MOST_WORDS = 6
# “Uh-huh” comes through a recogniser as “don't hurt” or “but what”: no more words than this.
_MISHEARD_WORDS = 3
# What is heard right lies about -0.1 (speech.types).
_UNSURE = -0.4


def takes_turn(text: str, saying: str = "", reply: str = "") -> bool:
    """Whether ``text``, heard over the sentence ``saying`` of ``reply``, is meant to be answered.

    Not where nothing was recognised, where it only says that the caller listens (unless
    ``saying`` is a question, which it answers), or where it is ``reply`` come back.
    """
    words = split_words(text)
    if not words or _is_echo(words, split_words(reply or saying)):
        return False
    if saying.rstrip().endswith("?") or len(words) > _MOST_WORDS:
        return True
    if _HUMS.issuperset(words):
        return False
    said = recognise(text)
    return said is None or said.reason is not Reason.ACKNOWLEDGED or bool(_OBJECTS & set(words))


def is_mistaken(verdict: Verdict, confidence: float = 0.0) -> bool:
    """Whether what cut the agent was hardly meant to: a word or three that lead nowhere.

    Or one word taken for a goodbye, heard with little ``confidence`` (the recogniser's: 0.0 is
    certain): a call is not hung up for a “yeah” misheard as “bye”.
    """
    words = len(split_words(verdict.query.raw))
    if verdict.reason is Reason.GOODBYE:
        return words == 1 and confidence < _UNSURE
    return verdict.reason is Reason.BELOW_FLOOR and words <= _MISHEARD_WORDS


def _is_echo(heard: list[str], said: list[str]) -> bool:
    if len(heard) < _ECHO_WORDS or not said:
        return False
    return _common(heard, said) >= _ECHO_SHARE * len(heard)


def _common(a: list[str], b: list[str]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for word in a:
        before = 0
        for at, other in enumerate(b, 1):
            before, row[at] = row[at], before + 1 if word == other else max(row[at], row[at - 1])
    return row[-1]
