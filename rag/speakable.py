"""Whether a sentence of a document is meant for a caller's ear."""

from __future__ import annotations

import re
from functools import lru_cache

from rag.readers.instructions import instruction, short

# "A fitting costs $75 [kb-fees#9]": which passage says so is no part of what it says.
_NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+#\d+"
_CITATION = re.compile(rf"\s?[\[(]\s?{_NAME}(?:[,;\s]\s?{_NAME})*\s?[\])]")
_ID = re.compile(rf"\b{_NAME}\b")
# A label before what is said; "the back door is for staff only" is for callers too.
_STAFF = re.compile(
    r"^\W*(?:note (?:to|for) |for )?(?:the )?(?:staff|internal use|internal)(?: only)?"
    r"(?: ?[:.] | [–—-] )"
    r"|(?:^\W*|[.:;] )(?:please )?(?:tell|assure) (?:the |all |any |every )?"
    r"(?:callers?|patients?|guests?|customers?|clients?)\b",
    re.I,
)
_MARKUP = re.compile(r"<\|?/?[A-Za-z][^<>]*>|=[A-Z]+\(|^\s*[{\[]\s*[\"']")


def without_citations(text: str) -> str:
    """``text`` without the passage ids that it cites in brackets."""
    return _CITATION.sub("", text)


@lru_cache(maxsize=16384)  # the sentences of a knowledge base come again with every question
def not_for_callers(sentence: str) -> str:
    """Why a sentence must not be read to a caller, or ''.

    It speaks to a language model or to the staff, hides characters, is markup, or names a
    passage by its id.
    """
    found = instruction(sentence)
    if found:
        return found
    for what, pattern in (("a note to staff", _STAFF), ("markup", _MARKUP), ("an id", _ID)):
        if match := pattern.search(without_citations(sentence)):
            return f"{what}: {short(match.group())!r}"
    return ""
