"""What callers say to the offer of a person, and over the promise of one. Pure."""

from __future__ import annotations

import re

from rag.rewrite import words as split_words

_DECLINES = re.compile(
    r"(?:(?:oh|no|nope|nah|actually|please|but) )*"
    r"(?:no|nope|nah|never ?mind|not now|cancel(?: (?:that|it))?|forget (?:it|that)"
    r"|(?:don'?t|do not)(?: (?:connect|transfer) me| do that)?"
    r"|i (?:don'?t|do not) (?:want|need) (?:that|it|to|one|a person|anybody|anyone)(?: .{1,30})?)"
    r"(?: please| thanks| thank you)?"
)
_MEANS_ONE = frozenset("yes yeah yep please person human someone somebody desk frontdesk".split())
_AROUND = frozenset("a an the to with talk speak front from sure ok okay thanks".split())
_TALK = re.compile(r"\b(?:talk|talking|speak|speaking) (?:to|with)\b")


def declines(heard: str) -> bool:
    """Whether all of ``heard`` says that no person is wanted: “no, never mind”."""
    return bool(_DECLINES.fullmatch(" ".join(split_words(heard))))


def takes_up(heard: str) -> bool:
    """Whether ``heard`` wants the person that was offered: “yes”, “a person, please”."""
    words = set(split_words(heard))
    return bool(words & _MEANS_ONE) and words <= _MEANS_ONE | _AROUND


def wants_to_talk(text: str) -> bool:
    """Whether cleaned ``text`` is about talking to somebody, known or not: “to a hero”, of a human
    who was misheard.
    """
    return bool(_TALK.search(text))
