"""Pairs of opposites that embeddings do not tell apart, and which side a text is on."""

from __future__ import annotations

import re
from functools import lru_cache

from rag.pieces import stem

# Name of each side, and how it is put. What is asked of one side is not answered by the other.
# A side of a question counts only where it names one side alone.
_PAIRS: tuple[tuple[str, str, str, str], ...] = (
    ("check-in", r"check(?:ing|ed|s)?[- ]{0,2}in\b", "check-out", r"check(?:ing|ed"
      r"|s)?[- ]{0,2}out\b"),
    ("arrival", r"arriv(?:e|es|ing|al|als)\b", "departure", r"depart\w*|leav(?:e|es|ing)\b"),
    (
        "opening",
        r"open(?:s|ing)?\b(?! (?:until|till|up to))|start(?:s|ing)?\b|begin(?:s|ning)?\b",
        "closing",
        r"clos(?:e|es|ing)\b(?! to\b)|end(?:s|ing)?\b|finish(?:es|ing)?\b|shut(?:s|ting)?\b"
        r"|lock(?:s|ing)? up\b|open (?:until|till|up to)\b|until\b|till\b|how late\b",
    ),
    ("pick-up", r"pick(?:ing|ed|s)?[- ]?(?:it |them )?up\b|collect(?:s|ed|ing|ion)?\b", "drop-off",
     r"drop(?:ping|ped|s)?[- ]?(?:it |them )?off\b|hand(?:ing|ed)? (?:it |them )?in\b"),
    ("adult", r"adults?\b|grown[- ]?ups?\b", "child", r"child(?:ren)?\b|kids?\b|bab(?:y|ies)\b"
      r"|infants?\b|toddlers?\b"),
    ("new", r"new (?:patients?|clients?|customers?|members?|students?|pupils?|guests?)\b"
     r"|first[- ]?(?:visit|appointment|time)\b", "returning",
     r"(?:returning|existing|current|regular|established) (?:patients?|clients?|customers?"
     r"|members?|guests?)\b"),
    ("minimum", r"minimum\b|at least\b|no (?:less|fewer) than\b",
     "maximum",
     r"maximum\b|at most\b|up to\b|no more than\b"),
    ("earliest", r"earliest\b|how early\b", "latest", r"latest\b|how late\b|last\b"),
    ("member", r"(?<!non)(?<!non-)(?<!non )members?\b", "non-member", r"non[- ]?members?\b"),
    ("with", r"with (?:an? )?(?:insurance|appointment|reservation|membership|booking)\b", "without",
     r"without (?:an? )?(?:insurance|appointment|reservation|membership|booking)\b|uninsured\b"),
    ("inside", r"inside\b|indoors?\b", "outside", r"outside\b|outdoors?\b"),
    ("day", r"(?:during|in) the day\b|daytime\b", "night", r"(?:at|by|during the|in the) night\b"
      r"|night-?time\b|overnight\b"),
    ("morning", r"mornings?\b", "evening", r"evenings?\b|afternoons?\b"),
    ("summer", r"summers?\b", "winter", r"winters?\b"),
    ("single", r"single\b", "double", r"double\b"),
    ("one-way", r"one[- ]way\b", "round-trip",
     r"round[- ]trips?\b|return (?:ticket|trip|fare)s?\b"),
    ("small", r"small(?:er)?\b", "large", r"large(?:r)?\b|big(?:ger)?\b"),
    ("dine-in", r"(?:dine|dining|eat|eating)[- ]in\b", "takeaway", r"take[- ]?(?:out|away)\b"
      r"|to go\b|carry[- ]?out\b"),
    ("rent", r"rent(?:s|al|als|ed|ing)?\b|hire[ds]?\b", "buy", r"buy(?:ing)?\b|purchas\w+\b"),
    ("online", r"online\b|website\b", "in-person", r"in person\b|at the (?:door|desk|counter)\b"),
    ("dog", r"dogs?\b|pupp(?:y|ies)\b", "cat", r"cats?\b|kittens?\b"),
    ("men", r"men\b|men['’]s\b|gentlem[ae]n\b|boys?\b", "women", r"wom[ae]n\b|wom[ae]n['’]s\b"
      r"|ladies\b|girls?\b"),
    ("phone", r"(?:phone|telephone)\b(?! charger)", "fax", r"fax(?:es)?\b"),
    ("weekday", r"weekdays?\b", "weekend", r"weekends?\b"),
    ("upstairs", r"upstairs\b", "downstairs", r"downstairs\b"),
    ("peak", r"(?<!off)(?<!off-)(?<!off )peak\b", "off-peak", r"off[- ]peak\b"),
    ("half-day", r"half[- ](?:a )?day\b", "full-day", r"(?:full|whole)[- ]day\b"),
    ("standard", r"standard\b|usual(?:ly)?\b|normal(?:ly)?\b", "express", r"express\b|rush\b"
      r"|urgent\b|emergenc(?:y|ies)\b"),
    ("minor", r"minors?\b", "senior", r"seniors?\b|pensioners?\b|retired\b"),
)  # fmt: skip
OTHER: dict[str, str] = {}
for _one, _, _two, _ in _PAIRS:
    OTHER[_one], OTHER[_two] = _two, _one
_GROUPS = {f"s{n}": name for n, name in enumerate(OTHER)}
_FORMS = [form for pair in _PAIRS for form in (pair[1], pair[3])]
# Each on its own: "how late" is on the side of closing and of the latest.
_SIDES = tuple(
    (name, re.compile(rf"\b(?:{form})")) for name, form in zip(OTHER, _FORMS, strict=True)
)
AUDIENCE = frozenset("adult child new returning member non-member men women minor senior".split())
# Those of a pair whose sides seldom stand for what they say: too weak to fail a sentence alone.
SOFT = frozenset(
    "earliest latest day night morning evening summer winter small large standard "
    "express single double rent buy minor senior weekday weekend with without half-day "
    "full-day".split()
)
# Where a thing is, or whether: for a question of yes or no the other side is an answer.
TOLD = frozenset("inside outside upstairs downstairs arrival departure".split())
# Sentences that name none are spared the work.
_ANY = re.compile(rf"\b(?:{'|'.join(_FORMS)}|before|after)")


@lru_cache(maxsize=16384)
def sides(text: str) -> frozenset[str]:
    """The sides of opposites that ``text`` (lower case) names."""
    if not _ANY.search(text):
        return frozenset()
    return frozenset(name for name, form in _SIDES if form.search(text)) | relative(text)


_RELATIVE = re.compile(r"\b(before|after) (?:(?:the|my|your|our|an?|his|her|their) )?([a-z]{3,})")


def relative(text: str) -> frozenset[str]:
    """What ``text`` is before or after: "before visit". The other of the same noun is opposite."""
    return frozenset(f"{side} {stem(noun)}" for side, noun in _RELATIVE.findall(text))


def other(side: str) -> str:
    """The other side of ``side``."""
    if side in OTHER:
        return OTHER[side]
    where, _, noun = side.partition(" ")
    return f"{'after' if where == 'before' else 'before'} {noun}"


def one_sided(named: frozenset[str]) -> frozenset[str]:
    """Those of ``named`` whose other side is not named too."""
    return frozenset(side for side in named if other(side) not in named)
