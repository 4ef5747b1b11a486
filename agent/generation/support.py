"""Whether what a model says stands in the passages that it cites, figure by figure.

All figures and days of one sentence of an answer must stand in *one* sentence cited. Weekday
hours joined with "Saturday" from the sentence after pass any check of numbers alone: that is the
error that this product exists to prevent. Which figure belongs to which day inside a sentence
that names several is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.generation.figures import Figure, counted, figures, in_order, written
from agent.generation.shown import Shown
from rag.days import named_days
from rag.sentences import split_sentences

_ADDRESS = re.compile(
    r"\S+@\S+|\bhttps?:\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b(?!\.)", re.I
)


def unsupported(answer: str, cited: Sequence[Shown]) -> str:
    """What of ``answer`` no sentence of the ``cited`` passages supports; empty for nothing."""
    known = " ".join(passage.text.lower() for passage in cited)
    for address in _ADDRESS.findall(answer):
        if address.lower().rstrip(".,;:!?") not in known:
            return f"{address} is not in the passages cited"
    for sentence in split_sentences(answer):
        problem = _unsupported(sentence, cited)
        if problem:
            return problem
    return ""


def _unsupported(sentence: str, cited: Sequence[Shown]) -> str:
    said, days = in_order(sentence, is_claim=True), named_days(sentence.lower())
    if not said and not days:
        return ""
    text = " ".join(passage.text for passage in cited).lower()
    if unknown := sorted(word for word in counted(sentence) if word.rstrip("s") not in text):
        return f"the passages cited count no {unknown[0]}"
    fewest: tuple[Figure | str, ...] = ()
    for passage in cited:
        around = f"{passage.heading} {passage.question}".lower()
        for one in split_sentences(passage.text):
            missing = _missing(said, days, one, around)
            if not missing:
                return ""
            fewest = min(filter(None, (fewest, missing)), key=len)
    what = fewest[0] if fewest else sentence
    name = what if isinstance(what, str) else written(what)
    return f"no one sentence cited has {name!r} with the rest of {sentence!r}"


def _out_of_order(said: Sequence[Figure], known: Sequence[Figure]) -> tuple[Figure, ...]:
    """The first figure that does not come where ``known`` has it: "from 1 p.m. to 9 a.m."."""
    at = 0
    for one in said:
        places = (n for n in range(at, len(known)) if one in (known[n], (known[n][0], "")))
        place = next(places, None)
        if place is None:
            return (one,)
        at = place
    return ()


def _missing(
    said: Sequence[Figure], days: frozenset[str], sentence: str, around: str
) -> tuple[Figure | str, ...]:
    """Figures that ``sentence`` lacks, and days that neither it nor its heading names."""
    known = figures(sentence)
    values = {value for value, _ in known}
    # A claim that names no unit may leave it out; one that names another is wrong.
    lacking = [f for f in sorted(set(said)) if f not in known and (f[1] or f[0] not in values)]
    # "Weekend" above "on Saturday it opens at 9" says nothing of Sunday.
    own = named_days(sentence.lower()) or named_days(around)
    order = () if lacking else _out_of_order(said, in_order(sentence))
    return (*lacking, *order, *sorted(days - own))
