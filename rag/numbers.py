"""Number words to digits, as a recogniser's transcript spells them.

Handles what people say on a telephone: ones, teens, tens, a ten and a one joined ("twenty four"
is 24), hundreds ("two hundred and five"), years in two halves ("twenty twenty six"), an "oh"
between digits ("two oh four" is 204; in a longer run of digits it is a 0 of its own) and joined
ordinals ("thirty first"). Everything else, "thousand" and single ordinals ("call first")
included, is left as it was said.
"""

from __future__ import annotations

from collections.abc import Sequence

_ONES = {
    word: n for n, word in enumerate("zero one two three four five six seven eight nine".split())
}
_TEENS = {
    word: n
    for n, word in enumerate(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
        10,
    )
}
_TENS = {
    word: n * 10
    for n, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        2,
    )
}
_TENS["fourty"] = 40
_ORDINALS = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth".split(),
        1,
    )
}
_SUFFIX = {1: "st", 2: "nd", 3: "rd"}
_OH = frozenset({"o", "oh"})


def digits(words: Sequence[str]) -> list[str]:
    """``words`` (lower case) with every number word that is understood written in digits."""
    result: list[str] = []
    at = 0
    while at < len(words):
        text, used = _number_at(words, at)
        if used == 0:
            text, used = words[at], 1
            if text in _OH and at and _word(words, at + 1) in _ONES and result[-1].isdigit():
                text = "0"
        result.append(text)
        at += used
    return result


def _number_at(words: Sequence[str], at: int) -> tuple[str, int]:
    """The number that starts at ``at`` in digits and the words it took; 0 words if none does."""
    ordinal = _ordinal(words, at)
    if ordinal[1]:
        return ordinal
    value, used = _below_hundred(words, at)
    if used == 0:
        return "", 0
    after = at + used
    if value and value < 10 and _word(words, after) == "hundred":
        return _hundreds(words, value, after + 1, used + 1)
    if _word(words, after) in _OH and _word(words, after + 1) in _ONES:
        last = _ONES[words[after + 1]]
        more = _below_hundred(words, after + 2)[1] or _word(words, after + 2) in _OH
        if not more:
            return f"{value}0{last}", used + 2
    if value in (19, 20):
        rest, rest_used = _below_hundred(words, after)
        if rest >= 10:
            return f"{value}{rest}", used + rest_used
    return str(value), used


def _hundreds(words: Sequence[str], value: int, after: int, used: int) -> tuple[str, int]:
    rest, rest_used = _below_hundred(words, after)
    if rest_used:
        return str(value * 100 + rest), used + rest_used
    if _word(words, after) == "and":
        rest, rest_used = _below_hundred(words, after + 1)
        if rest_used:
            return str(value * 100 + rest), used + 1 + rest_used
    return str(value * 100), used


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int]:
    word = _word(words, at)
    if word in _TENS:
        one = _ONES.get(_word(words, at + 1), 0)
        return _TENS[word] + one, 2 if one else 1
    for table in (_ONES, _TEENS):
        if word in table:
            return table[word], 1
    return 0, 0


def _ordinal(words: Sequence[str], at: int) -> tuple[str, int]:
    ten, one = _TENS.get(_word(words, at), 0), _ORDINALS.get(_word(words, at + 1), 0)
    if ten and one:
        return f"{ten + one}{_SUFFIX.get(one, 'th')}", 2
    return "", 0


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""
