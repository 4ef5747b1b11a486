"""Whether the facts of a draft are those of its passages, and answer what was asked.

:mod:`agent.generation.support` finds every figure in one sentence cited. Here each is also held to
what that sentence says it of: "adults pay $5, children $3" does not let a child pay $5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.generation.shown import Shown
from rag import facts
from rag.days import named_days
from rag.facts import Contrasts, Fact
from rag.facts.opposites import other
from rag.facts.types import Qualifiers
from rag.pieces import stem
from rag.sentences import split_sentences
from rag.types import Check, Query

_STATEMENT = "statement"
_NAMES_NOTHING = frozenset(
    stem(word)
    for word in "open opens close closes closed start starts end ends take takes cost costs last "
    "lasts pay is are get day days hour hours call calls phone telephone ring dial number line "
    "weekday weekdays weekend weekends monday tuesday wednesday thursday friday saturday "
    "sunday".split()
)
_OPENS, _CLOSES = frozenset({"opening"}), frozenset({"closing"})


def answers(query: Query, text: str, contrasts: Contrasts | None) -> Check:
    """Whether a fact of ``text`` has the slots of what is asked, as for a quoted sentence."""
    # A question that was put together has its parts in no order that could be read.
    slots = facts.slots(query.text if query.changes else query.raw)
    stated = [fact for one in split_sentences(text) for fact in facts.read(one)]
    fit = facts.fits(slots, stated, contrasts)
    return Check("facts", fit.ok, fit.detail)


def stands(query: Query, text: str, cited: Sequence[Shown]) -> Check:
    """Whether each fact of ``text`` is one of a sentence cited, said of the same."""
    known = tuple(_known(cited))
    asked_days = named_days(query.text)
    problem = ""
    for sentence in split_sentences(text):
        for fact in facts.read(sentence):
            problem = problem or _problem(fact, known, asked_days)
    return Check("facts_in_passage", not problem, problem)


def _known(cited: Sequence[Shown]) -> Iterable[Fact]:
    for passage in cited:
        beside = f"{passage.heading} {passage.question}".strip()
        for sentence in split_sentences(passage.text):
            yield from facts.read(sentence)
            if beside:
                yield from facts.read(sentence, beside=beside)


def _problem(said: Fact, known: Sequence[Fact], asked_days: frozenset[str]) -> str:
    """Why no one of ``known`` is what is ``said``; "" if one is."""
    if said.kind == _STATEMENT:
        return ""
    same = [one for one in known if _same_value(said, one)]
    # Figures that are read as no value of that kind are for the check of figures alone.
    problems = [
        _conflict(said, one, asked_days) or _end(said, one) or _rival(said, one, known)
        for one in same
    ]
    if not problems or "" in problems:
        return ""
    return f"{said.value.value} {said.value.unit}".strip() + f": {problems[0]}"


def _same_value(said: Fact, one: Fact) -> bool:
    if said.kind != one.kind or said.value.unit != one.value.unit:
        return False
    return set(said.value.value.split("-")) <= set(one.value.value.split("-"))


def _conflict(said: Fact, one: Fact, asked_days: frozenset[str]) -> str:
    mine, its = said.qualifiers, one.qualifiers
    if its.days and not (mine.days or asked_days) & its.days:
        return f"holds on {_list(its.days)} alone"
    if mine.days - its.days and its.days:
        return f"said of {_list(its.days)}, not of {_list(mine.days - its.days)}"
    turned = sorted(
        side
        for side in said.attribute
        if other(side) in one.attribute and side not in one.attribute
    )
    if turned:
        return f"said of {other(turned[0])}, not of {turned[0]}"
    for what in ("audience", "service"):
        own, others = _names(mine, what), _names(its, what)
        if own and others and not own & others:
            return f"said of {_list(others)}, not of {_list(own)}"
    if said.value.bound != one.value.bound:
        return f"{one.value.bound or 'exactly'}, not {said.value.bound or 'exactly'}"
    if said.value.per and said.value.per != one.value.per:
        return f"per {one.value.per or 'nothing'}, not per {said.value.per}"
    return ""


def _end(said: Fact, one: Fact) -> str:
    """Of "from 9 to 1" the 9 opens and the 1 closes."""
    start, _, end = one.value.value.partition("-")
    value = said.value.value
    if not end or said.attribute not in (_OPENS, _CLOSES):
        return ""
    if value == start and said.attribute == _CLOSES:
        return "opening, not closing"
    if value == end and said.attribute == _OPENS:
        return "closing, not opening"
    return ""


def _rival(said: Fact, one: Fact, known: Sequence[Fact]) -> str:
    """A fact with another value, whose name is said where that of ``one`` is not."""
    for rival in known:
        if rival.kind != one.kind or _same_value(said, rival):
            continue
        taken = said.subject & (rival.subject - one.subject) - _NAMES_NOTHING
        if taken and not said.subject & (one.subject - rival.subject):
            return f"{rival.value.value} {rival.value.unit}".strip() + f" is that of {_list(taken)}"
    return ""


def _names(qualifiers: Qualifiers, what: str) -> frozenset[str]:
    return qualifiers.audience if what == "audience" else qualifiers.service


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
