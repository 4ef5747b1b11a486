"""Words that stand for something said before: "it", "those", "its".

Not every one does: "is it possible to park", "that" before a clause, "they" for something named in
the same question.
"""

from __future__ import annotations

import re

from rag.follow_up.empty import is_empty
from rag.follow_up.inside import named_inside
from rag.follow_up.subject import runs_of

_POINTING = frozenset(
    "it its they them their theirs these those he him his she her hers that".split()
)
_OF_PEOPLE = frozenset("he him his she her hers".split())
_POSSESSIVE = frozenset("its their his her".split())
_PERSON = re.compile(r"\b(?:doctor|dr|nurse|mr|mrs|ms|miss|professor|dentist|manager|midwife)\b")
_NEW_TOPIC = re.compile(r"\b(?:speaking|talking) (?:of|about)\b|\bthat being said\b")
_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|whose|why|is|are|was|were|do|does|did|can|could|will|would|"
    r"should|has|have|any|tell|describe|explain|give|compare|what's|where's|when's|how's|who's)\b"
)
_BEFORE_THAT = frozenset(
    "what's where's how's when's who's is was are were does did do can will would should about of "
    "for in on at to with from by like "
    "after before during into on than how why what where when and".split()
)
# "Do i have to book that in advance".
_DONE_TO_THAT = frozenset(
    "book get have buy order pay reserve cancel change bring use make take see eat drink try mean "
    "cost need rent return fix repair".split()
)
_DONE_TO_ONE = _DONE_TO_THAT - {"mean", "cost"} | {"does", "borrow", "find", "want"}
_AFTER_DONE = frozenset(
    "in on at for with by from to online now today tomorrow too also here there before after "
    "without myself".split()
)
_AFTER_THAT = frozenset(
    "is was are were does did do can will would should i you we they he she it there".split()
)


def pointing_words(words: list[str], subject: str) -> list[int]:
    """Where in ``words`` the ``subject`` of before is meant; nowhere in what asks nothing."""
    text = " ".join(words)
    if _NEW_TOPIC.search(text) or not _ASKS.search(text):
        return []
    empty_it = any(word == "it" and is_empty(words, at) for at, word in enumerate(words))
    found = []
    for at, word in enumerate(words):
        if word == "1" and _is_one_of_them(words, at):
            found.append(at)
        if word not in _POINTING or (word == "it" and empty_it) or is_empty(words, at):
            continue
        if word in _OF_PEOPLE and not _PERSON.search(subject):
            continue
        if word == "that" and not _stands_for_a_thing(words, at):
            continue
        if named_inside(words, at):
            continue
        found.append(at)
    return found


def is_possessive(word: str) -> bool:
    """Whether ``word`` stands before what belongs to the thing: "its price"."""
    return word in _POSSESSIVE


def _is_one_of_them(words: list[str], at: int) -> bool:
    """ "Can i buy one online", "how long does one take": not a number, and no name before it."""
    if not at or words[at - 1] not in _DONE_TO_ONE or runs_of(words[:at]):
        return False
    return at + 1 == len(words) or words[at + 1] in _AFTER_DONE | {"take", "cost", "last"}


def _stands_for_a_thing(words: list[str], at: int) -> bool:
    """Not the "that" of "a test that hurts" or "I heard that you close"."""
    if at + 1 == len(words):
        return at > 0 and words[at - 1] in _BEFORE_THAT | _DONE_TO_THAT
    if at and words[at - 1] in _DONE_TO_THAT:
        return words[at + 1] in _AFTER_DONE
    if at and words[at - 1] not in _BEFORE_THAT:
        return False
    return at > 0 or words[at + 1] not in _AFTER_THAT
