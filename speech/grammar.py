"""The words that an answer may consist of, and a beam search that can say nothing else.

Whether the caller gave such an answer at all is for :func:`is_answer` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from speech.beam import WIDTH, Hypothesis, Step

_SPACE = "▁"
_ESCAPE = 6.0
"""How much less likely (log) the answer may be than what is heard without a grammar. Chosen on
three speakers' digits and half of 120 short prompts, and measured on the others (5.5 and 6.5 were
chosen): 12.7 % of 300 digits wrong, 2.5 % of the prompts heard as digits."""
_MORE_WORDS = 1
"""How many more words than the answer has may be heard without one: "to exit the menu" is no
"two". Figures of a number count as words."""
_WORD = re.compile(r"\d|[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(slots=True, eq=False)
class _State:
    """How far into a word: the pieces that may follow, and whether the answer may end here."""

    next: dict[int, _State] = field(default_factory=dict)
    ends: bool = False


class Grammar:
    """Any of ``words``, any number of times, in any order, each capitalised or not.

    ``pieces`` is the model's vocabulary: a word may be spelled by whichever of its pieces the
    model likes. The words of ``beside`` may stand beside these, but are no answer without one.
    ``marks`` may follow a word without a space: punctuation, the figures of a number.
    """

    def __init__(
        self,
        words: Iterable[str],
        pieces: Sequence[bytes],
        *,
        beside: Iterable[str] = (),
        marks: Iterable[str] = (),
    ) -> None:
        # Of a piece of one byte, which stands twice, the later is the one in use (see bias.py).
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces), default=0)
        tokens = {self._numbers.get(mark.encode()) for mark in marks} - {None}
        answers, others = _forms(words), _forms(beside)
        first, later = self._states(answers | others), self._states(answers | others)
        for states, forms, then, ends in (
            (first, others, first, False),
            (first, answers, later, True),
            (later, answers | others, later, True),
        ):
            after = _State(dict(then[""].next), ends)
            after.next.update({token: after for token in tokens if token is not None})
            for form in forms:
                states[form].ends = ends
                for token, state in after.next.items():
                    states[form].next.setdefault(token, state)
        self.start = first[""]

    def _states(self, forms: set[str]) -> dict[str, _State]:
        """The states of ``forms`` by what is spelled so far, without what comes after a word."""
        states = {form[:end]: _State() for form in forms for end in range(len(form) + 1)}
        states.setdefault("", _State())
        for form in forms:
            for at in range(len(form)):
                for end in range(at + 1, min(len(form), at + self._longest) + 1):
                    token = self._numbers.get(form[at:end].encode())
                    if token is not None:
                        states[form[:at]].next[token] = states[form[:end]]
        return states


def search_only(
    step: Step, grammar: Grammar, *, start: int, end: int, limit: int, width: int = WIDTH
) -> Hypothesis | None:
    """The likeliest answer within ``grammar`` of at most ``limit`` tokens; None if there is none.

    As :func:`speech.beam.search`, which see for ``step``, ``start`` and ``end``.
    """
    beams: list[tuple[Hypothesis, _State]] = [(Hypothesis(), grammar.start)]
    tokens, parents = [start], [0]
    best: Hypothesis | None = None
    best_ended = -np.inf
    for _ in range(limit):
        logits = step(tokens, parents)
        log_p = logits - logits.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        found: list[tuple[float, int, int]] = []
        for parent, (beam, state) in enumerate(beams):
            if state.ends:
                ended = beam.log_probability + float(log_p[parent, end])
                if ended > best_ended:
                    best, best_ended = beam, ended
            found += [
                (-beam.log_probability - float(log_p[parent, token]), parent, token)
                for token in state.next
            ]
        found = sorted(found)[:width]
        if not found or best_ended >= -found[0][0]:
            break
        beams = [
            (_longer(beams[p][0], t, float(log_p[p, t])), beams[p][1].next[t]) for _, p, t in found
        ]
        tokens, parents = [t for _, _, t in found], [p for _, p, _ in found]
    return best


def is_answer(answer: str, margin: float, free: str) -> bool:
    """Whether ``answer`` was given, and not something that only sounds like it.

    ``free`` is what was heard without the grammar, and '' if it was noise, which would be an
    answer too; ``margin`` is the log probability of the answer less that of ``free``.
    """
    given, heard = len(_WORD.findall(answer)), len(_WORD.findall(free))
    return given > 0 and 0 < heard <= given + _MORE_WORDS and margin >= -_ESCAPE


def _longer(beam: Hypothesis, token: int, log_probability: float) -> Hypothesis:
    return Hypothesis(
        (*beam.tokens, token),
        (*beam.log_probabilities, log_probability),
        beam.log_probability + log_probability,
    )


def _forms(words: Iterable[str]) -> set[str]:
    return {_SPACE + form for word in words for form in (word, word[0].upper() + word[1:])}
