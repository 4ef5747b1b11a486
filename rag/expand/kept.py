"""Questions that a language model made of passages, kept beside the index.

One JSON line a passage and model, so that a build asks only about what is new. Nothing is ever
taken from here to be quoted. To have every passage asked about again, remove the file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rag.documents import Progress
from rag.types import Passage

FILE = "questions-made.jsonl"


class Kept:
    """The questions that ``model`` made, in ``folder``; those of other models stay untouched.

    A line that cannot be read, as a build that was killed may leave one, counts as none.

    Raises:
        OSError: if the file is there and cannot be read.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.model = model
        self._path = folder / FILE
        self._rows: dict[tuple[str, str], tuple[str, ...]] = {}
        text = self._path.read_text("utf-8", "replace") if self._path.exists() else ""
        self._is_torn = bool(text) and not text.endswith("\n")
        for line in text.split("\n"):
            if row := _row(line):
                self._rows[row[0]] = row[1]

    def of(self, passage: Passage) -> tuple[str, ...] | None:
        """The questions made of a passage; None if the model has not been asked about it."""
        return self._rows.get((_digest(passage), self.model))

    def missing(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those of ``passages`` that the model has not been asked about, each text once."""
        waiting = {_digest(passage): passage for passage in passages if self.of(passage) is None}
        return list(waiting.values())

    def add(self, passage: Passage, questions: Sequence[str]) -> None:
        """Keep the questions made of a passage, from now on and in the file.

        Raises:
            OSError: if the file cannot be written to.
        """
        key = (_digest(passage), self.model)
        self._rows[key] = tuple(questions)
        line = _line(key, self._rows[key])
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + line if self._is_torn else line)
        self._is_torn = False

    def drop_old(self, passages: Sequence[Passage]) -> None:
        """Remove what is of none of ``passages``, once that is more than what is of them.

        Sooner, a file that cannot be read for once would have all of it asked again.

        Raises:
            OSError: if the file cannot be written to.
        """
        known = {_digest(passage) for passage in passages}
        rows = {key: questions for key, questions in self._rows.items() if key[0] in known}
        if len(self._rows) <= 2 * len(rows):
            return
        self._rows = rows
        unfinished = self._path.with_suffix(".unfinished")
        unfinished.write_text("".join(_line(*row) for row in rows.items()), "utf-8")
        os.replace(unfinished, self._path)
        self._is_torn = False


Ask = Callable[[Sequence[Passage], Kept, Progress | None], None]
"""Asks a model about the passages that have none kept, and keeps what it makes."""


def _digest(passage: Passage) -> str:
    parts = [passage.text, passage.heading, passage.question, passage.language]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _line(key: tuple[str, str], questions: Sequence[str]) -> str:
    row = {"passage": key[0], "model": key[1], "questions": list(questions)}
    return json.dumps(row, ensure_ascii=False) + "\n"


def _row(line: str) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    try:
        row: Any = json.loads(line)
        questions = tuple(str(question) for question in row["questions"])
        return (str(row["passage"]), str(row["model"])), questions
    except (ValueError, KeyError, TypeError):
        return None
