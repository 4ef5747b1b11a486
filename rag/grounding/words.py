"""The words of a sentence as the grounding check compares them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from rag import numbers
from rag.days import WEEKDAYS
from rag.pieces import stem, stopwords

_VOCABULARY = Path(__file__).parent.parent / "data" / "minilm-vocab.txt"
_WORD = re.compile(r"\d+(?:[.:]\d+)*(?:[ap]m\b)?|[^\W\d_]+(?:['’][^\W\d_]+)*|[$€£₹%]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# FEVER's evidence is cut by the Penn Treebank's rules: "did n't", "-LRB-".
_BRACKET = re.compile(r"-[LR][RS]B-|``|''")
_HALF_OF_DAY = re.compile(r"(?<=\d) ?([ap])\.? ?m\b(?:\.(?!\s*$))?", re.I)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.I)
_CANNOT = re.compile(r"\b(ca)n(?:'t|not)\b", re.I)
_CONTRACTED = re.compile(r"(?:n['’]t|\bn't)\b")
# Ways to say the same of which one has a "not", and the other none.
_SAME: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"\b(?:{said})\b", re.I), means)
    for said, means in (
        (r"(?:no|without|not? any) (?:(?:extra|additional|further|added|a) )?"
         r"(?:fees?|charges?|costs?)|complimentary|not charged|free of (?:charge|cost)"
         r"|costs? nothing", "free"),
        (r"not (?:required|mandatory|necessary|compulsory|obligatory|needed)|voluntary"
         r"|unnecessary", "optional"),
        (r"unavailable", "not available"),
        (r"(?:is|are|was|were) unable to|is incapable of", "cannot"),
        (r"prohibited|forbidden|banned|disallowed", "not allowed"),
        (r"(smoke|smoking|pet|pets)[- ]free", r"no \1"),
        (r"wi[- ]fi", "wifi"),
        (r"in advance|ahead of time|beforehand|prior to", "before"),
    )
)  # fmt: skip
_DAYS = frozenset(WEEKDAYS)
# Where the file of word pieces comes to words, the commonest first.
_FIRST_WORD = 1996
_LEAST = 0.4
ONE = stem("one")
_NAMES = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_ORDINALS = {
    name: str(n)
    for n, name in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)
}
_ORDINAL_WORDS = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.I)
_NUMBER_WORDS = re.compile(rf"\b(?:{_NAMES})(?:[ -](?:{_NAMES}|hundred))*\b", re.I)
# Said of no thing in particular, beside the stop words.
_EMPTY = frozenset(
    stem(word)
    for word in (
        "afraid yes yeah sure okay ok well sorry hello hi thanks thank absolutely certainly course "
        "actually really very quite lot lots thing things way such other own even still yet "
        "i'm it's that's there's you're we're they're he's she's i've we've you've i'll we'll "
        "you'll they'll i'd you'd we'd don't doesn't didn't isn't aren't wasn't weren't can't "
        "couldn't won't wouldn't shouldn't haven't hasn't hadn't cannot never none nothing nor "
        "neither without all every each many much more most less few several only may might "
        "while because since although though however both either same one into onto over under "
        "after before during between until till up down out off through per via within"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text at ``start`` to ``end``.

    ``stem`` is what is compared, for a number its value; ``rarity`` from 0 (names nothing) to 1.
    """

    text: str
    stem: str
    start: int
    end: int
    rarity: float
    is_number: bool
    is_name: bool


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """``text`` with one way to write marks, hours and "not"; case is kept."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    text = _THOUSANDS.sub("", _BRACKET.sub(" ", text))
    text = _ORDINAL.sub("", _HALF_OF_DAY.sub(lambda found: f"{found[1].lower()}m ", text))
    text = _NUMBER_WORDS.sub(_in_digits, text)
    text = _ORDINAL_WORDS.sub(lambda found: _ORDINALS[found.group().lower()], text)
    text = _CONTRACTED.sub(" not", _CANNOT.sub(r"\1n not", text).replace("won't", "will not"))
    for said, means in _SAME:
        text = said.sub(means, text)
    return " ".join(text.split())


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """The words of ``text``, which is :func:`plain`."""
    return tuple(_words(text))


def content(said: tuple[Word, ...]) -> tuple[Word, ...]:
    """Those that name something."""
    return tuple(word for word in said if word.rarity > 0)


def is_known(word: Word, stems: frozenset[str]) -> bool:
    """Whether it is among ``stems``; an hour is 8 a.m., 8 p.m. or just 8, which may be both."""
    if not word.is_number:
        return word.stem in stems
    if word.stem == "1" and ONE in stems:
        return True
    hour = word.stem.removesuffix("am").removesuffix("pm")
    return word.stem in stems or (
        hour in stems if hour != word.stem else not stems.isdisjoint((f"{hour}am", f"{hour}pm"))
    )


def _words(text: str) -> Iterator[Word]:
    found = list(_WORD.finditer(text))
    lower = [one.group().lower() for one in found]
    for n, one in enumerate(found):
        said = lower[n]
        if said[0].isdigit():
            yield Word(said, _value(said), one.start(), one.end(), 1.0, True, False)
            continue
        is_name = one.group()[0].isupper() and (n > 0 and text[one.start() - 2] not in ".!?:")
        # "I" and whole texts in capitals name nobody.
        is_name = is_name and len(said) > 1 and not text.isupper()
        own = stem(said.removesuffix("'s"))
        yield Word(said, own, one.start(), one.end(), rarity(said), False, is_name)


def _value(word: str) -> str:
    """What a number is worth: 8:00 is 8, and 8:00am is 8am."""
    half = word[-2:] if word.endswith("m") else ""
    mark = ":" if ":" in word else "."
    whole, _, rest = word.removesuffix(half).partition(mark)
    rest = rest if rest.strip("0") else ""
    return f"{whole.lstrip('0') or '0'}{mark if rest else ''}{rest}{half}"


def _in_digits(found: re.Match[str]) -> str:
    # "no one", "one of the"
    if found.group().lower() == "one":
        return found.group()
    return " ".join(numbers.digits(re.split("[ -]", found.group().lower())))


@lru_cache(maxsize=16384)
def rarity(word: str) -> float:
    """0 for a word that names nothing, else from 0.4 for the commonest to 1, as for a weekday.

    By the rank in BERT's list of word pieces, which is in order of frequency.
    """
    if word.removesuffix("s") in _DAYS:
        return 1.0
    if word in stopwords() or stem(word) in _EMPTY or not word[0].isalnum():
        return 0.0
    rank = _ranks().get(word)
    if rank is None:
        return 1.0
    share = math.log(max(rank, _FIRST_WORD) / _FIRST_WORD) / math.log(30522 / _FIRST_WORD)
    return max(_LEAST, min(1.0, share))


@cache
def _ranks() -> dict[str, int]:
    return {word: n for n, word in enumerate(_VOCABULARY.read_text("utf-8").split("\n"))}
