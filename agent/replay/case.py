"""A case: what was asked, turn by turn, what came of it, and what that rests on. One JSON file.

```json
{"case": 1, "about": "Saturday, then Sunday", "audio": "../audio",
 "pins": {"kb": "9a1f18461875e15b", "embedder": "da72aeee409caeaf", "floors": {"en": 0.3802},
          "recogniser": "moonshine", "at": "2026-12-01T10:00:00+00:00",
          "desk": {"can_transfer": false, "is_open": true}},
 "turns": [{"say": ["rms/q001.flac"], "heard": "What time do you open on Saturday?",
            "expect": {"decision": "answered", "citations": ["kb-hours#2"], "say": "…"}}]}
```

A turn with ``say`` has audio: files, and seconds of silence between them. ``docs/replay.md`` has
every field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from frontdesk import ConfigError
from frontdesk.errors import TransferProblem

VERSION = 1

COMPARED = ("heard", "decision", "reason", "query", "citations", "say", "hand_over", "said")
"""What a caller could notice, or what led to it. Scores and times differ between machines."""
EVIDENCE = ("score", "floor", "rules", "passages")
"""What a change is explained by."""

_CASE = {"case", "about", "audio", "pins", "turns"}
_PINS = {"kb", "embedder", "floors", "recogniser", "worded_by", "at", "desk"}
_DESK = {"can_transfer", "is_open", "rules", "transfer"}
_TURN = {
    *("say", "silence_s", "after_s", "over_s", "heard", "key", "before", "second", "rewritten"),
    *("generated", "expect", "known", "earlier"),
}
_EXPECT = {*COMPARED, *EVIDENCE}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the caller's.

    ``say`` are audio files and seconds of silence between them, ``silence_s`` that nothing is said
    for so long. It begins ``after_s`` of quiet, or ``over_s`` into the agent's reply. ``heard`` is
    what a recogniser made of it, and what is asked where there is no audio; ``key`` was pressed
    in its place. ``before`` are the events of a record since the turn before; ``second``,
    ``rewritten`` and ``generated`` what models came up with. ``known`` says why what is expected
    is wrong; an ``earlier`` turn is of the call before, and not compared.
    """

    heard: str = ""
    say: tuple[str | float, ...] = ()
    silence_s: float = 0.0
    after_s: float = 0.8
    over_s: float | None = None
    key: str = ""
    before: tuple[Mapping[str, Any], ...] = ()
    second: str = ""
    rewritten: str = ""
    generated: Mapping[str, Any] = field(default_factory=dict)
    expect: Mapping[str, Any] = field(default_factory=dict)
    known: str = ""
    earlier: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether there are words, or a key, to be answered: not silence, nor what no answer was
        expected to.
        """
        return not self.silence_s and self.expect.get("decision", "") is not None


@dataclass(frozen=True, slots=True)
class Pins:
    """What the expected results rest on; ``desk`` is None where nobody could be handed over to.

    ``at`` is the time of the call.
    """

    kb: str = ""
    embedder: str = ""
    floors: Mapping[str, float] = field(default_factory=dict)
    recogniser: str = ""
    worded_by: str = ""
    at: datetime = datetime(2026, 1, 1, 10, tzinfo=UTC)
    desk: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation. ``audio`` is the folder of its files; ``seconds`` how long it lasted."""

    turns: tuple[Turn, ...]
    pins: Pins = Pins()
    about: str = ""
    audio: Path | None = None
    seconds: float = 0.0

    @property
    def has_audio(self) -> bool:
        """Whether every turn can be spoken."""
        return all(turn.say or turn.silence_s for turn in self.turns)


def read_case(path: Path) -> Case:
    """The case in ``path``.

    Raises:
        ConfigError: it cannot be read, is no case, or is one of a newer version.
    """
    try:
        shape = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"{path} is not a case ({error})") from None
    try:
        return case_of(shape, path.parent)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{path} is not a case ({error})") from None


def case_of(shape: Any, folder: Path = Path()) -> Case:
    """The case that ``shape`` describes; its audio is named from ``folder``.

    Raises:
        ValueError: a field is unknown, missing, or of another type.
    """
    _known(shape, _CASE, "it")
    version = shape.get("case")
    if version != VERSION:
        raise ValueError(f"its version is {version!r}, and this reads {VERSION}: update frontdesk")
    rows = shape.get("turns")
    if not isinstance(rows, list) or not rows:
        raise ValueError("it has no turns")
    audio = folder / shape["audio"] if shape.get("audio") else None
    turns = tuple(_turn(row, f"turn {number}") for number, row in enumerate(rows, 1))
    return Case(turns, _pins(shape.get("pins", {})), str(shape.get("about", "")), audio)


def _turn(row: Any, where: str) -> Turn:
    _known(row, _TURN, where)
    _known(row.get("expect", {}), _EXPECT, f"{where}: expect")
    if not ({"say", "silence_s", "heard", "key"} & row.keys()):
        raise ValueError(f"{where} has neither say, silence_s, heard nor key")
    for name in ("heard", "key", "second", "rewritten", "known"):
        if not isinstance(row.get(name, ""), str):
            raise ValueError(f"{where}: {name} is not text")
    for name in ("silence_s", "after_s", "over_s"):
        if not isinstance(row.get(name, 0), int | float) or row.get(name, 0) < 0:
            raise ValueError(f"{where}: {name} is not a number of seconds")
    say = row.get("say", [])
    if not isinstance(say, list) or not all(isinstance(one, str | int | float) for one in say):
        raise ValueError(f"{where}: say is not a list of files and seconds")
    fields = {**row, "say": tuple(say), "before": tuple(row.get("before", ()))}
    return Turn(**fields)


def _pins(row: Any) -> Pins:
    _known(row, _PINS, "pins")
    if row.get("desk") is not None:
        _known(row["desk"], _DESK, "pins: desk")
        problem = row["desk"].get("transfer", "")
        if problem and problem not in get_args(TransferProblem):
            raise ValueError(f"pins: desk: no transfer fails with {problem!r}")
    fields = dict(row)
    if "at" in fields:
        fields["at"] = at = datetime.fromisoformat(fields["at"])
        if at.tzinfo is None:
            raise ValueError("pins: at has no time zone")
    return Pins(**fields)


def _known(shape: Any, names: set[str], where: str) -> None:
    if not isinstance(shape, Mapping):
        raise ValueError(f"{where} is not an object")
    unknown = sorted(shape.keys() - names)
    if unknown:
        raise ValueError(f"{where} has the unknown field {unknown[0]!r}")


def shape_of(case: Case, audio: str = "") -> dict[str, Any]:
    """``case`` as it is written; ``audio`` is how its folder is named there."""
    shape: dict[str, Any] = {"case": VERSION, "about": case.about}
    if audio:
        shape["audio"] = audio
    pins = case.pins
    shape["pins"] = {
        **{name: getattr(pins, name) for name in ("kb", "embedder", "recogniser", "worded_by")},
        "floors": dict(pins.floors),
        "at": pins.at.isoformat(),
        "desk": None if pins.desk is None else dict(pins.desk),
    }
    shape["pins"] = {name: one for name, one in shape["pins"].items() if one not in ("", {})}
    shape["turns"] = [_turn_shape(turn) for turn in case.turns]
    return shape


def _turn_shape(turn: Turn) -> dict[str, Any]:
    default = Turn()
    shape: dict[str, Any] = {}
    for name in (*("say", "silence_s", "after_s", "over_s", "earlier", "heard", "key"), *_LATER):
        value = getattr(turn, name)
        if value != getattr(default, name):
            shape[name] = list(value) if isinstance(value, tuple) else value
    return shape


_LATER = ("before", "second", "rewritten", "generated", "known", "expect")


def write_case(case: Case, path: Path, audio: str = "") -> None:
    """Write ``case`` whole or not at all, one turn after the other and easy to compare.

    Raises:
        ConfigError: it cannot be written.
    """
    text = json.dumps(shape_of(case, audio), ensure_ascii=False, indent=1) + "\n"
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path} ({error.strerror})") from None


def with_second(case: Case, results: Sequence[Mapping[str, Any]]) -> Case:
    """``case`` with what was heard in ``results``, and what a second recogniser heard then."""
    pairs = zip(case.turns, results, strict=True)
    turns = [
        replace(turn, heard=row.get("heard", turn.heard), second=row.get("second", ""))
        for turn, row in pairs
    ]
    return replace(case, turns=tuple(turns))


def with_expected(case: Case, results: tuple[dict[str, Any], ...], pins: Pins) -> Case:
    """``case`` that expects ``results``, a row for each of its turns, and rests on ``pins``."""
    turns = [
        turn if turn.earlier else replace(turn, **_accepted(turn, result))
        for turn, result in zip(case.turns, results, strict=True)
    ]
    kept = replace(pins, at=case.pins.at, desk=case.pins.desk)
    return replace(case, turns=tuple(turns), pins=kept)


def _accepted(turn: Turn, result: Mapping[str, Any]) -> dict[str, Any]:
    if not result:  # silence, which text knows nothing of
        return {}
    expect = {name: result[name] for name in (*COMPARED, *EVIDENCE) if name in result}
    if "said" in turn.expect:
        expect.setdefault("said", turn.expect["said"])
    expect.pop("heard", None)
    taken: dict[str, Any] = {"expect": expect}
    for name in ("heard", "before", "second"):
        if name in result:
            taken[name] = result[name]
    same = all(turn.expect.get(name) == expect.get(name) for name in COMPARED)
    return taken if same else {**taken, "known": ""}
