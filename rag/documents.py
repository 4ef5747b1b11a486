"""A knowledge base folder: its files into passages.

Every document beneath the folder is read (:mod:`rag.readers`); one that cannot be read is named
and left out. ``README`` files, ``questions.jsonl``, ``fillers.txt`` and ``floors.json`` are parts
of a knowledge base that are not documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from frontdesk import KnowledgeBaseError
from rag.readers import (
    Skipped,
    UnreadableFileError,
    document_id,
    find_files,
    read,
    shown,
    to_passages,
)
from rag.repair.dictionary import MISHEARINGS_FILE, Mishearing
from rag.repair.dictionary import read as read_mishearings
from rag.rewrite import default_fillers, read_fillers
from rag.types import Passage

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""

_FILLERS, _FLOORS = "fillers.txt", "floors.json"


@dataclass(frozen=True, slots=True)
class Source:
    """One file: the document's ``id``, ``path`` below the folder, and the SHA-256 of its bytes.

    Its passages are ``count`` from number ``first`` on; none if it could not be read.
    """

    id: str
    path: str
    sha256: str
    first: int = 0
    count: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """The documents of one folder.

    ``texts`` maps a document id (``kb-hours``) to its whole text. ``sha256`` covers the documents,
    the filler list, the reviewed mishearings and the floors: whatever an index is built from.
    ``skipped`` are the files that were left out.
    """

    folder: Path
    passages: Sequence[Passage]
    texts: Mapping[str, str]
    fillers: frozenset[str]
    mishearings: tuple[Mishearing, ...]
    sha256: str
    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder, by content, before anything of it is read as a document."""

    folder: Path
    files: tuple[tuple[Path, Source], ...]
    fillers: frozenset[str]
    mishearings: tuple[Mishearing, ...]
    sha256: str
    skipped: tuple[Skipped, ...]


def load(
    folder: Path | str, *, known: KnowledgeBase | None = None, progress: Progress | None = None
) -> KnowledgeBase:
    """Read the knowledge base in ``folder``; files that ``known`` holds unchanged are taken over.

    Raises:
        KnowledgeBaseError: if the folder is missing or no passage is left; the line says why and
            how to mend it.
    """
    return read_listing(listing(folder), known=known, progress=progress)


def listing(folder: Path | str) -> Listing:
    """The files of a knowledge base with their hashes.

    Raises:
        KnowledgeBaseError: if the folder is missing or cannot be listed.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise KnowledgeBaseError(
            f"knowledge base folder {folder} does not exist; give an existing one with --kb DIR"
        )
    try:
        paths, skipped = find_files(folder)
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot list knowledge base folder {folder} ({error.strerror}); "
            "make it readable for this user"
        ) from error
    files: list[tuple[Path, Source]] = []
    ids: set[str] = set()
    for path in paths:
        name = path.relative_to(folder)
        source = Source(document_id(name, ids), shown(name), _hash(path))
        ids.add(source.id)
        files.append((path, source))
    sha256 = _digest(folder, [source for _, source in files])
    fillers = default_fillers()
    if (folder / _FILLERS).exists():
        fillers |= read_fillers(folder / _FILLERS)
    mishearings = read_mishearings(folder / MISHEARINGS_FILE)
    return Listing(folder, tuple(files), fillers, mishearings, sha256, tuple(skipped))


def read_listing(
    found: Listing, *, known: KnowledgeBase | None = None, progress: Progress | None = None
) -> KnowledgeBase:
    """The documents of a listing. See :func:`load`."""
    before = {(s.id, s.path, s.sha256): s for s in (known.sources if known else ())}
    passages: list[Passage] = []
    texts: dict[str, str] = {}
    sources: list[Source] = []
    changed: dict[str, Source] = {}
    skipped = [*found.skipped]
    for done, (path, source) in enumerate(found.files):
        if progress:
            progress("read", done, len(found.files))
        same = before.get((source.id, source.path, source.sha256))
        if known and same and same.count:
            own: Sequence[Passage] = known.passages[same.first : same.first + same.count]
            text, notes = known.texts[same.id], same.notes
        else:
            try:
                document = replace(read(path), id=source.id)
            except UnreadableFileError as error:
                skipped.append(Skipped(path, error.reason))
                continue
            if document.sha256 != source.sha256:  # written to since it was listed
                source = changed[source.path] = replace(source, sha256=document.sha256)
            own, text, notes = to_passages(document), document.text, document.notes
        sources.append(replace(source, first=len(passages), count=len(own), notes=notes))
        texts[source.id] = text
        passages += own
    if progress:
        progress("read", len(found.files), len(found.files))
    if not passages:
        raise KnowledgeBaseError(_nothing_left(found.folder, skipped))
    sha256 = found.sha256
    if changed:
        sha256 = _digest(found.folder, [changed.get(s.path, s) for _, s in found.files])
    return KnowledgeBase(
        found.folder, tuple(passages), texts, found.fillers, found.mishearings, sha256,
        tuple(sources),
        tuple(sorted(skipped, key=lambda one: one.path)),
    )  # fmt: skip


def _digest(folder: Path, sources: Sequence[Source]) -> str:
    """What a knowledge base of these files is known by, with what else it is made of."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source.path}\n{source.sha256}\0".encode())
    for part in (_FILLERS, _FLOORS, MISHEARINGS_FILE):
        if (folder / part).exists():
            digest.update(f"{part}\n{_text(folder / part)}\0".encode())
    return digest.hexdigest()


def _nothing_left(folder: Path, skipped: Sequence[Skipped]) -> str:
    failed = [one for one in skipped if one.kind == "failed"]
    why = "".join(f"; {shown(Path(one.path.name))}: {one.reason}" for one in failed[:3])
    more = f"; and {len(failed) - 3} more files" if len(failed) > 3 else ""
    return (
        f"knowledge base folder {folder} holds no passages{why}{more}; "
        "add documents (.md, .txt, .html, .pdf, .docx, .csv, .xlsx) with paragraphs of text"
    )


def _hash(path: Path) -> str:
    """The SHA-256 of a file; of a file that cannot be read, that it cannot."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise KnowledgeBaseError(
            f"{path} is not UTF-8 text (byte {error.start}); save it again as UTF-8"
        ) from error
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot read {path} ({error.strerror}); make it a readable text file"
        ) from error
