"""The questions that were asked, each once with how often: of call records, or of a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.records.rows import TurnRow
from frontdesk import ConfigError
from rag import Query, make_query

_ASKED = frozenset({"answered", "refused"})
_NO_QUESTION = frozenset({"empty", "too_long", "instruction", "other_callers"})
"""Refusals of what the documents were never asked for."""


@dataclass(frozen=True, slots=True)
class Past:
    """One question: as it is looked up, as most callers put it, in how many turns and calls.

    ``calls`` is 0 for a question of a file.
    """

    query: Query
    heard: str
    times: int
    calls: int = 0

    @property
    def question(self) -> str:
        """What is looked up."""
        return self.query.text


def of_turns(turns: Iterable[TurnRow]) -> list[Past]:
    """The questions of calls by what was looked up, the most asked first.

    What a follow-up was resolved to stays as it was: that is what the caller meant.
    """
    by_question: dict[str, list[TurnRow]] = {}
    for turn in turns:
        if turn.decision in _ASKED and turn.reason not in _NO_QUESTION and turn.question.strip():
            by_question.setdefault(turn.question, []).append(turn)
    past = [_of(question, same) for question, same in by_question.items()]
    return sorted(past, key=lambda one: (-one.times, one.question))


def of_file(path: Path) -> list[Past]:
    """The questions of ``path``: one a line, as text, or as JSON with ``text`` and ``context``.

    Raises:
        ConfigError: it cannot be read; the line is named.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"cannot read the questions in {path}: {why}") from None
    found: dict[str, Past] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        text, context = _row(line, f"{path} line {number}")
        query = make_query(text, context)
        if query.text:
            first = found.get(query.text, Past(query, text, 0))
            found[query.text] = replace(first, times=first.times + 1)
    return sorted(found.values(), key=lambda one: -one.times)


def _of(question: str, turns: list[TurnRow]) -> Past:
    heard = Counter((turn.heard, turn.context) for turn in turns)
    (text, context), _ = heard.most_common(1)[0]
    query = make_query(text, context)
    if query.text != question:  # a call remembers more than the question before
        query = replace(query, text=question, focus=())
    return Past(query, text, len(turns), len({turn.call for turn in turns}))


def _row(line: str, where: str) -> tuple[str, str | None]:
    if not line.lstrip().startswith("{"):
        return line.strip(), None
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{where} is no JSON ({error}); mend it or leave it out") from None
    text, context = row.get("text"), row.get("context")
    if not isinstance(text, str) or not isinstance(context, str | None):
        raise ConfigError(f'{where} has no "text"; write a question a line, or {{"text": "…"}}')
    return text, context or None
