"""The words of a business that a recogniser should expect."""

from __future__ import annotations

import re

from rag.documents import KnowledgeBase
from rag.pieces import stopwords

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST = 3


def vocabulary(kb: KnowledgeBase) -> tuple[str, ...]:
    """The content words of the documents as they are spelled there, sorted.

    A word that also stands in lower case is listed in lower case only: its capital was the
    sentence's.
    """
    found = {m.group() for text in kb.texts.values() for m in _WORD.finditer(text)}
    lower = {word.lower() for word in found if word.islower()}
    kept = {word.lower() if word.lower() in lower else word for word in found}
    unheard = stopwords()
    return tuple(sorted(w for w in kept if len(w) >= _SHORTEST and w.lower() not in unheard))
