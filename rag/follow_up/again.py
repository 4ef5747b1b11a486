""" "What did you say the number was": asked of what was spoken, not of the documents."""

from __future__ import annotations

import re
from typing import NamedTuple

from rag.follow_up.state import State

_ASKED = re.compile(
    r"\bdid you (?:just )?(?:say|tell|mention|give)\b"
    r"|\byou(?: just| had)? (?:said|told|mentioned|gave)\b"
    r"|\b(?:what|when|where|which|who) you say\b"
    r"|\b(?:what|when|where|which) (?:was|were|is) (?:that|the) \S+(?: \S+)? "
    r"(?:again|you (?:said|gave|mentioned))\b"
)
# "Is it 555 0199", "no it was twenty dollars": the answer is what was said, not a yes.
_CONTESTED = re.compile(
    r"^(?:(?:no|and|but|wait|sorry) )*(?:(?:is|was|isn't|wasn't) (?:it|that)"
    r"|(?:i (?:think|thought) )?(?:it|that)(?:'s| is| was)) (?:not )?\d[\d:. ]*"
    r"(?: (?:dollars|cents|percent|am|pm|minutes|hours|days))?$"
)
_OPENS = re.compile(r"^(?:and |but |sorry )?(?:what|when|where|which|how much|how long|who)\b")
# What each noun looks like where it was said.
_LOOKS = {
    "number": re.compile(r"\d{3}[- .]?\d{4}|\d{3}[- ]\d{3}"),
    "price": re.compile(r"[$£€]\s?\d|\d+ (?:dollars|pounds|euros)"),
    "time": re.compile(r"\d+(?::\d\d)?\s?[ap]\.?m|\d:\d\d|\bnoon\b|\bmidnight\b"),
    "address": re.compile(
        r"\d+ (?:\w+ ){1,3}(?:street|st|avenue|ave|road|rd|drive|lane|blvd)\b", re.I
    ),
    "room": re.compile(r"\b(?:room|suite|floor|desk)\b", re.I),
    "day": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I),
}
_NAMES = {
    "number": "number", "phone": "number", "price": "price", "cost": "price", "fee": "price",
    "much": "price", "time": "time", "hours": "time", "when": "time", "address": "address",
    "room": "room", "suite": "room", "day": "day",
}  # fmt: skip


class Again(NamedTuple):
    """The question that was answered so, with the noun asked for, and where it was said."""

    text: str
    prefer: tuple[str, ...]
    noun: str


def asked_again(cleaned: str, state: State) -> Again | None:
    """What was spoken of the kind that ``cleaned`` asks back for; None if it asks nothing back.

    The latest turn that said something of the kind is meant, not simply the last turn.
    """
    if _CONTESTED.match(cleaned) and state.turns and state.turns[-1].said:
        last = state.turns[-1]
        return Again(last.question, tuple(said.passage for said in last.said), "")
    asked = _ASKED.search(cleaned)
    if not asked or not _OPENS.match(cleaned):
        return None
    noun = next((word for word in cleaned.split() if word in _NAMES), "")
    looks = _LOOKS[_NAMES[noun]] if noun else re.compile("")
    for turn in reversed(state.turns):
        prefer = tuple(said.passage for said in turn.said if looks.search(said.text))
        if prefer:
            words = "" if not noun or noun in turn.question.split() else noun
            return Again(f"{turn.question} {words}".strip(), prefer, noun)
    return None
