"""Words that stand for something said before: "it", "those", "its", "the first one".

Not every "it" does: "is it possible to park", "how long does it take to fast", "that" before a
clause, "they" for something named in the same question.
"""

from __future__ import annotations

import re

_POINTING = frozenset(
    "it its they them their theirs these those he him his she her hers that".split()
)
_OF_PEOPLE = frozenset("he him his she her hers".split())
_POSSESSIVE = frozenset("its their his her".split())
# "it" that stands for nothing said before, unless the sentence ends there.
_EMPTY_IT = re.compile(
    r"\bit(?='s\b| is\b| was\b)?(?= (?:is |was |be )?(?:possible|okay|ok|true|necessary|hard|easy|"
    r"safe|free|better|best|fine|worth|allowed|important|normal|common|legal|a good idea)\b.* "
    r"(?:to|that|if|for)\b)|(?:does|do|will|would|did) (?P<long>it) (?:cost|take)\b.*\bto\b|"
    r"\btime is it\b|\bit (?:rain|snow)\w*|\bis it if\b|\bit makes? (?:an? |sense)|"
    r"\b(?:it|this|that) (?:all )?(?:sounds?|looks?|seems?)\b|\b(?:this|it) is all\b"
)
_PERSON = re.compile(r"\b(?:doctor|dr|nurse|mr|mrs|ms|miss|professor|dentist|manager|midwife)\b")
_NEW_TOPIC = re.compile(r"\b(?:speaking|talking) (?:of|about)\b")
_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|whose|why|is|are|was|were|do|does|did|can|could|will|would|"
    r"should|has|have|any|tell|describe|explain|give|compare|what's|where's|when's|how's|who's)\b"
)
_CLAUSE = frozenset("and but if when before after because so since while although that or".split())
_OPENS_CLAUSE = frozenset(
    "how what when where which who why is are was were do does did can could will would should has "
    "have i you we they it he she".split()
)
_AUX = frozenset("is are was were do does did can could will would should has have a the".split())
_BEFORE_THAT = frozenset(
    "what's where's how's when's who's is was are were does did do can will would should about of "
    "for in on at to with from by like "
    "after before during into on than how why what where when and".split()
)
_AFTER_THAT = frozenset(
    "is was are were does did do can will would should i you we they he she it there".split()
)


def pointing_words(words: list[str], is_named: list[bool], subject: str) -> list[int]:
    """Where in ``words`` the ``subject`` of before is meant; nowhere in what asks nothing.

    ``is_named`` tells of each word whether it names a thing: "they" after such a word and a
    conjunction stands for that word.
    """
    text = " ".join(words)
    if _NEW_TOPIC.search(text) or not _ASKS.search(text):
        return []
    empty = {text[: m.start()].count(" ") for m in _EMPTY_IT.finditer(text)}
    found = []
    for at, word in enumerate(words):
        if word not in _POINTING or _named_inside(words, is_named, at):
            continue
        if word in ("it", "that") and (at in empty or (word == "it" and empty)):
            continue
        if word in _OF_PEOPLE and not _PERSON.search(subject):
            continue
        if word in _POSSESSIVE and _has_owner(words, is_named, at):
            continue
        if word == "that" and not _stands_for_a_thing(words, at):
            continue
        found.append(at)
    return found


def is_possessive(word: str) -> bool:
    """Whether ``word`` stands before what belongs to the thing: "its price"."""
    return word in _POSSESSIVE


def _named_inside(words: list[str], is_named: list[bool], at: int) -> bool:
    """Whether a thing is named before a clause of its own that the word at ``at`` stands in."""
    starts = [
        n
        for n in range(1, at)
        if words[n] in _CLAUSE and (n + 1 == at or words[n + 1] in _OPENS_CLAUSE)
    ]
    return any(is_named[n] for start in starts for n in range(start))


def _has_owner(words: list[str], is_named: list[bool], at: int) -> bool:
    """ "Do companies hire their staff": the thing named after the auxiliary owns them."""
    return any(is_named[n] and words[n - 1] in _AUX for n in range(1, at))


def _stands_for_a_thing(words: list[str], at: int) -> bool:
    """Not the "that" of "a test that hurts" or "I heard that you close"."""
    if at + 1 == len(words):
        return at > 0 and words[at - 1] in _BEFORE_THAT | {"cost", "take", "mean", "need"}
    if at and words[at - 1] not in _BEFORE_THAT:
        return False
    return at > 0 or words[at + 1] not in _AFTER_THAT
