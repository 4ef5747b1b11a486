"""An index on disk: one folder of arrays and rows, read memory-mapped by any number of processes.

Written beside the one in use, then put in service by one rename, so that no reader ever sees half
of it (:mod:`rag.store`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from frontdesk import KnowledgeBaseError
from rag.bm25 import Bm25
from rag.calibration import Calibration
from rag.documents import KnowledgeBase, Listing, Progress, Source
from rag.embed import Embedder
from rag.entry import KINDS, Entry, Recipe, facts_of
from rag.facts import Contrasts, Fact, rules
from rag.facts.contrasts import MOST_SENTENCES
from rag.facts.stored import made, plain
from rag.index import Index, Lookup
from rag.nearest import FLAT_LIMIT, Flat, Hnsw
from rag.repair import Lexicon
from rag.rows import Rows, RowsWriter, write_rows
from rag.types import Passage

# Raised when the readers or the keys change, so that an index from before is built anew.
FORMAT = 5
_META, _HNSW, _BM25, _CONTRASTS = "meta.json", "keys.hnsw", "words", "contrasts.json"
_LEXICON = "lexicon.json"
_NEEDED = ("kb", "embedder", "keys", "pieces", "languages", "vocabulary")


class Writer:
    """Takes entries one at a time, in the order of their passages, and keeps none in memory."""

    def __init__(self, folder: Path, dim: int) -> None:
        self._folder, self._dim = folder, dim
        self._keys = (folder / "keys.f32").open("wb")
        self._values = (folder / "pieces.i8").open("wb")
        self._n_keys = self._n_pieces = 0
        self._vocabulary: dict[str, int] = {}
        self._counts: list[int] = []
        self._parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _ARRAYS}
        self._facts = RowsWriter(folder, "facts")
        self._stated: list[tuple[Fact, ...]] = []

    def add(self, entry: Entry) -> None:
        """Append what was computed of the next passage."""
        ids = np.array(
            [self._vocabulary.setdefault(p, len(self._vocabulary)) for p in entry.pieces], np.int32
        )
        self._counts += [0] * (len(self._vocabulary) - len(self._counts))
        for piece in np.unique(ids):
            self._counts[piece] += 1
        sentences = entry.sentences.copy()
        sentences[:, 2:] += self._n_pieces
        parts: dict[str, NDArray[Any]] = {
            "key_kinds": entry.kinds,
            "key_counts": np.array([len(entry.keys)], np.int64),
            "sentences": sentences,
            "sentence_keys": entry.sentence_keys.astype(np.int64) + self._n_keys,
            "sentence_counts": np.array([len(sentences)], np.int64),
            "piece_ids": ids,
            "piece_scales": entry.scales,
            "digests": np.frombuffer(entry.digest, np.uint8)[None, :],
        }
        for name, part in parts.items():
            self._parts[name].append(part)
        for stated in entry.facts:
            self._facts.add(plain(stated))
        if len(self._stated) < MOST_SENTENCES:
            self._stated += entry.facts
        _append(self._keys, entry.keys)
        _append(self._values, entry.values)
        self._n_keys += len(entry.keys)
        self._n_pieces += len(ids)

    def finish(
        self,
        kb: KnowledgeBase,
        embedder: Embedder,
        recipe: Recipe,
        calibrations: Mapping[str, Calibration],
        progress: Progress | None = None,
    ) -> None:
        """Write what remains: the arrays, the texts, the search structures, and what it is."""
        self._keys.close()
        self._values.close()
        self._facts.close()
        if len(self._stated) < MOST_SENTENCES:
            contrasts = Contrasts.found(self._stated).as_json()
            (self._folder / _CONTRASTS).write_text(json.dumps(contrasts), "utf-8")
        for name, parts in self._parts.items():
            np.save(self._folder / f"{name}.npy", np.concatenate(parts))
        np.save(self._folder / "piece_counts.npy", np.array(self._counts, np.int32))
        write_rows(self._folder, "passages", [_values(p) for p in kb.passages])
        write_rows(self._folder, "texts", [[kb.texts[s.id]] for s in kb.sources])
        if self._n_keys > FLAT_LIMIT:
            vectors = np.memmap(
                self._folder / "keys.f32", np.float32, "r", shape=(self._n_keys, self._dim)
            )
            Hnsw.build(vectors, _staged(progress, "graph")).save(self._folder / _HNSW)
        (self._folder / _LEXICON).write_text(json.dumps(Lexicon.plain(kb)), "utf-8")
        if recipe.sparse:
            Bm25.build(_texts(kb.passages), _staged(progress, "words")).save(self._folder / _BM25)
        meta = {
            "format": FORMAT,
            "facts": rules(),
            "embedder": {"name": embedder.name, "hash": embedder.hash, "dim": embedder.dim},
            "recipe": _plain(recipe),
            "kb": kb.sha256,
            "languages": sorted({passage.language for passage in kb.passages}),
            "keys": self._n_keys,
            "pieces": self._n_pieces,
            "vocabulary": list(self._vocabulary),
            "sources": [_plain(source) for source in kb.sources],
            "calibrations": {name: c.as_json() for name, c in calibrations.items()},
        }
        (self._folder / _META).write_text(json.dumps(meta), "utf-8")


_ARRAYS = (
    "key_kinds", "key_counts", "sentences", "sentence_keys", "sentence_counts", "piece_ids",
    "piece_scales", "digests",
)  # fmt: skip


def read_meta(folder: Path) -> dict[str, Any]:
    """What an artefact says of itself.

    Raises:
        OSError, ValueError, KeyError, TypeError: if it is not one of this format.
    """
    meta: dict[str, Any] = json.loads((folder / _META).read_text("utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"format {meta['format']}, not {FORMAT}")
    if meta.get("facts") != rules():
        raise ValueError("its facts were read by other rules")
    if missing := [key for key in _NEEDED if key not in meta]:
        raise ValueError(f"{_META} lacks {', '.join(missing)}")
    if not isinstance(meta["embedder"]["hash"], str):
        raise ValueError(f"{_META} names no embedder")
    meta["calibrations"] = {k: Calibration.from_json(c) for k, c in meta["calibrations"].items()}
    meta["recipe"] = Recipe(**meta["recipe"])
    meta["sources"] = tuple(Source(**{**s, "notes": tuple(s["notes"])}) for s in meta["sources"])
    return meta


def read(
    folder: Path, meta: Mapping[str, Any], home: Listing | KnowledgeBase, embedder: Embedder
) -> Index:
    """The index in ``folder`` of the knowledge base ``home``, memory-mapped.

    Raises:
        OSError, ValueError, KeyError, TypeError: if it cannot be read.
    """
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
    sources = meta["sources"]
    texts = Rows(folder, "texts", str)
    kb = KnowledgeBase(
        home.folder,
        Rows(folder, "passages", Passage),
        Lookup([source.id for source in sources], texts),
        home.fillers,
        home.mishearings,
        meta["kb"],
        sources,
    )
    keys = _map(folder / "keys.f32", np.dtype(np.float32), meta["keys"], embedder.dim)
    try:
        nearest = Hnsw.open(folder / _HNSW) if (folder / _HNSW).exists() else Flat(keys)
        words = Bm25.open(folder / _BM25) if (folder / _BM25).exists() else None
    except KnowledgeBaseError as error:  # as at any other file, so that a build can replace it
        raise ValueError(str(error)) from error
    return Index(
        kb=kb,
        embedder=embedder,
        recipe=meta["recipe"],
        keys=keys,
        key_kinds=arrays["key_kinds"],
        key_bounds=_bounds(arrays["key_counts"]),
        sentence_rows=arrays["sentences"],
        sentence_keys=arrays["sentence_keys"],
        sentence_bounds=_bounds(arrays["sentence_counts"]),
        piece_ids=arrays["piece_ids"],
        piece_values=_map(folder / "pieces.i8", np.dtype(np.int8), meta["pieces"], embedder.dim),
        piece_scales=arrays["piece_scales"],
        piece_counts=np.load(folder / "piece_counts.npy"),
        vocabulary=tuple(meta["vocabulary"]),
        digests=arrays["digests"],
        nearest=nearest,
        facts=Rows(folder, "facts", made),
        contrasts=_contrasts(folder / _CONTRASTS),
        can_be_meant=json.loads((folder / _LEXICON).read_text("utf-8")),
        languages=tuple(meta["languages"]),
        words=words,
        calibrations=meta["calibrations"],
    )


def entry_of(index: Index, passage: int) -> Entry:
    """What an index holds of one passage, to be taken over into another."""
    keys = index.key_numbers(passage)
    numbers = index.sentence_numbers(passage)
    sentences = np.array(index.sentence_rows[numbers.start : numbers.stop])
    first, last = (int(sentences[0, 2]), int(sentences[-1, 3])) if len(sentences) else (0, 0)
    sentences[:, 2:] -= first
    spans = tuple((start, end) for start, end, _, _ in sentences.tolist())
    rows = slice(first, last)
    return Entry(
        digest=index.digests[passage].tobytes(),
        keys=index.keys[keys.start : keys.stop],
        kinds=index.key_kinds[keys.start : keys.stop],
        sentences=sentences,
        sentence_keys=(index.sentence_keys[numbers.start : numbers.stop] - keys.start).astype(
            np.int32
        ),
        pieces=index.pieces[rows],
        values=index.piece_values[rows],
        scales=index.piece_scales[rows],
        # Read again: it takes no model, and the rules may be others than when they were kept.
        facts=facts_of(index.kb.passages[passage], spans),
    )


def _contrasts(path: Path) -> Contrasts:
    return Contrasts.from_json(json.loads(path.read_text("utf-8")) if path.exists() else {})


def kinds_of(index: Index) -> dict[str, int]:
    """How many keys of each kind an index holds."""
    counts = np.bincount(index.key_kinds, minlength=len(KINDS))
    return {kind: int(count) for kind, count in zip(KINDS, counts, strict=True)}


def _texts(passages: Iterable[Passage]) -> list[str]:
    """What a passage is found by in the index of words."""
    return [" ".join(filter(None, (p.heading, p.question, p.text))) for p in passages]


def _append(file: BinaryIO, rows: NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(rows).tobytes())


def _map(path: Path, kind: np.dtype[Any], rows: int, dim: int) -> NDArray[Any]:
    expected = rows * dim * kind.itemsize
    if path.stat().st_size != expected:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes, not {expected}")
    if not rows:
        return np.empty((0, dim), kind)
    return np.memmap(path, kind, "r", shape=(rows, dim))


def _bounds(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the parts of each passage start, and one past the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _staged(progress: Progress | None, stage: str) -> Any:
    return None if progress is None else lambda done, total: progress(stage, done, total)


def _values(passage: Passage) -> list[Any]:
    return [getattr(passage, name) for name in Passage.__slots__]


def _plain(record: Recipe | Source) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__slots__}
