"""A question that points back, with a pronoun or without one, filled with the subject."""

from __future__ import annotations

import re

from rag.follow_up.openings import CONTEXT_WORDS
from rag.follow_up.pronouns import is_possessive, pointing_words
from rag.follow_up.state import State
from rag.follow_up.subject import PARTS, is_plural, is_specific, runs_of
from rag.follow_up.terms import term

# Of a business, not of the thing asked about before.
_OF_THE_BUSINESS = frozenset(
    "address hours phone number email website location directions parking park open close opening "
    "closing holiday holidays appointment appointments".split()
)
_ADDRESSED = frozenset("you your you're yours we i my me i'm i've".split())
_NOT_WHOSE = frozenset("in on to is are was were become".split())
_TURNS_BACK = 4
_LONGEST_POINTED, _MOST_NAMED = 16, 2
_LONGEST_IMPLIED = 9
_WHOSE = re.compile(r"\b(?:the|any|other|some|how many|which|what)\b")


def pointed(cleaned: str, state: State) -> tuple[str, str]:
    """``cleaned`` with a subject in the place of its pronoun, and that subject.

    Both are "" if it has no pronoun to fill, or names enough to be understood without.
    """
    words = cleaned.split()
    named = [is_specific(word) for word in words]
    if not state.subject or len(words) > _LONGEST_POINTED or sum(named) > _MOST_NAMED:
        return "", ""
    at = next(iter(pointing_words(words, state.subject)), None)
    if at is None:
        return "", ""
    stands_for = _agreeing(words[at], state)
    after = words[at + 1 :]
    subject = stands_for.split()
    if words[at] in ("that", "these", "those") and after:
        # "that test": the noun stays, unless the subject says it already.
        said = term(after[0]) and term(after[0]) in {term(word) for word in subject}
        if said or after[0] in ("1", "one", "ones"):
            after = after[1:]
        elif is_specific(after[0]):
            return "", ""
    if is_possessive(words[at]):
        own = {term(word) for word in after} - {""}
        subject = [word for word in subject if term(word) not in own]
    return " ".join([*words[:at], *subject, *after]), stands_for


def _agreeing(pronoun: str, state: State) -> str:
    """The latest subject of the pronoun's number: "it" is not "the side effects"."""
    if pronoun == "that":
        return state.subject
    if pronoun == "1":
        return state.subject
    plural = pronoun in ("they", "them", "their", "theirs", "these", "those")
    words = state.question.split()[:CONTEXT_WORDS]
    named = [" ".join(words[start:end]) for start, end in runs_of(words)]
    older = (turn.subject for turn in reversed(state.turns[-_TURNS_BACK:]))
    subjects = [state.subject, *named, *older]
    agreeing = (one for one in subjects if one and is_plural(one) is plural)
    return next(agreeing, state.subject)


def implied(cleaned: str, state: State) -> str:
    """``cleaned`` with the subject behind it, if it asks for a part of it without saying so.

    "What are the side effects" names nothing of its own; "what are your hours" is asked of the
    business, whatever was asked before.
    """
    words = cleaned.split()
    if not state.subject or len(words) > _LONGEST_IMPLIED or not _WHOSE.search(cleaned):
        return ""
    if any(word in _ADDRESSED or word in _OF_THE_BUSINESS for word in words):
        return ""
    named = [is_specific(word) for word in words]
    if any(named) and not _asks_a_part(words, named):
        return ""
    return f"{cleaned} {state.subject}"


def _asks_a_part(words: list[str], named: list[bool]) -> bool:
    """ "The impact on society", "the types": of something, and nothing says of what.

    But not "is breakfast included in the price".
    """
    for at, word in enumerate(words):
        if word in PARTS and not any(named[:at]) and words[at - 1] not in ("its", "their"):
            return at + 1 == len(words) or words[at + 1] in _NOT_WHOSE
    return False
