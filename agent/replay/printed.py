"""What a replay found, for a person to read; and for a pipeline, as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from agent.replay.types import Change, Replayed
from frontdesk import ConfigError

_RED, _GREEN, _DIM, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


def lines(result: Replayed, *, colour: bool = False) -> Iterator[str]:
    """One conversation: how many turns and changes, then each change, before and after."""

    def in_colour(code: str, text: str) -> str:
        return f"{code}{text}{_PLAIN}" if colour else text

    from_audio = " from audio" if result.mode == "audio" else ""
    yield f"{result.path}: {result.turns} turns{from_audio}, {len(result.changes)} changes"
    own = result.results[len(result.results) - result.turns :]
    for number in result.new:
        row = own[number - 1]
        if row.get("heard"):
            decided = f"{row.get('decision')} ({row.get('reason')})"
            yield f"  turn {number} heard {row['heard']!r}: {decided}"
            yield f"    {_shown(row.get('say'))}"
    for number, change in enumerate(result.changes):
        yield f"  turn {change.turn} heard {change.heard!r}: {change.field}"
        yield in_colour(_RED, f"    - {_shown(change.before)}")
        yield in_colour(_GREEN, f"    + {_shown(change.after)}")
        if _is_last_of_turn(result.changes, number):
            for why in change.why:
                yield in_colour(_DIM, f"    because {why}")
            if change.turn in result.known:
                yield in_colour(_DIM, f"    it was known to be {result.known[change.turn]}")


def _is_last_of_turn(changes: Sequence[Change], number: int) -> bool:
    return number + 1 == len(changes) or changes[number + 1].turn != changes[number].turn


def _shown(value: Any) -> str:
    return "(nothing)" if value in ("", None) else str(value)


def as_json(result: Replayed) -> dict[str, Any]:
    """One conversation for ``--json``."""
    shape = {one.name: getattr(result, one.name) for one in fields(result)}
    changes = [{one.name: getattr(c, one.name) for one in fields(c)} for c in result.changes]
    del shape["results"], shape["pins"]
    return {**shape, "path": str(result.path), "changes": changes}


def write_junit(
    results: Sequence[Replayed], path: Path, unread: Mapping[Path, str] | None = None
) -> None:
    """Write one suite a conversation, and in it one test a turn; an error a file not read.

    Raises:
        ConfigError: it cannot be written.
    """
    root = ElementTree.Element("testsuites", name="frontdesk replay")
    for result in results:
        root.append(_suite(result))
    for file, why in (unread or {}).items():
        suite = ElementTree.SubElement(root, "testsuite", name=file.stem, tests="1", errors="1")
        case = ElementTree.SubElement(suite, "testcase", classname=str(file), name="read")
        ElementTree.SubElement(case, "error", message=_printable(why))
    try:
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise ConfigError(f"cannot write {path} ({error.strerror})") from None


def _suite(result: Replayed) -> ElementTree.Element:
    failed = {change.turn for change in result.changes}
    suite = ElementTree.Element(
        "testsuite",
        name=f"{result.path.stem} ({result.mode})",
        tests=str(result.turns),
        failures=str(len(failed)),
        time=f"{result.took_s:.3f}",
    )
    for turn in range(1, result.turns + 1):
        case = ElementTree.SubElement(
            suite, "testcase", classname=str(result.path), name=f"turn {turn}"
        )
        mine = [change for change in result.changes if change.turn == turn]
        if mine:
            message = f"{', '.join(change.field for change in mine)} changed"
            failure = ElementTree.SubElement(case, "failure", message=message)
            failure.text = _printable("\n".join(_told(mine)))
    return suite


def _told(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        yield f"heard {change.heard!r}: {change.field}"
        yield f"- {_shown(change.before)}"
        yield f"+ {_shown(change.after)}"
    yield from (f"because {why}" for why in changes[-1].why)


def _printable(text: str) -> str:
    """``text`` without what XML 1.0 cannot hold: a transcript may have anything in it."""
    return "".join(c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or c >= "\ue000")
