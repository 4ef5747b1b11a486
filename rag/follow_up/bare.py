"""Questions without a noun: "for how long", "where", "how much". Of what was asked about before."""

from __future__ import annotations

import re

_BARE = re.compile(
    r"^(?:(?:and|but|or|so|okay) )?(?:(?:for|until|till|since|at|from|on) )?"
    r"(?:how (?:long|much|many|often|late|early|far|soon)|where|when|who|what time"
    r"|(?:what|which) (?:day|days|room|floor|time|times|price))"
    r"(?: (?:exactly|then|though|please|again))?$"
)
# What the question before asked for, which is not asked now.
_ASKED = re.compile(
    r"^(?:and )?(?:(?:for|until|from|at|on) )?(?:what time|how (?:much|many|long|often|late|early"
    r"|far|soon)|(?:what|which) (?:day|days|room)|what|what's|when|where|which|who) "
)
_AND = re.compile(r"^(?:and|but|or|so|okay) ")


def bare(cleaned: str, before: str) -> str:
    """``cleaned`` with the rest of the question before: "for how long is parking free".

    "" if it names something itself.
    """
    if not _BARE.match(cleaned):
        return ""
    return f"{_AND.sub('', cleaned)} {_ASKED.sub('', before)}"
