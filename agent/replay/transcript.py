"""A conversation that was written down, one JSON object a line.

``{"heard": "…"}`` or ``{"role": "user", "text": "…"}`` is a turn; what follows it with the role
"assistant" is what was said to it. Nothing else is expected of such a turn.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.replay.case import Case, Turn
from frontdesk import ConfigError

_CALLERS = ("user", "caller", "customer")
_AGENTS = ("assistant", "agent", "bot")
_FIELDS = ({"heard"}, {"heard", "say"}, {"role", "text"})


def is_transcript(path: Path) -> bool:
    """Whether the first line looks like one, rather than like a call record."""
    try:
        with path.open(encoding="utf-8") as file:
            first = json.loads(file.readline())
    except (OSError, UnicodeDecodeError, ValueError):
        return False
    return (
        isinstance(first, dict) and "event" not in first and bool({"heard", "role"} & first.keys())
    )


def case_of_transcript(path: Path) -> Case:
    """The conversation in ``path``.

    Raises:
        ConfigError: a line is no JSON, or has other fields; the line is named.
    """
    turns: list[Turn] = []
    said: list[dict[str, str]] = []
    for number, line in enumerate(_text(path).rstrip("\n").split("\n"), 1):
        try:
            role, text, say = _line(json.loads(line))
        except ValueError as error:
            reason = "it is not JSON" if isinstance(error, json.JSONDecodeError) else error
            raise ConfigError(f"{path}, line {number}: {reason}") from None
        if role in _CALLERS:
            expect = {} if say is None else {"say": say}
            turns.append(Turn(heard=text, expect=expect, before=tuple(said)))
            said = []
        elif turns and not said and not turns[-1].expect:
            turns[-1] = replace(turns[-1], expect={"say": text})
        else:
            said.append({"event": "said", "say": text})
    if not turns:
        raise ConfigError(f"{path} holds no turn to replay")
    return Case(tuple(turns), about=path.stem)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({error})") from None


def _line(row: Any) -> tuple[str, str, str | None]:
    """The role, its words, and what was said to them, if the line says so."""
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    fields = row.keys()
    if fields not in _FIELDS:
        unknown = sorted(fields - {"heard", "say", "role", "text"})
        problem = f"unknown field {unknown[0]!r}" if unknown else "fields that do not go together"
        raise ValueError(f'{problem}; a line is {{"heard": …}} or {{"role": …, "text": …}}')
    if not all(isinstance(value, str) for value in row.values()):
        raise ValueError("a value is not text")
    if "heard" in row:
        return _CALLERS[0], row["heard"], row.get("say")
    role = row["role"].lower()
    if role not in (*_CALLERS, *_AGENTS):
        raise ValueError(f"unknown role {row['role']!r}; use user or assistant")
    return role, row["text"], None
