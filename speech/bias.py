"""A business's own words for the recogniser to lean towards: a prefix tree over word pieces.

Shallow fusion with a context graph, as in Zhao et al., "Shallow-Fusion End-to-End Contextual
Biasing" (Interspeech 2019): each piece of a listed word earns its share of the word's bonus, and
a word left half-way gives back what it earned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

WORD_BONUS = 2.0
"""Log-probability bonus of a whole word. On 422 telephone clips of six voices and 90 of a
held-out one (about a clinic): word errors 22.8 and 16.4 % greedy, 18.9 and 12.7 % with a beam of
4, 16.2 and 13.0 % with this bonus (1.5: 16.6 and 13.5 %, 2.5: 17.4 and 13.0 %). On 60 real
prompts about other things 12.6, 11.9 and 11.7 %. The price: in the 512 clips 101 of the clinic's
words were heard that nobody said, against 33 without a bonus (2.5: 141, 4.0: 345), which is why
common words earn half of it (``rag/vocabulary.py``)."""

_SPACE = "▁".encode()


@dataclass(slots=True, eq=False)
class Node:
    """A place in the tree: pieces that begin a listed word, or are one (``ends``)."""

    earned: float = 0.0
    ends: bool = False
    next: dict[int, Node] = field(default_factory=dict)


class Vocabulary:
    """Words that decoding leans towards.

    ``words`` are spelled as text ("walk-ins", "Medicare"); each is also listed capitalised, since
    the model may start a sentence with it. If they are a mapping, its values say which share of
    ``bonus`` each earns. ``pieces`` is the model's vocabulary.
    """

    def __init__(
        self, words: Iterable[str], pieces: Sequence[bytes], bonus: float = WORD_BONUS
    ) -> None:
        self._root = Node()
        self._goes_on = [piece[:1].isalpha() for piece in pieces]
        # A piece of one byte stands twice: as a spare for bytes outside the vocabulary, which the
        # model does not use for letters, and later as itself.
        numbers = {piece: number for number, piece in enumerate(pieces)}
        longest = max(map(len, pieces), default=0)
        weights = words if isinstance(words, Mapping) else dict.fromkeys(words, 1.0)
        for word, weight in weights.items():
            for form in {word, word[:1].upper() + word[1:]} - {""}:
                self._add(_split(_SPACE + form.encode(), numbers, longest), bonus * weight)
        self.starts = np.array(sorted(self._root.next), np.intp)
        """The pieces that start a listed word."""

    def follow(self, node: Node | None, token: int) -> tuple[Node | None, float]:
        """Where a hypothesis at ``node`` (None: in no listed word) stands after ``token``, and
        the change of its bonus.
        """
        if node is not None and token in node.next:
            after = node.next[token]
            return after, after.earned - node.earned
        change = 0.0
        if node is not None and not (node.ends and not self._goes_on[token]):
            change = -node.earned
        first = self._root.next.get(token)
        return first, change + first.earned if first else change

    def _add(self, tokens: Sequence[int], bonus: float) -> None:
        node = self._root
        for count, token in enumerate(tokens, 1):
            node = node.next.setdefault(token, Node())
            node.earned = max(node.earned, bonus * count / len(tokens))
        node.ends = bool(tokens)


def _split(word: bytes, numbers: dict[bytes, int], longest: int) -> list[int]:
    """``word`` as pieces, longest match first; nothing if a byte of it has no piece.

    The model may prefer another split of the same word; that one then earns nothing.
    """
    tokens: list[int] = []
    at = 0
    while at < len(word):
        for size in range(min(longest, len(word) - at), 0, -1):
            if word[at : at + size] in numbers:
                tokens.append(numbers[word[at : at + size]])
                at += size
                break
        else:
            return []
    return tokens
