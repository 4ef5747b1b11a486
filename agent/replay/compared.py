"""What came out against what was expected, and what is known to stand behind a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.replay.case import COMPARED, Case, Pins
from agent.replay.types import Change as Changed
from rag.follow_up import Change

_NAMES = {"query": "query.text"}
"""How a field is called in ``ask --json`` and in a record."""


def changes_of(
    case: Case, results: Sequence[Mapping[str, Any]], passages: Mapping[str, str]
) -> tuple[Changed, ...]:
    """Every field of every turn that came out differently.

    ``passages`` are the hashes of today's by id, of which a case has the first letters.
    """
    found: list[Changed] = []
    number = 0
    for turn, result in zip(case.turns, results, strict=True):
        if turn.earlier:
            continue
        number += 1
        if not turn.expect:
            continue
        expect = {"heard": turn.heard, **turn.expect}
        why = tuple(_why(expect, result, passages))
        for name in COMPARED:
            before, after = expect.get(name), result.get(name)
            if name in expect and name in result and before != after:
                label = turn.heard or result.get("heard", "")
                found.append(Changed(number, label, _NAMES.get(name, name), before, after, why))
    return tuple(found)


def _why(
    expect: Mapping[str, Any], result: Mapping[str, Any], passages: Mapping[str, str]
) -> Iterator[str]:
    old, new = expect.get("floor"), result.get("floor")
    decided = expect.get("decision") != result.get("decision")
    if decided and old is not None and new is not None and old != new:
        score = result.get("score")
        yield f"the floor is {new}, was {old}" + ("" if score is None else f" (score {score})")
    yield from _rules(expect, result)
    for name, sha in sorted(expect.get("passages", {}).items()):
        if name not in passages:
            yield f"passage {name} is gone"
        elif not passages[name].startswith(sha):
            yield f"passage {name} was edited"


def _rules(expect: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    if "rules" not in expect:
        return
    before, after = expect["rules"], result.get("rules", [])
    for rule in before:
        if rule not in after:
            yield f"the rule “{rule}” no longer applies{_meaning(rule)}"
    for rule in after:
        if rule not in before:
            yield f"the rule “{rule}” applies now{_meaning(rule)}"


def _meaning(rule: str) -> str:
    meaning = _RULES.get(rule)
    return f" ({meaning})" if meaning else ""


_RULES: dict[str, str] = {
    Change.SLOT: "another weekday, date or kind of person in the question before",
    Change.DAY: "the day asked about before",
    Change.THING: "another thing of the kind",
    Change.ADDED: "the new words behind the question before",
    Change.DROPPED: "a topic of its own",
    Change.SAME: "the same question for another",
    Change.CORRECTED: "what was meant",
    Change.OTHER: "the other one",
    Change.POINTED: "the subject in the place of the pronoun",
    Change.IMPLIED: "of what was asked about before",
    Change.PLACE: "the place spoken about",
    Change.ASKED_AGAIN: "what was said before, asked again",
}


def pinned(before: Pins, now: Pins) -> tuple[str, ...]:
    """The models, floors and documents that are others than those the case was made with.

    What either side does not say is not compared.
    """
    found: list[str] = []
    for name, label in _PINNED:
        old, new = getattr(before, name), getattr(now, name)
        if old and new and old != new:
            found.append(f"{label} is {new}, was {old}")
    for language, old in sorted(before.floors.items()):
        new = now.floors.get(language)
        if now.floors and new != old:
            found.append(f"the floor of {language!r} is {new}, was {old}")
    return tuple(found)


_PINNED = (
    ("kb", "the documents' hash"),
    ("embedder", "the embedder"),
    ("recogniser", "the recogniser"),
)
