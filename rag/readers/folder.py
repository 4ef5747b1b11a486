"""Every document beneath a folder; what fails is named and left out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rag.readers.registry import READERS, read
from rag.readers.types import Document, Skipped, UnreadableFileError

Progress = Callable[[int, int, Path], None]
"""Called before each file with the files done, the files there are, and its path."""

# Parts of a knowledge base that are not documents.
_OTHER_FILES = frozenset(
    {
        "callers.toml",
        "fillers.txt",
        "floors.json",
        "questions.jsonl",
        "mishearings.jsonl",
        "mishearings.proposed.jsonl",
        "spoken.json",
    }
)
_UNSAFE = re.compile(r"[^\w.+-]+")


def read_folder(
    folder: Path, progress: Progress | None = None
) -> tuple[list[Document], list[Skipped]]:
    """The documents beneath ``folder`` in the order of their paths, and what was skipped.

    A document's id is its path below ``folder`` without the suffix, folders joined by ``-``; where
    two would be the same, the later one has its suffix added. Folders that start with a dot are
    not entered; links are followed, but nothing is read twice.

    Raises:
        OSError: if ``folder`` itself cannot be listed.
    """
    files, skipped = find_files(folder)
    documents: list[Document] = []
    ids: set[str] = set()
    for done, path in enumerate(files):
        if progress:
            progress(done, len(files), path)
        # Also of one that cannot be read, so that the ids are those of the index.
        name = document_id(path.relative_to(folder), ids)
        ids.add(name)
        try:
            document = read(path)
        except UnreadableFileError as error:
            skipped.append(Skipped(path, error.reason))
            continue
        documents.append(replace(document, id=name))
    return documents, sorted(skipped, key=lambda one: one.path)


def document_id(path: Path, taken: set[str]) -> str:
    """The id of the document in ``path`` (relative to its folder), unlike those ``taken``."""
    base = _UNSAFE.sub("-", "-".join(path.with_suffix("").parts))
    found, number = base, 1
    while found in taken:
        found = f"{base}-{path.suffix[1:].lower()}" + (f"-{number}" if number > 1 else "")
        number += 1
    return found


def shown(path: Path) -> str:
    """``path`` as text that can be written anywhere, whatever bytes its name is made of."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def find_files(folder: Path) -> tuple[list[Path], list[Skipped]]:
    """The files to read, links after what is really there; and what is not to be read.

    Raises:
        OSError: if ``folder`` itself cannot be listed.
    """
    files: list[Path] = []
    links: list[Path] = []
    skipped: list[Skipped] = []
    waiting, seen = [folder], {os.path.realpath(folder)}
    while waiting:
        try:
            entries = sorted(waiting.pop().iterdir())
        except OSError as error:
            if error.filename == str(folder):
                raise
            skipped.append(Skipped(Path(error.filename), f"cannot list it ({error.strerror})"))
            entries = []
        for path in entries:
            try:
                if path.is_symlink():
                    links.append(path)
                else:
                    _sort_in(path, waiting, files, skipped, seen)
            except OSError as error:
                skipped.append(_unlooked_at(path, error))
        while links and not waiting:
            _follow(links.pop(0), waiting, files, skipped, seen)
    return sorted(files), skipped


def _follow(
    link: Path, waiting: list[Path], files: list[Path], skipped: list[Skipped], seen: set[str]
) -> None:
    try:
        target = str(link.resolve(strict=True))
    except (OSError, RuntimeError):
        # RuntimeError is what Python before 3.13 says of a link that leads to itself.
        loops = os.path.islink(os.path.realpath(link))
        reason = "a symbolic link loop" if loops else "a link to nothing"
        skipped.append(Skipped(link, f"{reason}; remove it"))
        return
    if target in seen:
        what = "a symbolic link loop" if link.is_dir() else "a link"
        skipped.append(Skipped(link, f"{what}: {os.readlink(link)} is read already"))
        return
    try:
        _sort_in(link, waiting, files, skipped, seen)
    except OSError as error:
        skipped.append(_unlooked_at(link, error))


def _unlooked_at(path: Path, error: OSError) -> Skipped:
    why = (error.strerror or str(error)).lower()
    return Skipped(path, f"{why}; make it and its folder readable for this user")


def _is_other(name: str) -> bool:
    return name in _OTHER_FILES or name.startswith((".", "~$")) or name.lower().startswith("readme")


def _sort_in(
    path: Path, waiting: list[Path], files: list[Path], skipped: list[Skipped], seen: set[str]
) -> None:
    if path.is_dir():
        if path.name.startswith(".") or path.name == "__pycache__":
            return
        seen.add(os.path.realpath(path))
        waiting.append(path)
    elif _is_other(path.name):
        skipped.append(Skipped(path, "not a document", "ignored"))
    elif path.suffix.lower() not in READERS:
        named = path.suffix or "without a suffix"
        skipped.append(Skipped(path, f"not a kind of document that is read ({named})", "ignored"))
    elif path.is_file():
        seen.add(os.path.realpath(path))
        files.append(path)
    else:
        skipped.append(Skipped(path, "not a regular file"))
