"""Which reader reads which suffix, and the checks that every file passes first."""

from __future__ import annotations

import hashlib
import logging
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from rag.language import language_of
from rag.readers import delimited, docx, html, markdown, pdf, plain, xlsx
from rag.readers.types import MAX_BYTES, Content, Damaged, Document, UnreadableFileError, sha256_of
from rag.types import Passage

_log = logging.getLogger(__name__)

READERS: Mapping[str, Callable[[bytes], Content]] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".txt": plain.read,
    ".text": plain.read,
    ".html": html.read,
    ".htm": html.read,
    ".pdf": pdf.read,
    ".docx": docx.read,
    ".csv": delimited.read,
    ".tsv": delimited.read_tabs,
    ".xlsx": xlsx.read,
}


def read(path: Path) -> Document:
    """The document in ``path``; its id is the file's name without the suffix.

    Raises:
        UnreadableFileError: with the reason, and how to mend it.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise UnreadableFileError(path, f"unknown suffix {path.suffix!r}; known are {known}")
    data = _bytes(path)
    try:
        content = reader(data)
    except Damaged as error:
        raise UnreadableFileError(path, str(error)) from error
    except Exception as error:
        # Whatever a library lets out at one file, the others are read.
        _log.debug("reading %s failed", path, exc_info=True)
        detail = (str(error).splitlines() or [""])[0][:100]
        raise UnreadableFileError(
            path,
            f"its reader failed ({type(error).__name__}: {detail}); save it again or in another "
            "format",
        ) from error
    if not content.blocks:
        raise UnreadableFileError(path, "it holds no text to quote; add a paragraph or remove it")
    return Document(
        path.stem, path, content.text, content.blocks, sha256_of(data), content.hidden,
        content.notes,
    )  # fmt: skip


def to_passages(document: Document) -> list[Passage]:
    """The quotable blocks of ``document`` as passages, ids ``doc#1`` upward."""
    blocks = [block for block in document.blocks if block.text]
    return [
        Passage(
            f"{document.id}#{number}",
            document.id,
            block.heading,
            block.text,
            block.start,
            block.end,
            hashlib.sha256(block.text.encode()).hexdigest(),
            block.page,
            block.row,
            block.question,
            language_of(block.text),
        )
        for number, block in enumerate(blocks, 1)
    ]


def _bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFileError(path, "not a regular file")
        if found.st_size > MAX_BYTES:
            size, limit = found.st_size / 1024**2, MAX_BYTES // 1024**2
            raise UnreadableFileError(
                path, f"too large ({size:.0f} MB, the limit is {limit} MB); split it"
            )
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(
            path, f"{(error.strerror or str(error)).lower()}; make it readable for this user"
        ) from error
    if not data.strip():
        raise UnreadableFileError(path, "it is empty; add text or remove it")
    return data
