"""Journals read back, of this version and of older ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.records.chain import canonical
from frontdesk import ConfigError

# What a reader may count on.
_FIELDS = {
    "said": {"say"},
    "verdict": {"heard", "say", "decision", "reason", "score", "citations"},
    "call_ended": {"reason"},
}
FORMAT = 2
"""Of the events; 1 had no chain. It stands in ``call_started``."""


def read_record(path: Path) -> list[dict[str, Any]]:
    """The events of a record; a last line cut short by a kill is left out.

    Raises:
        ConfigError: if the file cannot be read, is not a call record, or is of a newer version.
    """
    try:
        return list(_events(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"{path} is not a call record ({error})") from None


def _events(text: str) -> Iterator[dict[str, Any]]:
    lines = text.rstrip("\n").split("\n") if text else []  # a transcript may hold U+2028
    if not lines:
        raise ValueError("it is empty")
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            if number == len(lines) and number > 1:
                return
            raise ValueError(f"line {number} is not JSON") from None
        if not _is_event(event):
            raise ValueError(f"line {number} is not an event")
        missing = _FIELDS.get(event["event"], set()) - event.keys()
        if missing:
            raise ValueError(f"line {number} lacks {', '.join(sorted(missing))}")
        _check_format(event)
        yield event


def _check_format(event: dict[str, Any]) -> None:
    written = event.get("format", 1) if event["event"] == "call_started" else 1
    if not isinstance(written, int) or written > FORMAT:
        raise ValueError(
            f"it is of format {written}, made by a newer Frontdesk; this reads {FORMAT}"
        )


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("event"), str) and isinstance(value.get("t_ms"), (int, float))


def chained(data: bytes) -> tuple[list[dict[str, Any]], str]:
    """The events of a chain's bytes, each written as it must be, and what is wrong with the next.

    Nothing is wrong where it says ''. Never raises: the bytes may be anybody's.
    """
    found: list[dict[str, Any]] = []
    for line in data.removesuffix(b"\n").split(b"\n") if data else ():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return found, "is not JSON: it was changed, or cut short by a kill"
        if not isinstance(event, dict):
            return found, "is no event"
        if "hash" in event and line != _as_written(event):
            return found, "was changed: it is not written as records are"
        found.append(event)
    return found, "" if data.endswith(b"\n") or not data else "its last line is not whole"


def _as_written(event: dict[str, Any]) -> bytes:
    return canonical(event)[:-1] + b',"hash":' + json.dumps(event["hash"]).encode() + b"}"
