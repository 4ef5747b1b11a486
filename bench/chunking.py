"""What the bake-off of chunkers runs on: passages, and questions with the ids of those that fit."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bench.public import xquad
from bench.public.rows import read
from frontdesk import ConfigError
from rag import documents, questions
from rag.chunkers import Source

Passages = list[tuple[str, Source]]
Questions = list[tuple[str, Collection[str]]]


def kb_set(folder: Path, *, typed: bool) -> tuple[Passages, Questions]:
    """The passages of a knowledge base and its questions, as heard by every voice or as typed."""
    kb = documents.load(folder)
    rows = questions.read(folder / questions.QUESTIONS_FILE)
    asked = questions.asked(rows, [questions.TYPED] if typed else None, fillers=kb.fillers)
    passages = [
        (p.id, Source(p.text, p.language, "paragraph" if p.row is None else "row", p.heading))
        for p in kb.passages
    ]
    return passages, [(one.query.text, one.question.relevant) for one in asked]


def xquad_set(data: Path) -> tuple[Passages, Questions]:
    """The English passages of XQuAD, long enough to be cut, and its questions as written.

    Raises:
        ConfigError: if the files are not in the folder ``data``.
    """
    missing = [name for name in xquad.FILES if not (data / name).is_file()]
    if missing:
        raise ConfigError(f"{data} has no {missing[0]}; give its folder with --data DIR")
    rows, asked = (read(data / name) for name in xquad.FILES)
    passages = [(row["id"], Source(row["en"], "en", "paragraph", "")) for row in rows]
    return passages, [(row["question_en"], (row["passage"],)) for row in asked]
