"""Which questions are made of which statements: two tables of patterns, tried in turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rag.expand import makers
from rag.expand.makers import Parts

Maker = Callable[[Parts, str], Iterator[str]]
Table = tuple[tuple[re.Pattern[str], Maker], ...]

# Words of a subject; a clause inside one would lend it the verb of another.
_WORD = r"(?!(?:if|when|while|because|although|who|which|that|but|please|there)\b)[\w'&/:-]+"
_SUBJECT = (
    r"(?P<subject>(?!(?:after|before|to|the most) )"
    rf"(?:{_WORD},? ){{0,8}}?(?!(?:the|an|our|your|its) ){_WORD})"
)
# What a business says that it does.
_VERB = (
    r"(?P<verb>have|offer|accept|provide|sell|serve|allow|charge|require|give|include|help|see"
    r"|treat|need|speak|welcome|support|permit|feature|cover|pay|hold|keep|ask|answer|repair"
    r"|deliver|ship)"
)
_REST = "(?P<rest>.+)"


def questions(statement: str, heading: str) -> Iterator[str]:
    """The questions that one statement answers, the likeliest first.

    Of the patterns with a subject, that with the shortest fits: its verb is the statement's own.
    """
    for table in (_BY_ITS_START, _BY_ITS_VERB):
        found = [
            (match, make) for pattern, make in table if (match := pattern.fullmatch(statement))
        ]
        if found:
            match, make = min(found, key=lambda one: len(one[0].groupdict().get("subject") or ""))
            yield from make(match, heading)
            return


def _table(*rows: tuple[str, Maker]) -> Table:
    return tuple((re.compile(pattern), make) for pattern, make in rows)


_BY_ITS_START = _table(
    (rf"there (?P<verb>is|are) (?:not )?{_REST}", makers.of_there),
    (
        r"to (?P<aim>[^,]+), (?P<rest>(?:call|press|visit|ask|use|email|send|bring) .+)",
        makers.of_aim,
    ),
    (
        r"(?P<verb>bring|call|press|visit|ask|use|email|send|wait|arrive|fill|contact|book|order"
        rf"|tell|pay|park|check|report|open) {_REST}",
        makers.of_order,
    ),
    (rf"(?:also )?{_VERB}s {_REST}", makers.of_does),
)
_BY_ITS_VERB = _table(
    (
        rf"{_SUBJECT} (?P<do>does|do) (?:not )?(?:also )?(?P<verb>\w+) {_REST}",
        makers.of_does,
    ),
    (rf"{_SUBJECT} (?P<verb>is|are) {_REST}", makers.of_is),
    (rf"{_SUBJECT} (?P<verb>open|close|start|begin|end)(?P<s>s?) {_REST}", makers.of_acts),
    (rf"{_SUBJECT} (?P<verb>take|last)(?P<s>s?) {_REST}", makers.of_takes),
    (rf"{_SUBJECT} cost(?P<s>s?) {_REST}", makers.of_costs),
    (rf"{_SUBJECT} (?P<verb>can|may|will|could) {_REST}", makers.of_can),
    (rf"{_SUBJECT} (?:must|should|needs? to|ha(?:ve|s) to) {_REST}", makers.of_must),
    (rf"{_SUBJECT} (?:also |only )?ha(?P<s>s) {_REST}", makers.of_does),
    (rf"{_SUBJECT} (?:also |only )?{_VERB}(?P<s>s?)(?:ed)? {_REST}", makers.of_does),
)
