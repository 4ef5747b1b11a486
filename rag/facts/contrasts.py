"""Opposites that a knowledge base itself sets: words that change the value and nothing else.

"Unblocking a sink is $85", "Unblocking a toilet is $110": here sink and toilet exclude each other,
and a question for the one is not answered by what is said of the other. Over the made-up
businesses (``tools/businesses``) this fails one right sentence in 6,301.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag.days import WEEKDAYS
from rag.facts.types import Fact, Slots
from rag.pieces import stem

# Days have a slot of their own; a word of the rest changes with the value but names nothing.
_NAMES_NOTHING = frozenset(
    stem(word)
    for word in (
        *WEEKDAYS,
        *"weekend weekday hour day week month year minute am pm dollar each every per".split(),
        # Whether, not what: "closed on Sunday" is an answer to "are you open".
        *"open opens opening close closes closed closing start end".split(),
        *"one two three four five six seven eight nine ten eleven twelve".split(),
    )
)
_MOST_WORDS, _MOST_ALIKE = 12, 20
MOST_SENTENCES = 100_000
"""Contrasts are those of one business; of a crowd of them they would be chance, and cost memory."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Which stems exclude which, each way round."""

    of_stem: Mapping[str, frozenset[str]]

    @classmethod
    def found(cls, sentences: Iterable[Sequence[Fact]]) -> Contrasts:
        """The contrasts among the facts of all sentences of a knowledge base."""
        # By kind and hash of the other words: what else was said with them, and its values.
        said: dict[tuple[str, int], dict[str, set[str]]] = {}
        for facts in sentences:
            for fact in facts:
                words = fact.subject - _NAMES_NOTHING
                if fact.kind == "statement" or not 1 < len(words) <= _MOST_WORDS:
                    continue
                for word in words:
                    its = said.setdefault((fact.kind, hash(words - {word})), {})
                    its.setdefault(word, set()).add(fact.value.value)
        against: dict[str, set[str]] = defaultdict(set)
        for its in said.values():
            # A price list: every line excludes every other, and the words asked decide alone.
            for one in its if 1 < len(its) <= _MOST_ALIKE else ():
                against[one].update(two for two in its if two != one and not its[one] & its[two])
        return cls({one: frozenset(others) for one, others in against.items() if others})

    def as_json(self) -> dict[str, list[str]]:
        """Plain values, to be kept."""
        return {one: sorted(others) for one, others in self.of_stem.items()}

    @classmethod
    def from_json(cls, of_stem: Mapping[str, Iterable[str]]) -> Contrasts:
        """What :meth:`as_json` gave."""
        return cls({one: frozenset(others) for one, others in of_stem.items()})

    def clash(self, slots: Slots, fact: Fact) -> str:
        """Why ``fact`` is about the other of two things, or ''."""
        for one in sorted(slots.asked & self.of_stem.keys()):
            others = (self.of_stem[one] & fact.subject) - slots.subject
            if others and one not in fact.around:
                return f"asked about {one}, said of {min(others)}"
        return ""
