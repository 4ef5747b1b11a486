"""What every reader returns, and the one error it raises."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from frontdesk import KnowledgeBaseError

MAX_BYTES = 50 * 1024 * 1024
"""A larger file is refused: no business's answers fill 50 MB, and reading one takes memory."""

Kind = Literal["paragraph", "row", "question"]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, table row or answer of a document.

    ``start`` and ``end`` are character offsets into ``Document.text``; that span with white space
    folded is ``text`` (in Markdown also with the markup taken away, and in a table of a text file
    with each cell's header put before it). ``heading`` is the nearest one above, ``page`` counts
    from 1 (PDF), ``row`` is the table's or sheet's own row number, from 1, its header counted.
    ``question`` is the one that the source itself sets beside this text. An empty ``text`` is a
    question that the source leaves without an answer.
    """

    text: str
    heading: str
    page: int | None
    row: int | None
    start: int
    end: int
    kind: Kind = "paragraph"
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One file that was read.

    ``text`` is the file's own text (Markdown, plain text, CSV), or what a person sees of it
    (HTML, PDF, DOCX, XLSX), in reading order. ``sha256`` is of the file's bytes. ``hidden`` is
    text in the file that a person who opens it does not see (comments, hidden elements, sheets and
    runs): never quotable, but checked. ``notes`` say what of the file could not be used.
    """

    id: str
    path: Path
    text: str
    blocks: tuple[Block, ...]
    sha256: str
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Content:
    """What one format's reader makes of the bytes."""

    text: str
    blocks: tuple[Block, ...]
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was not read. ``ignored`` ones are not documents: only listed."""

    path: Path
    reason: str
    kind: Literal["failed", "ignored"] = "failed"


class UnreadableFileError(KnowledgeBaseError):
    """A file that cannot be a document; ``reason`` says why and how to mend it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"cannot read {path}: {reason}")
        self.path = path
        self.reason = reason


class Damaged(Exception):
    """The reason alone, from a format's reader; ``read`` adds the file."""


def fold(text: str) -> str:
    """``text`` with every run of white space made one space."""
    return " ".join(text.split())


def sha256_of(data: bytes) -> str:
    """The hex SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


class Page:
    """Text in the making: appends pieces and remembers where each block stands."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.hidden: list[str] = []
        self.notes: list[str] = []
        self.heading = ""
        self._parts: list[str] = []
        self._length = 0

    def write(self, text: str, gap: str = "\n\n") -> tuple[int, int]:
        """Append ``text`` after ``gap``; its start and end."""
        if self._length:
            self._parts.append(gap)
            self._length += len(gap)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start, self._length

    def head(self, text: str) -> None:
        """Append a heading, which the blocks that follow stand under."""
        text = fold(text)
        if text:
            self.write(text)
            self.heading = text

    def paragraph(self, text: str, page: int | None = None) -> None:
        """Append one paragraph."""
        text = text.strip()
        if text:
            start, end = self.write(text)
            self.blocks.append(Block(fold(text), self.heading, page, None, start, end))

    def content(self) -> Content:
        """All that was appended."""
        text = "".join(self._parts)
        return Content(text, tuple(self.blocks), tuple(self.hidden), tuple(self.notes))
