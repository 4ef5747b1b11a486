"""A rule of reading: a written form, and the words that take its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

DIGIT = r"\d"


@dataclass(frozen=True, slots=True)
class Rule:
    """Put ``words`` for each ``pattern``, in a text that has what the rule ``needs``.

    What is needed is a cheap sign that the pattern may match at all: most sentences hold few of
    the written forms, and reading one takes a third of the time for it.
    """

    pattern: re.Pattern[str]
    words: Callable[[re.Match[str]], str]
    needs: re.Pattern[str] | None = None


def rule(
    pattern: str,
    words: str | Callable[[re.Match[str]], str],
    flags: int = 0,
    *,
    needs: str = DIGIT,
) -> Rule:
    """The rule that puts ``words`` (a template, or made of the match) for each ``pattern``.

    ``needs`` is a pattern as well, by default a digit; '' for nothing.
    """
    needed = re.compile(needs) if needs else None
    if isinstance(words, str):
        template = words
        return Rule(re.compile(pattern, flags), lambda match: match.expand(template), needed)
    return Rule(re.compile(pattern, flags), words, needed)


def applied(text: str, rules: Iterable[Rule]) -> str:
    """``text`` after every rule, in their order."""
    for one in rules:
        if one.needs is None or one.needs.search(text):
            text = one.pattern.sub(one.words, text)
    return text


def tidy(text: str) -> str:
    """``text`` with single spaces and no mark of a pause twice; '' if no letter is in it."""
    if not any(c.isalpha() for c in text):
        return ""
    text = re.sub(r"\s+([.,;:!?।])", r"\1", " ".join(text.split()))
    text = re.sub(r"([,;:])[,;:]+", r"\1", text)
    return re.sub(r"[,;:]+([.!?।])", r"\1", text).strip(" ,;")
