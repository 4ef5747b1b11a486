"""What must hold of every sentence that is spoken, however it was asked for.

Read apart from the product's own readers of figures and days, so that one mistake does not excuse
another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from rag.sentences import split_sentences

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBER_WORD = re.compile(
    rf"\b(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<ones>{'|'.join(_SMALL[1:10])}))?\b"
    rf"|\b(?P<small>{'|'.join(_SMALL)})\b(?P<hundred> hundred\b)?",
    re.I,
)
_UNITS = {
    word: unit
    for unit, words in {
        "dollar": "$ dollar dollars usd bucks",
        "other money": "€ £ ₹ euro euros pound pounds rupee rupees",
        "cent": "cent cents",
        "percent": "% percent",
        "am": "am a.m",
        "pm": "pm p.m",
        **{unit: f"{unit} {unit}s" for unit in ("minute", "hour", "day", "week", "month", "year")},
    }.items()
    for word in words.split()
}
_FIGURE = re.compile(
    r"(?P<phone>\b\d{3}-\d{4}\b)"
    r"|(?P<money>[$€£₹])? ?(?P<value>\d+(?:[.:]\d+)?)"
    r"(?: ?%|[- ](?:(?:business|further|monthly)[- ])?(?P<unit>[a-z]+(?:\.m\b)?))?",
    re.I,
)
_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend|daily|every day|tomorrow"
    r"|today|noon|midnight)s?\b",
    re.I,
)
_NAME = re.compile(r"(?<=[\w,;:] )(?!I\b|I')[A-Z][\w-]*")
_NO = re.compile(r"\b(?:no|not|never|none|without|nothing|cannot|closed)\b|n't\b|n’t\b", re.I)
_UNSPEAKABLE = re.compile(r"[\[\]<>{}|*_`\\]|://|\bkb-\w|#\d")


def unspeakable(said: str, ids: Collection[str]) -> list[str]:
    """What of ``said`` no voice may be given: citations, ids, markup, characters nobody sees."""
    found = [f"{match.group()!r} is markup" for match in _UNSPEAKABLE.finditer(said)]
    found += [f"the id {one} is spoken" for one in ids if one.lower() in said.lower()]
    found += [
        f"U+{ord(char):04X} cannot be heard" for char in said if unicodedata.category(char) in _ODD
    ]
    return found


_ODD = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})


def unsupported(said: str, evidence: Sequence[str]) -> list[str]:
    """The sentences of ``said`` of which no one sentence of ``evidence`` holds every fact."""
    known = [facts(one) for text in evidence for one in split_sentences(text)]
    problems = []
    for sentence in split_sentences(said):
        claimed = facts(sentence)
        if claimed and not any(_holds(one, claimed) for one in known):
            problems.append(f"no one sentence has {sorted(claimed)} of {sentence!r}")
    return problems


def facts(sentence: str) -> set[tuple[str, str]]:
    """Figures with their units, days, names, and whether something is denied."""
    text = unicodedata.normalize("NFKC", sentence)
    found = {("day", match.group().lower().rstrip("s")) for match in _DAY.finditer(text)}
    found |= {("name", name) for name in _NAME.findall(text)}
    found |= set(_figures(_NUMBER_WORD.sub(_as_digits, text)))
    if _NO.search(text) and found:
        found.add(("denied", ""))
    return found


def _holds(known: set[tuple[str, str]], claimed: set[tuple[str, str]]) -> bool:
    values = {value for _, value in known}
    if ("denied", "") in known and ("denied", "") not in claimed:
        return False
    # A figure without a unit may leave it out; one with another is another figure.
    return all(one in known or (one[0] == "number" and one[1] in values) for one in claimed)


def _figures(text: str) -> Iterator[tuple[str, str]]:
    for match in _FIGURE.finditer(text):
        if match["phone"]:
            yield "phone", match["phone"]
            continue
        mark = "%" if match.group().endswith("%") else match["money"] or match["unit"] or ""
        yield _UNITS.get(mark.lower(), "number"), match["value"].removesuffix(":00")


def _as_digits(match: re.Match[str]) -> str:
    if match["tens"]:
        ones = _SMALL.index(match["ones"].lower()) if match["ones"] else 0
        return str(20 + 10 * _TENS.index(match["tens"].lower()) + ones)
    number = _SMALL.index(match["small"].lower()) * (100 if match["hundred"] else 1)
    after = match.string[match.end() :].split(maxsplit=1)
    is_pronoun = number == 1 and (not after or after[0].rstrip(".,;:!?").lower() not in _UNITS)
    return "it" if is_pronoun else str(number)
