"""Other ways to say a value of a sentence, for one that is not understood as it is read.

Every way says the same value: what reads back as another one is left out. Words around it stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from speech import numbers
from speech.phrased import Phrase
from speech.spoken_values import Kind, Value, agree, values_of

_SLOWER, _SLOWEST = 1.2, 1.45
_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_ONE_BY_ONE = re.compile(rf"\b{_DIGIT}(?:,? {_DIGIT})+\b")
_HALF = re.compile(r" ([AP])M\b")
_LATE = frozenset("six seven eight nine ten eleven".split())
_OF_A_PLACE = re.compile(r"\b(?:room|suite|bus|exit|box|unit|apartment|gate|lot) $", re.I)
_ARTICLE = re.compile(r"\b(?:a|an|the)$", re.I)
_TWO_DIGITS = (
    r"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ](?:one|two|three|four|five|six|seven"
    r"|eight|nine))?|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_NAMED_A = re.compile(r"\bA\b")
_MOST_SPELLED = 12


def respellings(said: Phrase, start: int, end: int) -> Iterator[Phrase]:
    """Ways to say a sentence, in the form that is read aloud, so that its value or name
    ``said.words[start:end]`` is easier to understand; the least change first.
    """
    words, value = said.words, said.words[start:end]
    values = values_of(words)
    forms = dict(_name_forms(value)) if not values_of(value) else dict(_forms(value))
    if _OF_A_PLACE.search(words[:start]):
        forms |= dict(_digit_by_digit(value))
    ways = sorted(
        (change + paused + slowed, slowness, form, paused)
        for form, change in forms.items()
        for slowed, slowness in enumerate((1.0, _SLOWER, _SLOWEST))
        for paused in (0, 1)
    )
    seen = {said}
    for _, slowness, form, paused in ways:
        before = _with_pause(words[:start]) if paused else words[:start]
        text = _tidy(f"{before}{form}{words[end:]}")
        phrase = Phrase(text, max(slowness, said.slowness))
        if phrase not in seen and _same(values, values_of(text)):
            seen.add(phrase)
            yield phrase


def _forms(value: str) -> Iterator[tuple[str, float]]:
    """Ways to say a number, each with how far it is from the usual one."""
    yield value, 0
    yield f"{value},", 1
    if _ONE_BY_ONE.search(value):
        digits = re.sub(r"\boh\b", "zero", value)
        yield digits, 0.5
        yield _ONE_BY_ONE.sub(lambda m: _in_groups(m[0]), digits), 1
        yield ", ".join(digits.replace(",", "").split()), 1.5
    if "-" in value:
        yield value.replace("-", " "), 0.5
    if " hundred " in value:
        yield value.replace(" hundred ", " hundred and "), 0.5
    if _HALF.search(value):
        yield _HALF.sub(r" \1 M", value), 1
        yield _HALF.sub(r", \1M", value), 1
        yield _HALF.sub(lambda m: f" in the {_part_of_day(m[1], value)}", value), 1.5
    if re.fullmatch(_TWO_DIGITS, value):  # "eighteen, one eight," as one says a number twice
        yield f"{value}, {numbers.digits(_digits_of(value))},", 3


def _digit_by_digit(value: str) -> Iterator[tuple[str, float]]:
    if digits := _digits_of(value):
        yield numbers.digits(digits), 1


def _digits_of(value: str) -> str:
    """``one twelve`` as 112; '' for what is no whole number."""
    kinds = (Kind.NUMBER, Kind.DIGITS)
    found = [str(v) for one in values_of(value) for k, v in one.meanings if k in kinds]
    return found[0] if len(found) == 1 and found[0].isdigit() else ""


def _name_forms(name: str) -> Iterator[tuple[str, float]]:
    """Ways to say a name; spelled at last."""
    yield name, 0
    if _NAMED_A.search(name):  # not the article
        yield _NAMED_A.sub("eigh", name), 0.5
        yield _NAMED_A.sub("eigh,", name), 1
    if " " in name:
        yield name.replace(" ", ", "), 1
    letters = re.sub(r"[^A-Za-z]", "", name)
    if " " not in name and 1 < len(letters) <= _MOST_SPELLED:
        yield f"{name}, spelled {'-'.join(letters.upper())},", 3


def _part_of_day(half: str, value: str) -> str:
    """``P`` of six is the evening."""
    if half == "A":
        return "morning"
    return "evening" if value.split()[0].partition("-")[0] in _LATE else "afternoon"


def _in_groups(digits: str) -> str:
    """Digits with a pause after every second; a first odd one goes with the next two."""
    words = digits.replace(",", "").split()
    first = 3 if len(words) % 2 else 2
    groups = [words[:first], *(words[n : n + 2] for n in range(first, len(words), 2))]
    return ", ".join(" ".join(group) for group in groups)


def _with_pause(before: str) -> str:
    stripped = before.rstrip()
    may_pause = stripped and stripped[-1].isalnum() and not _ARTICLE.search(stripped)
    return f"{stripped}, " if may_pause else before


def _tidy(text: str) -> str:
    """One space between words, and one mark after a word."""
    return re.sub(r",[,;.:](?= |$)", lambda m: m[0][-1], " ".join(text.split()))


def _same(values: tuple[Value, ...], others: tuple[Value, ...]) -> bool:
    """Whether both are the same values, in the same order; one may be said twice, and a name
    spelled.
    """
    at = 0
    for other in others:
        if at < len(values) and _is(values[at], other):
            at += 1
        elif other.kind is not Kind.LETTERS and not (at and _is(values[at - 1], other)):
            return False
    return at == len(values)


def _is(one: Value, other: Value) -> bool:
    is_money = Kind.MONEY in (one.kind, other.kind)
    return agree(one, other) and (one.kind is other.kind or not is_money)
