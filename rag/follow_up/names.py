"""Which of the names that the documents know was spoken last: the place a call goes on about.

For a knowledge base of several places or businesses, each with a document of its own. A name is
heard in parts and misspelt ("the holiday inn, it's in the golden gateway area"), so its words are
weighed by how few names share them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from rag.distance import edits
from rag.follow_up.subject import is_specific
from rag.follow_up.terms import is_function_word
from rag.rewrite import words

ENOUGH = 0.6
"""The share of a name's weight that must be heard."""
_SHARED_BY = 20
"""A word of more names than this ("hotel") names none of them."""
# What kind of place it is, or its number: heard without the place being meant.
_NOT_TELLING = frozenset(
    "hotel motel hostel inn restaurant cafe bar grill kitchen house park museum shop clinic office "
    "one two three four five six seven eight nine ten twenty thirty forty fifty hundred "
    "zero".split()
)
_FUZZY_FROM = 6
_OF_AN_AREA = frozenset({"in", "near", "around"})


class Names:
    """The names of documents, ready to be found in text.

    ``names`` maps a document to its name as people say it.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)
        parts = {doc: _parts(name) for doc, name in names.items()}
        common = Counter(part for own in parts.values() for part in own)
        count = len(parts)
        self._weight = {part: math.log(1 + count / n) for part, n in common.items()}
        telling = {part for part, n in common.items() if n <= _SHARED_BY and _is_telling(part)}
        self._telling = telling
        # "Good Hotel", "Restaurant Two Two": of such words that no text can be known to name it.
        self._parts = {doc: own for doc, own in parts.items() if own & telling}
        # "La Trattoria - Harbour": the branch after the dash is often left out.
        self._heads = {doc: _parts(names[doc].split(" - ")[0]) for doc in self._parts}
        self._with: dict[str, list[str]] = defaultdict(list)
        for doc, own in self._parts.items():
            for part in own:
                self._with[part].append(doc)
        self._known: dict[str, str] = {}

    def find(self, text: str) -> str:
        """The document whose name fits ``text`` best; "" if none does."""
        heard = [_bare(word) for word in words(text)]
        matched: dict[str, set[str]] = defaultdict(set)
        first: dict[str, int] = {}
        for at, word in enumerate(heard):
            joined = word + heard[at + 1] if at + 1 < len(heard) else word
            for part in {self._part(word), self._part(joined)} - {""}:
                for doc in self._with[part]:
                    matched[doc].add(part)
                    first.setdefault(doc, at)
        best, most = "", 0.0
        for doc, found in matched.items():
            own = self._heads[doc]
            share = self._sum(found & own) / max(self._sum(own), 1e-9)
            telling = own & self._telling
            if share < ENOUGH or not telling or _is_area(heard, first[doc]):
                continue
            if max(telling, key=lambda part: self._weight[part]) not in found:
                continue
            # Of names that share their words, the one of which least is missing.
            value = self._sum(found) * share
            if value > most:
                best, most = doc, value
        return best

    def latest(self, texts: Iterable[str]) -> str:
        """The document named in the first of ``texts`` (latest first) that names one, or ""."""
        return next(filter(None, map(self.find, texts)), "")

    def _sum(self, parts: Iterable[str]) -> float:
        return sum(self._weight[part] for part in parts)

    def _part(self, word: str) -> str:
        """The word of a name that ``word`` is, one letter wrong in a long one allowed."""
        if word in self._with:
            return word
        if len(word) < _FUZZY_FROM or is_function_word(word):
            return ""
        if word not in self._known:
            near = (p for p in self._with if p[0] == word[0] and abs(len(p) - len(word)) <= 1)
            self._known[word] = next((p for p in near if edits(p, word, 1) <= 1), "")
        return self._known[word]


def _parts(name: str) -> frozenset[str]:
    return frozenset(_bare(word) for word in words(name) if not is_function_word(word))


def _is_telling(word: str) -> bool:
    return is_specific(word) and word not in _NOT_TELLING


def _bare(word: str) -> str:
    bare = word.removesuffix("'s").replace("'", "").replace(".", "")
    return bare[:-1] if len(bare) > 4 and bare.endswith("s") and not bare.endswith("ss") else bare


def _is_area(heard: list[str], at: int) -> bool:
    """ "In union square": where something is, not what is spoken of."""
    return any(word in _OF_AN_AREA for word in heard[max(0, at - 2) : at])
