"""The words beside a number that say what it is."""

from __future__ import annotations

import re
from functools import lru_cache

from agent.privacy.kinds import Kind

_REACH = 70
"""Letters before a number in which its cue is looked for: about twelve words."""

_NO = r"(?:\s+(?:number|numbers|no|id|code|card|is|was|i\.?d|num)\b|'s\b|\s*[:#])"
_CUES = {
    Kind.CARD: re.compile(
        r"\b(?:(?:credit|debit|bank|gift)\s+card|card|visa|master\s?card|amex|american express|"
        r"discover|security code|c\s?v\s?[vc]2?|on the (?:back|front)|jcb|diners)\b",
        re.I,
    ),
    Kind.PHONE: re.compile(
        r"\b(?:phone|cell|mobile|call|calling from|reach|text|ring|dial|tel|telephone|fax|"
        r"area code|whatsapp|(?:home|work|best|old|my|her|his)\s+number|contact|message at|"
        r"landline)\b",
        re.I,
    ),
    Kind.ACCOUNT: re.compile(
        r"\b(?:account|acct|a/c|ssn|social(?: security)?|pin|iban|routing|policy|invoice|"
        r"confirmation|reference|ref|passport|last (?:four|4)|passcode|password|subscriber|"
        r"member(?:ship)?|driver'?s licen[cs]e|sort code)\b"
        r"|\b(?:insurance|patient|group|record|chart|order|case|claim|customer|licen[cs]e|"
        r"medicare|medicaid|tracking|ticket|booking|file|code|registration|plan)" + _NO,
        re.I,
    ),
}  # fmt: skip
_AFTER = {
    Kind.CARD: re.compile(
        r"\W*(?:is|was|on|from)\s+(?:on\s+)?(?:my|the|a|his|her)\s+(?:\w+\s)?(?:card|visa|jcb|amex)\b",
        re.I,
    ),
    Kind.PHONE: re.compile(
        r"\W*(?:is|was|'s|for)\s+(?:my|the|a|his|her|your)\s+(?:\w+\s)?(?:phone|cell|mobile|number|"
        r"whatsapp|landline)\b",
        re.I,
    ),
    Kind.ACCOUNT: re.compile(
        r"\W*(?:is|was)\s+(?:my|the|a|his|her)\s+(?:\w+\s)?(?:account|policy|member|pin|id|code)\b",
        re.I,
    ),
}  # fmt: skip
BIRTH_BEFORE = re.compile(
    r"\b(?:date of birth|birth\s?-?date|birth\s?day(?:'s)?|birth|born|d\.?\s?o\.?\s?b)\b\.?"
    r"(?P<between>[^?!;]{0,24})$",
    re.I,
)
BIRTH_AFTER = re.compile(
    r"\W*(?:is|was|'s)\s+(?:my|her|his|their|the|our)\s+(?:\w+\s)?"
    r"(?:birth\s?day|birth\s?date|date of birth|d\.?\s?o\.?\s?b)\b",
    re.I,
)


@lru_cache(maxsize=4096)
def cue_of(before: str, after: str) -> Kind | None:
    """What the nearest cue says of a number between ``before`` and ``after``.

    A cue of the words before counts until the end of the sentence after it.
    """
    best, at = None, -1
    for kind, pattern in _CUES.items():
        for match in pattern.finditer(before):
            if match.end() > at and not re.search(r"[?!;]", before[match.end() :]):
                best, at = kind, match.end()
    if best is not None:
        return best
    return next((kind for kind, pattern in _AFTER.items() if pattern.match(after)), None)


def sides(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after ``text[start:end]``, as far as a cue reaches."""
    return text[max(0, start - _REACH) : start], text[end : end + 40]
