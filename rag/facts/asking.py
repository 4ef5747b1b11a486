"""What a question asks for."""

from __future__ import annotations

import re
from functools import lru_cache

from rag import days
from rag.facts.kinds import kind_asked
from rag.facts.opposites import AUDIENCE, one_sided, sides
from rag.facts.reading import content
from rag.facts.services import services
from rag.facts.types import Qualifiers, Slots
from rag.pieces import stem

_YES_NO = re.compile(
    r"(?:(?:and|but|so|um|uh|hi|yes|okay|ok|well)[, ]+)*"
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|may|has|have|am)(?:n't)? "
)
_PARTS = re.compile(r"(?<=[.!?])\s+")
# Opposites of a thing that is not wanted, or done already: "we're done with the deposit".
_OUT = re.compile(
    r"\b(?:not|n't|without|never|other than|instead of|rather than|apart from|thanks for|besides)\b"
    r"[^,.?]*"
)
# Asked about nothing in particular: what kind of value is wanted is a slot of its own.
_GENERAL = frozenset(
    stem(word)
    for word in (
        "much many long time soon far often late early get go come like need want please cost "
        "price charge fee pay hour day um uh hello hi so just also okay ok thanks actually right "
        "know tell say thing something anything one two there here now still really way bit lot "
        "let got going would could when what where how which who why i'm i've i'd it's don't "
        "that's what's you've we're we've we'd let's yeah yes no not if or and"
    ).split()
)
_ENDS = frozenset(("opening", "closing"))
_UNTIL = re.compile(r"\b(?:until (?:when|what)|till when|how late|how long are .* open)\b")


@lru_cache(maxsize=256)
def slots(question: str) -> Slots:
    """The slots of ``question``, as it was written or heard.

    Of several sentences the last is what is asked; the others only tell what it is about.
    """
    text = question.lower().replace("’", "'").strip()
    asked = _PARTS.split(text)[-1]
    kind = kind_asked(asked)
    meant = _OUT.sub(" ", asked)
    named = sides(meant)
    if _UNTIL.search(asked):
        named -= {"opening"}
    named = one_sided(named)
    if kind not in ("time", "when"):
        named -= _ENDS
    return Slots(
        text=text,
        kind=kind,
        asked=content(asked) - _GENERAL,
        subject=content(text) - _GENERAL,
        attribute=named,
        qualifiers=Qualifiers(
            days=days.named_days(meant), audience=named & AUDIENCE, service=services(meant)
        ),
        is_yes_no=not kind and bool(_YES_NO.match(asked)),
    )
