"""Recogniser repair: a second query for a question that may have been misheard.

``second_query`` makes it; ``wins`` says whether its result may be spoken in place of the first's.
"""

from __future__ import annotations

from rag.repair.dictionary import MISHEARINGS_FILE, PROPOSED_FILE, Mishearing, mishearing, read
from rag.repair.lexicon import Lexicon
from rag.repair.second import RULE, Change, Repaired, Rule, has_unknown, second_query, wins

__all__ = [
    "MISHEARINGS_FILE",
    "PROPOSED_FILE",
    "RULE",
    "Change",
    "Lexicon",
    "Mishearing",
    "Repaired",
    "Rule",
    "has_unknown",
    "mishearing",
    "read",
    "second_query",
    "wins",
]
