"""Whether words are a whole utterance or the beginning of one: “do you take” against “do you”.

A logistic model over the last words, the first ones and the length, each a hashed feature
(Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", arXiv 0902.2206). Its
weights were fitted on public questions against their own beginnings (``tools/fit_patience.py``),
and know no business.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path

import numpy as np

from rag.packed_arrays import unpacked

DATA = Path(__file__).with_name("completeness.json")
WEIGHTS = 1 << 15

_WORD = re.compile(r"[a-z0-9']+")
# Words that only hold others together; every other word counts as one kind beside itself.
_SMALL = frozenset(
    "a an the my your our their his her its this that these those i you we they he she it there to "
    "for of with at in on from by about into as and or but so because if when while than then is "
    "are was were am be been do does did can could will would should may might must shall have has "
    "had what where how why which who whom whose not no any some all more much many me him them us"
    "".split()
)
_LONGEST, _MOST = 12, 5


def completeness(text: str) -> float:
    """Log odds that ``text`` is all that its speaker wanted to say; 0.0 for no words.

    Takes about 0.05 ms.
    """
    words = split(text)
    if not words:
        return 0.0
    model = _model()
    return float(model.weights[hashed(words, model.known)].sum()) + model.bias


def split(text: str) -> list[str]:
    """The words of ``text`` as the model knows them."""
    return _WORD.findall(text.lower().replace("’", "'"))


def hashed(words: Sequence[str], known: Set[str]) -> list[int]:
    """Which weights count for ``words``, of which there is at least one."""
    return [zlib.crc32(feature.encode()) % WEIGHTS for feature in _features(words, known)]


def _features(words: Sequence[str], known: Set[str]) -> list[str]:
    names = ["^", "^", "^", *(_name(word, known) for word in words)]
    kinds = [name if name in _SMALL or name == "^" else "*" for name in names]
    d, c, b, a = names[-4:]
    kd, kc, kb, ka = kinds[-4:]
    first, second = names[3], names[4] if len(words) > 1 else ""
    length = min(len(words), _LONGEST)
    content = min(sum(kind == "*" for kind in kinds), _MOST)
    ending = words[-1]
    return [
        f"1 {a}",
        f"2 {b} {a}",
        f"3 {c} {b} {a}",
        f"4 {kc} {kb} {a}",
        f"5 {kd} {kc} {kb} {ka}",
        f"6 {kc} {b} {ka}",
        f"7 {d} {c} {kb} {ka}",
        f"8 {length}",
        f"9 {first} {length}",
        f"10 {first} {second} {content}",
        f"11 {first} {second} {a}",
        f"12 {first} {kc} {kb} {ka}",
        f"13 {content}",
        f"14 {content} {ka}",
        f"15 {ending[-2:]}",
        f"16 {ending[-3:]} {kb}",
    ]


def _name(word: str, known: Set[str]) -> str:
    """The word, or for a rare one its ending."""
    if word in known:
        return word
    return "<9>" if word[0].isdigit() else f"<{word[-3:]}>"


class _Model:
    def __init__(self) -> None:
        rows = json.loads(DATA.read_text(encoding="utf-8"))
        self.known = frozenset(rows["known"].split())
        self.weights = np.asarray(unpacked(rows["weights"]))
        self.bias = float(rows["bias"])


@cache
def _model() -> _Model:
    return _Model()
