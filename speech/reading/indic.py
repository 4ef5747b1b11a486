"""How Bengali, Gujarati, Tamil and Telugu are read aloud.

Their numbers are left in digits, which eSpeak NG reads as words of its language. What it would
read as one number, or by the name of a sign, is written out: phone numbers, money, percentages,
ranges, times, addresses of the net.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from speech.reading.rules import Rule, applied, rule, tidy

_NUMBER = r"\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d+(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class _Words:
    """What a language calls a rupee, a percentage, and the rest."""

    rupees: str
    percent: str
    to: str
    at: str
    dot: str
    also: str


_WORDS = {
    "bn": _Words("টাকা", "শতাংশ", "থেকে", "অ্যাট", "ডট", "এবং"),
    "gu": _Words("રૂપિયા", "ટકા", "થી", "એટ", "ડોટ", "અને"),
    "ta": _Words("ரூபாய்", "சதவீதம்", "முதல்", "அட்", "டாட்", "மற்றும்"),
    "te": _Words("రూపాయలు", "శాతం", "నుండి", "ఎట్", "డాట్", "మరియు"),
}
LANGUAGES = tuple(_WORDS)


def words_of(text: str, language: str) -> str:
    """The words and numbers of ``text``, in one of :data:`LANGUAGES`."""
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return tidy(applied(" ".join(text.split()), _RULES[language]))


def _digits(match: re.Match[str]) -> str:
    plus = "+ " * match[0].startswith("+")
    return plus + ", ".join(" ".join(group) for group in re.findall(r"\d+", match[0]))


def _clock(match: re.Match[str]) -> str:
    return match[1] if match[2] == "00" else f"{match[1]} {match[2]}"


def _rules(words: _Words) -> tuple[Rule, ...]:
    return (
        rule(r"[‘’“”\"*_`#]", "", needs=""),
        rule(
            r"([\w.+-]+)@([\w.-]+\.[A-Za-z]{2,})",
            lambda m: f"{m[1]} {words.at} {m[2]}".replace(".", f" {words.dot} "),
            needs="@",
        ),
        rule(r"\+\d{1,3}(?:[ -]?\d{2,10}){1,5}|\b\d{3}-\d{3}-\d{4}\b|\b\d{3}-\d{4}\b", _digits),
        rule(r"\b0\d{2,4}[- ]\d{5,8}\b|\b\d{5} \d{5}\b|(?<![\d.,])[1-9]\d{9}(?![\d.,])", _digits),
        rule(r"\b(\d{1,2}):(\d\d)\b", _clock, needs=":"),
        rule(
            rf"(?:₹|Rs\.?) ?({_NUMBER})(?:\s?[-–]\s?({_NUMBER}))?",
            lambda m: f"{m[1]}{f' {words.to} {m[2]}' if m[2] else ''} {words.rupees}",
        ),
        rule(r"(?<=\d) ?%", f" {words.percent}", needs="%"),
        rule(r"(?<=\d)\s?[-–]\s?(?=\d)", f" {words.to} ", needs="[-–]"),
        rule(r"(?<=\d),(?=\d)", ""),
        rule(r"\s*[()]\s*|\s*[–—]\s*", ", ", needs="[()–—]"),
        rule(r"\s*&\s*", f" {words.also} ", needs="&"),
    )


_RULES = {language: _rules(words) for language, words in _WORDS.items()}
