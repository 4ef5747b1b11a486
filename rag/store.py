"""An index as one file beside its knowledge base: ``KB/.frontdesk/index.npz``.

The file says which embedder, documents and floors it was made from, and is refused when they do
not match what is there now.
"""

from __future__ import annotations

import io
import json
import logging
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from frontdesk import KnowledgeBaseError
from rag import calibration, documents
from rag.calibration import Calibration
from rag.documents import KnowledgeBase
from rag.embed import Embedder, default_embedder
from rag.index import Index, Sentence, build

_FORMAT = 1
_log = logging.getLogger(__name__)


def artefact_path(kb_dir: Path | str) -> Path:
    """Where the index of a knowledge base folder is kept."""
    return Path(kb_dir) / ".frontdesk" / "index.npz"


def open_index(kb_dir: Path | str, embedder: Embedder | None = None) -> Index:
    """The index of a folder: read if it is of these documents, else built and written.

    In a folder that cannot be written to, the index stays in memory.

    Raises:
        KnowledgeBaseError: if the documents cannot be used, or the file of the same documents was
            made with another embedder or other floors.
        ModelFileError: if the embedder's files are missing or altered.
    """
    kb = documents.load(kb_dir)
    embedder = embedder or default_embedder()
    path = artefact_path(kb_dir)
    if path.exists() and _is_of(path, kb, embedder):
        return load(path, kb, embedder)
    _check_floors(kb, embedder)
    return rebuild(kb, embedder)


def rebuild(kb: KnowledgeBase, embedder: Embedder | None = None) -> Index:
    """Build the index of ``kb`` and write it, whatever file is there now.

    Floors that were measured with another embedder are left out: such an index answers nothing
    until ``frontdesk kb calibrate`` has measured its own.
    """
    embedder = embedder or default_embedder()
    index = build(kb, embedder, _floors(kb, embedder))
    try:
        save(index, artefact_path(kb.folder))
    except OSError as error:
        _log.warning("index of %s kept in memory only (%s)", kb.folder, error)
    return index


def save(index: Index, path: Path) -> None:
    """Write ``index`` to ``path`` in one step: a reader sees the old file or the new one.

    Raises:
        OSError: if the folder cannot be written to.
    """
    meta = {
        "format": _FORMAT,
        "embedder": index.embedder.hash,
        "kb": index.kb.sha256,
        "pieces": index.pieces,
        "sentences": [[s.passage, s.text, s.start, s.end] for s in index.sentences],
        "calibrations": {name: c.as_json() for name, c in index.calibrations.items()},
    }
    data = io.BytesIO()
    np.savez(
        data,
        meta=np.frombuffer(json.dumps(meta).encode(), np.uint8),
        passage_vectors=index.passage_vectors,
        sentence_vectors=index.sentence_vectors,
        piece_vectors=index.piece_vectors,
    )
    path.parent.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.getvalue())
        # mkstemp makes files private; a server under another user reads this one.
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: Path, kb: KnowledgeBase, embedder: Embedder) -> Index:
    """Read the index of ``kb`` from ``path``.

    Raises:
        KnowledgeBaseError: if it cannot be read, or its documents, embedder or floors are not
            those given; the line names the command that mends it.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
        meta = json.loads(arrays.pop("meta").tobytes())
        found = {name: Calibration.from_json(c) for name, c in meta["calibrations"].items()}
        sentences = tuple(Sentence(*fields) for fields in meta["sentences"])
        pieces, made_by, made_from = tuple(meta["pieces"]), meta["embedder"], meta["kb"]
        if meta["format"] != _FORMAT:
            raise ValueError(f"format {meta['format']}, not {_FORMAT}")
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise _refused(path, f"cannot be read ({error})") from error
    if made_by != embedder.hash:
        raise _refused(
            path, f"was made with another embedder ({made_by[:12]}, not {embedder.hash[:12]})"
        )
    if made_from != kb.sha256:
        raise _refused(path, "was made from other documents")
    _check_floors(kb, embedder)
    if found != _floors(kb, embedder):
        raise _refused(path, "holds other floors than the knowledge base")
    return Index(
        kb=kb,
        embedder=embedder,
        pieces=pieces,
        sentences=sentences,
        calibrations=found,
        **arrays,
    )


def _is_of(path: Path, kb: KnowledgeBase, embedder: Embedder) -> bool:
    """Whether the file was made from these documents; a file that cannot be read was not.

    A file with default floors counts as made from the defaults of its time.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            meta = json.loads(data["meta"].tobytes())
        floors = {k: Calibration.from_json(c) for k, c in meta["calibrations"].items()}
        is_current = bool(meta["kb"] == kb.sha256 and meta["format"] == _FORMAT)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        _log.warning("%s cannot be read (%s); building it again", path, error)
        return False
    if meta["embedder"] == embedder.hash and any(c.is_default for c in floors.values()):
        return is_current and floors == _floors(kb, embedder)
    return is_current


def _floors(kb: KnowledgeBase, embedder: Embedder) -> dict[str, Calibration]:
    """The folder's floors as far as they fit the embedder."""
    floors = calibration.for_folder(kb.folder)
    return {name: c for name, c in floors.items() if c.embedder == embedder.hash}


def _check_floors(kb: KnowledgeBase, embedder: Embedder) -> None:
    """Refuse a folder's own floors if they were measured with another embedder."""
    for language, floors in calibration.for_folder(kb.folder).items():
        if floors.embedder != embedder.hash and not floors.is_default:
            raise KnowledgeBaseError(
                f"the {language} floors in {kb.folder / calibration.FLOORS_FILE} were measured "
                "with another embedder; run: frontdesk kb calibrate (it does frontdesk kb build)"
            )


def _refused(path: Path, why: str) -> KnowledgeBaseError:
    return KnowledgeBaseError(f"index {path} {why}; run: frontdesk kb build")
