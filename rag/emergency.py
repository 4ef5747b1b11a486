"""A caller in danger hears where help is, not the nearest fact about babies.

What is said is still a sentence of the documents: the question is looked up as one about a medical
emergency, and only a sentence that tells whom to call is an answer to it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rag.types import Query

CHANGE = "emergency"
_QUESTION = "medical emergency"
_HERS = r"(?:my|the|his|her|a|our) \w+"
_DANGER = re.compile(
    r"\b(?:not breathing|stopped breathing|can ?(?:no|')?t breathe|heart attack|chest pains?"
    rf"|(?:i|he|she|{_HERS})(?:'s| is| am|'m| has|'ve| have|'s)? (?:having |had )?(?:a )?"
    r"(?:stroke|seizure|choking|unconscious|bleeding|collapsed|passed out|overdosed?)"
    r"|(?:swallowed|drank|took) (?:some )?(?:poison|bleach|too many (?:pills|tablets))"
    r"|kill (?:my|him|her)self|suicid\w+|(?:want|going) to die|somebody collapsed|someone collapsed"
    r"|call (?:an? )?(?:ambulance|nine one one|9 ?1 ?1|911))\b"
)
_HELP = re.compile(r"\b(?:911|112|999|000|ambulance|emergency (?:room|services|number))\b", re.I)


def as_emergency(query: Query) -> Query:
    """``query``, or what is looked up for it where someone seems to be in danger."""
    if not _DANGER.search(query.raw.lower()):
        return query
    return replace(query, text=_QUESTION, focus=(), changes=(*query.changes, CHANGE))


def no_help(query: Query, sentence: str) -> str:
    """Why ``sentence`` is no answer to a caller in danger, or ''."""
    if CHANGE not in query.changes or _HELP.search(sentence):
        return ""
    return "someone may be in danger, and it does not say whom to call"
