"""How much silence to wait for before the caller's turn is over.

The evidence is how the turn sounds (:mod:`speech.ending`, or :mod:`speech.turn` where the
recogniser cannot tell), how it reads (:mod:`agent.completeness`), what cannot be its end
(:func:`dangles`, :mod:`agent.half_said`) and how this caller has paused before. See
``docs/patience.md`` for what it is worth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agent.completeness import completeness
from agent.half_said import half_said
from frontdesk import odds
from rag.rivals import log_odds
from speech.types import Hint

if TYPE_CHECKING:
    from agent.turns import TurnPolicy

# Logistic regression on the garage's recordings (``python -m bench.cutoffs --fit``): the weights of
# how a turn sounds and of how it reads, both as log odds, and the bias.
_SOUND, _WORDS, _BIAS = 0.85, 0.34, -0.29
# An end that is less likely than one in twenty is waited for like one that cannot be.
_HARDLY = 0.05

# Words nobody ends a turn with: conjunctions, articles, prepositions, hesitations.
_DANGLING = frozenset(
    "and or but so because if when that than the a an my your our their this these to for of with "
    "at in on from by about is are was were do does did can could would will should i i'm um uh er "
    "erm like then what's".split()
)
# A question may well end in one of these ("what is that for", "when do you open on").
_STRANDED = frozenset("to for of with at in on from by about that do does did can is are".split())
# “Do you …”, “can I …”: a question that has only begun, question mark or not.
_AUXILIARIES = frozenset(
    "am are can could did do does had has have how's is may must shall should was were what's "
    "when's where's will would".split()
)
_BEING = frozenset("am are is was were".split())
_DOING = frozenset("do did does have had has".split())
_ASKING = frozenset("who what when where how why which".split())
_SUBJECTS = frozenset("i you we they he she it there guys".split())
# Whole as they are, though they end in a small word.
_COMMANDS = frozenset({"go on", "hold on", "hang on", "carry on", "repeat that", "say that"})


def patience_ms(
    text: str | None,
    probability: float | None,
    policy: TurnPolicy,
    *,
    resumed: int = 0,
    expects: Hint = Hint.NONE,
) -> float:
    """Milliseconds of silence after which the turn is over.

    ``text`` is what was heard so far, ``probability`` that it is all, by how it sounds; each is
    None while it is not known. ``resumed`` is how many of this caller's pauses were lately taken
    for an end, or could have been, and were none. ``expects`` is what the agent has just asked
    for.
    """
    if probability is None or text is None:
        return policy.cap_ms
    if dangles(text) or half_said(text, expects):
        return policy.dangling_ms
    if finished(text, probability, resumed) >= policy.complete_probability:
        return policy.settle_ms
    hardly = finished(text, probability) < _HARDLY
    return policy.dangling_ms if hardly else policy.unsure_ms


def finished(text: str, probability: float, resumed: int = 0) -> float:
    """Probability that the caller has finished, by how the turn sounds and reads.

    One earlier pause that was no end makes the odds a quarter, two a ninth, and so on: a caller
    who was cut once is given time.
    """
    evidence = _SOUND * log_odds(probability) + _WORDS * completeness(text) + _BIAS
    return odds.probability(evidence - 2 * math.log1p(resumed))


def dangles(text: str) -> bool:
    """Whether the words stop where no one stops: “and”, “the”, “um”, “do you”."""
    asked = text.rstrip().endswith("?")
    words = text.lower().replace("?", " ").replace(".", " ").replace(",", " ").split()
    if not words or " ".join(words) in _COMMANDS:
        return False
    if _only_begun(words):
        return True
    last = words[-1]
    return not asked and last in _DANGLING and not (last in _STRANDED and len(words) > 3)


def _only_begun(words: list[str]) -> bool:
    """“Do you”, “what can I”; but “who are you” is whole."""
    if len(words) < 2 or words[-2] not in _AUXILIARIES or words[-1] not in _SUBJECTS:
        return False
    if words[-1] == "it" and words[-2] in _DOING:  # “when will you have it”
        return False
    return not (words[-2] in _BEING and words[:-2] and words[-3] in _ASKING)
