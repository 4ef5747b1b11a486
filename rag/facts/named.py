"""Places told apart by a letter or a number: lot A is not lot B, and not the visitor lot."""

from __future__ import annotations

import re

_KINDS = (
    r"lots?|rooms?|buildings?|gates?|terminals?|zones?|doors?|wings?|platforms?|routes?|bus(?:es)?"
    r"|halls?|courts?|levels?|suites?|wards?|garages?|entrances?"
)
# "The room a bit longer": an "a" is a name only where no noun can follow.
_NAMED = re.compile(
    rf"\b({_KINDS}) ([b-h]|a(?=$|[?.,]| (?:is|are|has|have|at|and|or|for|on|cost|open|close))"
    r"|\d{1,4})\b(?! ?(?:[ap]\.?m|%|minute|hour|day|dollar))"
)
_ANY = re.compile(rf"\b({_KINDS})\b")


def other_one(question: str, sentence: str) -> str:
    """Why ``sentence`` is about another one than ``question`` names, or ''; both lower case."""
    stated = None
    for kind, name in _NAMED.findall(question):
        stated = stated if stated is not None else _NAMED.findall(sentence)
        own = {n for k, n in stated if _bare(k) == _bare(kind)}
        # "The visitor lot" is not lot A; "general wards" may well be ward 6 too.
        is_any = name.isalpha() and _bare(kind) in map(_bare, _ANY.findall(sentence))
        if name not in own and (own or is_any):
            said = f"{_bare(kind)} {min(own)}" if own else f"a {_bare(kind)}"
            return f"asked about {_bare(kind)} {name}, said of {said}"
    return ""


def _bare(kind: str) -> str:
    return kind.removesuffix("es") if kind == "buses" else kind.removesuffix("s") or kind
