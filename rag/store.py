"""The index of a knowledge base folder, in ``KB/.frontdesk``.

An index is a folder of its own, ``index-…``; the file ``current`` names the one in service. A new
one is written beside it and put in service by replacing that file, so a build that is killed, or
that fills the disk, leaves the last good one as it was. An index says which embedder, documents
and floors it was made from, and is refused when they do not match what is there now.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frontdesk import KnowledgeBaseError
from rag import artefact, building, calibration, documents
from rag.building import Counts
from rag.calibration import Calibration
from rag.documents import KnowledgeBase, Listing, Progress
from rag.embed import Embedder, default_embedder
from rag.entry import Recipe
from rag.expand.kept import Ask
from rag.floor import scorer_of
from rag.index import Index
from rag.readers import Skipped

_HOME, _CURRENT = building.HOME, "current"
_INDEX, _UNFINISHED = "index-", "unfinished-"
_BROKEN = (OSError, ValueError, KeyError, TypeError, EOFError)
_log = logging.getLogger(__name__)


class NotWrittenError(KnowledgeBaseError):
    """An index could not be written; the one in service stays."""


@dataclass(frozen=True, slots=True)
class Built:
    """An index that was built: how many passages were ``reused`` and how many ``embedded``.

    ``skipped`` are the files left out, each with the reason; ``made`` says how many of its
    questions were made by what.
    """

    index: Index
    reused: int
    embedded: int
    skipped: tuple[Skipped, ...]
    made: Mapping[str, int]


def artefact_path(kb_dir: Path | str) -> Path:
    """The file that names the index in service; a change of it means a new index."""
    return Path(kb_dir) / _HOME / _CURRENT


def open_index(
    kb_dir: Path | str, embedder: Embedder | None = None, recipe: Recipe | None = None
) -> Index:
    """The index of a folder: read if it is of these documents, else built and written.

    In a folder that cannot be written to, the index is gone when this process ends. Where a disk
    is full, the index before it serves on.

    Raises:
        KnowledgeBaseError: if the documents cannot be used, or the index of the same documents was
            made with another embedder or other floors.
        ModelFileError: if the embedder's files are missing or altered.
    """
    embedder, recipe = embedder or default_embedder(), recipe or Recipe()
    found = documents.listing(kb_dir)
    meta = _meta(found.folder)
    if meta and _is_of(meta, found, embedder, recipe):
        return load(found, embedder)
    _check_floors(found.folder, embedder)
    try:
        return rebuild(found, embedder, recipe).index
    except NotWrittenError as error:
        before = _before(found, embedder)
        if before is None:
            raise
        _log.error("%s; answering from the documents as they were before", error)
        return before


def rebuild(
    kb: Path | str | Listing,
    embedder: Embedder | None = None,
    recipe: Recipe | None = None,
    *,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> Built:
    """Build the index of a folder and put it in service, whatever is there now.

    What has not changed is taken over from the index in service. ``ask`` has a model make
    questions (:func:`rag.building.write`). Floors that were measured with another embedder are
    left out: such an index answers nothing until ``frontdesk kb calibrate`` has measured its own.

    Raises:
        KnowledgeBaseError: if the documents cannot be used.
        NotWrittenError: if the disk is full, or, where the folder cannot be written to, that of
            temporary files; the index in service stays there.
        ModelFileError: if the embedder's files are missing or altered.
    """
    embedder, recipe = embedder or default_embedder(), recipe or Recipe()
    found = kb if isinstance(kb, Listing) else documents.listing(kb)
    before = _before(found, embedder)
    read = documents.read_listing(found, known=before.kb if before else None, progress=progress)
    floors = _floors(found.folder, embedder)
    home = found.folder / _HOME
    try:
        unfinished, lock = _unfinished(home)
    except OSError as error:
        _log.warning("index of %s kept until this process ends (%s)", found.folder, error)
        index, counts = _in_memory(read, embedder, floors, recipe)
        return Built(index, 0, counts.embedded, read.skipped, counts.made)
    try:
        counts = building.write(
            unfinished, read, embedder, floors, recipe, before=before, ask=ask, progress=progress
        )
        path = _put_in_service(unfinished)
    except OSError as error:
        raise NotWrittenError(
            f"cannot write the index to {home} ({error.strerror or error}); make room and build "
            "again: the index before this one is still in service"
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        os.close(lock)
    index = _read(path, found, embedder)
    return Built(index, counts.reused, counts.embedded, read.skipped, counts.made)


def load(kb: Path | str | Listing, embedder: Embedder | None = None) -> Index:
    """Read the index in service of a folder; nothing is built.

    Raises:
        KnowledgeBaseError: if it cannot be read, or its documents, embedder or floors are not
            those that are there now; the line names the command that mends it.
    """
    embedder = embedder or default_embedder()
    found = kb if isinstance(kb, Listing) else documents.listing(kb)
    path = _in_service(found.folder)
    if path is None:
        raise _refused(artefact_path(found.folder), "is not there yet")
    try:
        meta = artefact.read_meta(path)
    except _BROKEN as error:
        raise _refused(path, f"cannot be read ({error})") from error
    made_by = meta["embedder"]["hash"]
    if made_by != embedder.hash:
        raise _refused(
            path, f"was made with another embedder ({made_by[:12]}, not {embedder.hash[:12]})"
        )
    if meta["kb"] != found.sha256:
        raise _refused(path, "was made from other documents")
    _check_floors(found.folder, embedder)
    if meta["calibrations"] != _floors(found.folder, embedder):
        raise _refused(path, "holds other floors than the knowledge base")
    return _read(path, found, embedder)


def _read(path: Path, found: Listing, embedder: Embedder) -> Index:
    try:
        meta = artefact.read_meta(path)
        return artefact.read(path, meta, found, embedder)
    except _BROKEN as error:
        raise _refused(path, f"cannot be read ({error})") from error


def _in_service(folder: Path) -> Path | None:
    """The index that ``current`` names."""
    try:
        name = artefact_path(folder).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return folder / _HOME / name if name.startswith(_INDEX) and "/" not in name else None


def _meta(folder: Path) -> dict[str, Any] | None:
    """What the index in service says of itself; None if there is none that can be read."""
    path = _in_service(folder)
    if path is None:
        return None
    try:
        return artefact.read_meta(path)
    except _BROKEN as error:
        _log.warning("%s cannot be read (%s); building it again", path, error)
        return None


def _is_of(meta: Mapping[str, Any], found: Listing, embedder: Embedder, recipe: Recipe) -> bool:
    """Whether an index was made from these documents in this way."""
    return bool(meta["kb"] == found.sha256 and meta["recipe"] == recipe)


def _before(found: Listing, embedder: Embedder) -> Index | None:
    """The index in service, to take over from, if it is of the same embedder."""
    path, meta = _in_service(found.folder), _meta(found.folder)
    if path is None or meta is None or meta["embedder"]["hash"] != embedder.hash:
        return None
    try:
        return artefact.read(path, meta, found, embedder)
    except _BROKEN as error:
        _log.warning("%s cannot be read (%s); building it whole", path, error)
        return None


def _in_memory(
    read: KnowledgeBase, embedder: Embedder, floors: Mapping[str, Calibration], recipe: Recipe
) -> tuple[Index, Counts]:
    try:
        return building.build_and_count(read, embedder, floors, recipe)
    except OSError as error:
        raise NotWrittenError(
            f"cannot write the index of {read.folder} to a temporary folder either "
            f"({error.strerror or error}); make room there, set TMPDIR to a folder with room, or "
            f"make {read.folder} writable"
        ) from error


def _unfinished(home: Path) -> tuple[Path, int]:
    """A new folder to build in, and its lock: to be closed when the build ends.

    What ended builds left is removed. They are told by their locks, which end with their
    processes: a process id says nothing of a build in another container on the same folder.
    """
    home.mkdir(exist_ok=True)
    # So no other build meets a new folder whose lock is not held yet.
    with _alone(home):
        for left in home.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):
                _remove_unless_locked(left)
        path = Path(tempfile.mkdtemp(dir=home, prefix=_UNFINISHED))
        return path, _locked(path)


def _remove_unless_locked(left: Path) -> None:
    lock = _locked(left, fcntl.LOCK_NB)
    try:
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(lock)


def _locked(folder: Path, how: int = 0) -> int:
    """A handle that holds the lock of ``folder`` until it is closed, or the process ends.

    Raises:
        OSError: if it cannot be opened, or another holds it and ``how`` is ``LOCK_NB``.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _put_in_service(unfinished: Path) -> Path:
    """Name a finished index as the current one, and remove those before the last."""
    home = unfinished.parent
    for path in unfinished.rglob("*"):
        _to_disk(path)
    # mkdtemp makes folders private; a server under another user reads this one.
    unfinished.chmod(0o755)
    name = _INDEX + unfinished.name.removeprefix(_UNFINISHED)
    pointer = unfinished / _CURRENT
    pointer.write_text(name + "\n", "utf-8")
    _to_disk(pointer)
    # Of two builds that end at once one waits, so that neither removes what the other names.
    with _alone(home):
        unfinished.rename(home / name)
        before = _in_service(home.parent)
        os.replace(home / name / _CURRENT, home / _CURRENT)
        _to_disk(home)
        for old in home.glob(f"{_INDEX}*"):
            # The last one stays for a reader that has just read its name.
            if old.name not in (name, before.name if before else ""):
                shutil.rmtree(old, ignore_errors=True)
    return home / name


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the folder's lock; it is let go when the process ends, however it does."""
    handle = _locked(home)
    try:
        yield
    finally:
        os.close(handle)


def _to_disk(path: Path) -> None:
    """Have what was written survive a loss of power, before anything refers to it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _floors(folder: Path, embedder: Embedder) -> dict[str, Calibration]:
    """The folder's floors as far as they fit the embedder and the weights of the score."""
    floors, made_by = calibration.for_folder(folder), (embedder.hash, scorer_of(embedder))
    return {name: c for name, c in floors.items() if (c.embedder, c.scorer) == made_by}


def _check_floors(folder: Path, embedder: Embedder) -> None:
    """Refuse a folder's floors if they were measured with another embedder, or on other scores."""
    for language, floors in calibration.for_folder(folder).items():
        other = "embedder" if floors.embedder != embedder.hash else "score"
        if (floors.embedder, floors.scorer) != (embedder.hash, scorer_of(embedder)):
            raise KnowledgeBaseError(
                f"the {language} floors in {folder / calibration.FLOORS_FILE} were measured "
                f"with another {other}; run: frontdesk kb calibrate (it does frontdesk kb build)"
            )


def _refused(path: Path, why: str) -> KnowledgeBaseError:
    return KnowledgeBaseError(f"index {path} {why}; run: frontdesk kb build")
