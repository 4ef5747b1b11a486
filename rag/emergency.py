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
_WHO = (
    r"(?:i|he|she|they|someone|somebody|(?:my|his|her|our|the|a) (?:\w+ )?(?:baby|child|kid|son"
    r"|daughter|husband|wife|partner|mom|mum|mother|dad|father|friend|brother|sister|boy|girl|man"
    r"|woman|person|grandmother|grandfather|grandma|grandpa|neighbou?r|colleague|patient))"
)
_BE = r"(?:'s| is|'m| am|'re| are|s)?(?: just| now)?"
_HAS = r"(?:'s| has|'ve| have| had|s)?(?: just| had| having)?"
_DANGER = re.compile(
    r"\b(?:(?:not|n't|isn't|isnt|stopped) breathing|can(?:'t|not|t| not) breathe?\b(?! easy)"
    rf"|{_WHO}{_BE} (?:choking|unconscious|bleeding(?! gums)|turning blue|not responding)"
    rf"|{_WHO}{_HAS} (?:collapsed|passed out|overdosed?|fainted and)"
    rf"|{_WHO}(?:'s|'m| is| am| are| was)? ?(?:having|had|just had|has had|may be having)"
    r" (?:a |an )?(?:stroke|seizure|heart attack|chest pains?)"
    rf"|{_WHO}(?:'s| has|'ve| have)? (?:got )?(?:really |very )?(?:bad |severe )?chest pains?"
    r"|won't (?:wake up|stop bleeding)|(?:i |you )?(?:think|believe) .{0,20}heart attack$"
    r"|(?:swallowed|drank|took) (?:some )?(?:poison|bleach|too many (?:pills|tablets))"
    r"|kill (?:my|him|her)self|(?:i'm|i am|feel|feeling) suicidal|(?:want|going) to die\b"
    r"|(?:please |must |you |to )?call (?:an ambulance|nine one one|9 ?1 ?1\b))"
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
