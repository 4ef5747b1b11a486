"""A recorded call as a case that may be shown to others: no personal details, and it replays.

Every personal value is replaced by a harmless one of the same shape (:mod:`agent.privacy`), the
same everywhere in the case. The audio stays where it is: a voice is a personal detail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agent.replay.case import Case, with_expected
from agent.replay.compared import changes_of
from agent.replay.details import WORDS, Replace, in_words, without_details
from agent.replay.models import RECORDED, Models
from agent.replay.recorded import case_of_record
from agent.replay.replaying import pins_now
from agent.replay.text import in_text
from rag import Index, Policy


@dataclass(frozen=True, slots=True)
class Exported:
    """A case that replays without a change today. ``notes`` say, in one line each, where that is
    another result than the call's.
    """

    case: Case
    notes: tuple[str, ...] = ()


async def exported(
    record: Path,
    index: Index,
    policy: Policy,
    stand_ins: Replace,
    models: Models = RECORDED,
    known: Mapping[int, str] | None = None,
) -> Exported:
    """The call in ``record`` as a case. ``known`` says of turns, by number, why they are wrong.

    Raises:
        ConfigError: it is no record, or has no turn.
    """
    call = case_of_record(record)
    turns = tuple(without_details(turn, stand_ins) for turn in call.turns)
    case = replace(call, turns=turns)
    results = tuple([row async for row in in_text(case, index, policy, models)])
    altered = _altered(call, case)
    changed = _changed(case, results, index, stand_ins, altered)
    case = with_expected(case, results, pins_now(index, policy))
    wrong = dict(known or {})
    marked, number = [], 0
    for turn in case.turns:
        number += not turn.earlier
        is_wrong = not turn.earlier and number in wrong
        marked.append(
            replace(turn, known=f"wrong: {stand_ins(wrong[number])}") if is_wrong else turn
        )
    notes = tuple(note for number, note in changed.items() if number not in wrong)
    desk = case.pins.desk
    pins = case.pins if desk is None else replace(case.pins, desk={**desk, **_rules(models)})
    about = f"Exported from {record.stem}."
    return Exported(replace(case, turns=tuple(marked), about=about, pins=pins), notes)


def _rules(models: Models) -> dict[str, Any]:
    """Those of a hand-over that the call had: the case is replayed under other settings too."""
    return {"rules": asdict(models.rules)}


def _compared(row: dict[str, Any], stand_ins: Replace) -> dict[str, Any]:
    """A result with stand-ins for what the agent says again of a caller's details."""
    return {
        name: in_words(value, stand_ins) if name in WORDS else value for name, value in row.items()
    }


def _altered(call: Case, case: Case) -> int:
    """The number of the first turn that was heard otherwise than it stands in ``case``."""
    pairs = zip(call.turns, case.turns, strict=True)
    altered = [at for at, (one, other) in enumerate(pairs) if one.heard != other.heard]
    earlier = sum(turn.earlier for turn in call.turns)
    return max(1, altered[0] + 1 - earlier) if altered else len(call.turns) + 1


def _changed(
    case: Case,
    results: tuple[dict[str, Any], ...],
    index: Index,
    stand_ins: Replace,
    altered: int,
) -> dict[int, str]:
    """Turns that come out differently than the call did, each with a line that says so. From turn
    ``altered`` on questions hold other words; what they were rewritten to does not count.
    """
    passages = {one.id: one.sha256 for one in index.kb.passages}
    names: dict[int, list[str]] = {}
    why: dict[int, str] = {}
    for change in changes_of(case, [_compared(row, stand_ins) for row in results], passages):
        if change.turn >= altered and change.field == "query.text":
            continue
        names.setdefault(change.turn, []).append(change.field)
        usual = "a stand-in" if change.turn >= altered else "the documents or the code"
        why[change.turn] = "; ".join(change.why) or usual
    return {
        turn: f"turn {turn} comes out differently ({', '.join(fields)}): {why[turn]}"
        for turn, fields in names.items()
    }
