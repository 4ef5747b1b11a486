"""How written English is read aloud.

Ordered rules, each of which turns one written form into words, so that no later rule sees its
digits again. The order is the disambiguation: a phone number is looked for before a range, a
date before a fraction, a room before a plain number.
"""

from __future__ import annotations

import re
import unicodedata

from speech import numbers as n
from speech.abbreviations import ABBREVIATIONS, LETTER_WORDS
from speech.reading import en_addresses, en_amounts, en_dates, en_places
from speech.reading.rules import Rule, applied, rule, tidy

# What compatibility forms would leave or spoil: other hyphens than - in a phone number, signs.
_PLAIN = str.maketrans({"‐": "-", "‑": "-", "−": "-", "№": " number ", **dict.fromkeys("™®©℠")})
# 2½ -> 2 and ½, before its compatibility form (1⁄2) is put there.
_WHOLE_AND_PART = re.compile(r"(?<=\d)\s?(?=[¼½¾⅓⅔])")
_SQUARE = re.compile(r"(?<=\b[mM])²|(?<=\b[kc]m)²|(?<=\bft)²")


def words_of(text: str) -> str:
    """The words of ``text``: no digits, no symbols."""
    text = _WHOLE_AND_PART.sub(" and ", text.translate(_PLAIN))
    text = _SQUARE.sub("2", text)
    text = unicodedata.normalize("NFKC", text)
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    text = applied(text, _NUMBERS)
    if _SHORT.search(text):
        text = applied(text, _SHORT_FORMS)
    return tidy(applied(text, _WORDS))


def spell(letters: str) -> str:
    """``MRI`` -> M-R-I: the hyphens keep a lone A from being read as the article."""
    return "-".join(letters)


def _capitals(match: re.Match[str]) -> str:
    word = match[0]
    if word in ("AM", "PM"):
        return word
    if word in LETTER_WORDS or not re.search("[AEIOUY]", word):
        return spell(word)
    return word


def _code(match: re.Match[str]) -> str:
    """``A1C`` -> A-one-C."""
    parts = re.findall(r"\d+|[A-Z]+", match[0])
    return "-".join(n.cardinal(part) if part.isdigit() else spell(part) for part in parts)


_SIGN = r"[^\w\s.,']|_"
# A stop inside the text, a slash, or a short form that needs neither.
_SHORT = re.compile(
    r"\.\S|\. |/|\b(?:Drs?|Mrs?|Ms|St|Ave|Blvd|Rd|Ln|DOB|ASAP|etc|[Ss]te|[Aa]pt|[Bb]ldg|[Dd]ept"
    r"|[Aa]ppts?|[Aa]pprox|[Vv]s)\b"
)
_CLEANED: tuple[Rule, ...] = (
    rule(r"[‘’]", "'", needs=""),
    rule(r"(?<!\d)[“”\"*_`#](?!\d)|(?<=\d)[“”*_`](?!\d)", "", needs=_SIGN),
    rule(r"\.{3,}", ".", needs=""),
    rule(r"^[-•] ", "", re.MULTILINE, needs=""),
    rule("⁄", "/", needs=""),
    # numbers nobody says, and a point without a number before it
    rule(r"\d{16,}|\d{1,3}(?:,\d{3}){5,}", lambda m: n.digits(m[0])),
    rule(r"(?<![\w.,])\.(?=\d)", "0."),
)
_SHORT_FORMS = tuple(rule(pattern, words, needs="") for pattern, words in ABBREVIATIONS)
_LETTERS: tuple[Rule, ...] = (
    rule(
        r"\b(vitamin|hepatitis|type|part|building|form) A\b",
        r"\1 eigh",
        re.IGNORECASE,
        needs=r"A\b",
    ),
    rule(r"\b[A-Z]+\d+(?:[A-Z]+\d+)*[A-Z]*\b", _code),
    rule(r"\b([A-Za-z]+)-(?=\d)", r"\1 "),
    rule(r"\b[A-Z]{2,5}(?=s?\b)", _capitals, needs=r"[A-Z][A-Z]"),
)
_REST: tuple[Rule, ...] = (
    rule(r"\s*[–—]\s*|\s-+\s", ", ", needs=_SIGN),
    rule(r"\s*[()]\s*", ", ", needs=_SIGN),
    rule(r"(?<=\w)/(?=\w)", " or ", needs=_SIGN),
    rule(r"\s*&\s*", " and ", needs=_SIGN),
    rule(r"\s*\+\s*", " plus ", needs=_SIGN),
    rule(r"\s*=\s*", " equals ", needs=_SIGN),
    rule(r"@", " at ", needs=_SIGN),
    rule(r"%", " percent ", needs=_SIGN),
    # eSpeak NG reads emoji and signs by their names
    rule(r"[^\w\s.,;:!?'-]|_", " ", needs=_SIGN),
)
_NUMBERS: tuple[Rule, ...] = (
    *_CLEANED, *en_addresses.RULES, *en_amounts.FIRST, *en_dates.RULES, *en_places.RULES,
    *en_amounts.RULES,
)  # fmt: skip
_WORDS: tuple[Rule, ...] = (*_LETTERS, *en_amounts.LAST, *_REST)
