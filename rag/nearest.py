"""The rows of a matrix of unit vectors that are nearest to one: exact, or by a graph.

:class:`Flat` reads every row and is exact. :class:`Hnsw` walks a hierarchical navigable small
world graph (Malkov and Yashunin, IEEE TPAMI 2020), as faiss builds it. ``python -m bench.nearest``
compares the two and says where the one stops being quick enough: :data:`FLAT_LIMIT`.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontdesk import ConfigError, KnowledgeBaseError

Scores = NDArray[np.float32]
Rows = NDArray[np.int64]
Progress = Callable[[int, int], None]

# Up to here reading every row takes less than 3 ms, and nothing need be installed for it.
FLAT_LIMIT = 50_000

# Recall@10 over 40,000 rows in six kinds of tight groups, links and efConstruction 16 and 100:
# 0.95 to 1.00; 32 and 100: 0.97 to 1.00, for 128 bytes more a row; 16 and 300: 0.98 to 1.00, but
# two to six times as long to build. On 20,750 MiniLM vectors both settings at 100 give 0.995.
_LINKS = 32
_EF_CONSTRUCTION = 100
_EF_SEARCH = 64
_BATCH = 10_000
_GRAPH, _ROWS, _STARTS = "graph.faiss", "rows.npy", "starts.npy"


class Flat:
    """Every row compared: float32 ``vectors`` (n, dim) of unit length, in memory or mapped.

    Safe to share between threads; one search uses one.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = np.asarray(vectors)

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[Scores, Rows]:
        """Cosines, float32 (k,), and rows, int64 (k,), best first, equal ones by row.

        Fewer than ``k`` where there are fewer rows.
        """
        # A dot product a row keeps up with the memory: 40,000 rows of 384 in 1.8 ms, where
        # the matrix product, which reads several rows at a time, takes 4.8.
        scores = np.vecdot(self._vectors, vector)
        rows = best(scores, k)
        return scores[rows], rows


class Hnsw:
    """Inner product on unit vectors through a graph that keeps them in half precision.

    Half precision moves a cosine of 384 dimensions by less than 0.0001, takes half the memory and
    is searched faster than float32, at the same recall. Rows that are equal in it are one node of
    the graph: a hundred copies of each would have few links but to each other, and 4 % of searches
    missed even the nearest (40,000 rows, 400 of them distinct).

    Safe to share between threads. One search uses one thread whatever
    ``faiss.omp_set_num_threads`` says, since faiss shares out queries, not the work on one;
    :meth:`build` uses all that it allows, so two builds of the same vectors may differ in a few
    links.
    """

    def __init__(self, graph: Any, rows: Rows, starts: Rows) -> None:
        self._graph = graph
        self._rows = rows  # (n,) the rows of node 0, of node 1, ..., each in order
        self._starts = starts  # (nodes + 1,) where those of each node start
        self._parameters = _faiss().SearchParametersHNSW(efSearch=_EF_SEARCH)

    def __len__(self) -> int:
        return len(self._rows)

    @classmethod
    def build(cls, vectors: NDArray[np.float32], progress: Progress | None = None) -> Hnsw:
        """A graph over float32 ``vectors`` (n, dim) of unit length, which may be mapped.

        ``progress(done, total)`` is called after each batch of rows.

        Raises:
            ConfigError: if faiss is not installed.
        """
        faiss = _faiss()
        graph = faiss.IndexHNSWSQ(
            vectors.shape[1],
            faiss.ScalarQuantizer.QT_fp16,
            _LINKS,
            faiss.METRIC_INNER_PRODUCT,
        )
        graph.hnsw.efConstruction = _EF_CONSTRUCTION
        nodes: dict[bytes, int] = {}
        node_of = np.empty(len(vectors), np.int64)
        for start in range(0, len(vectors), _BATCH):
            batch = np.ascontiguousarray(vectors[start : start + _BATCH], np.float32)
            fresh: list[int] = []
            for n, row in enumerate(batch.astype(np.float16)):
                node = nodes.setdefault(blake2b(row.tobytes(), digest_size=16).digest(), len(nodes))
                node_of[start + n] = node
                if node == graph.ntotal + len(fresh):
                    fresh.append(n)
            graph.add(batch[fresh])
            if progress:
                progress(start + len(batch), len(vectors))
        rows = np.argsort(node_of, kind="stable")
        starts = np.searchsorted(node_of[rows], np.arange(len(nodes) + 1))
        return cls(graph, rows, starts)

    def save(self, folder: Path) -> None:
        """Write the graph and its vectors into ``folder``, made if need be.

        Write to a new folder and rename it: processes that have the old one open go on reading
        that, and would crash if its files were overwritten in place.

        Raises:
            OSError: if it cannot be written, on a full disk for one.
        """
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _faiss().write_index(self._graph, str(folder / _GRAPH))
        except RuntimeError as error:
            raise OSError(f"cannot write {folder}: {_why(error)}") from error
        np.save(folder / _ROWS, self._rows)
        np.save(folder / _STARTS, self._starts)

    @classmethod
    def open(cls, folder: Path) -> Hnsw:
        """Map a saved graph: it takes milliseconds, and all processes share the one copy.

        Raises:
            ConfigError: if faiss is not installed.
            KnowledgeBaseError: if a file is missing, cut short or something else.
        """
        faiss = _faiss()
        try:
            # Plain IO_FLAG_MMAP reads the whole of a graph into each process all the same.
            graph = faiss.read_index(str(folder / _GRAPH), faiss.IO_FLAG_MMAP_IFC)
            rows = np.load(folder / _ROWS, mmap_mode="r")
            starts = np.load(folder / _STARTS, mmap_mode="r")
        except (OSError, EOFError, ValueError, RuntimeError) as error:
            raise KnowledgeBaseError(f"cannot open {folder}: {_why(error)}") from error
        if not isinstance(graph, faiss.IndexHNSWSQ) or len(starts) != graph.ntotal + 1:
            raise KnowledgeBaseError(f"cannot open {folder}: its files do not belong together")
        return cls(graph, rows, starts)

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[Scores, Rows]:
        """Cosines, float32 (k,), and rows, int64 (k,), best first, equal ones by row.

        Approximate: some of the ``k`` nearest may be missing. Fewer than ``k`` come back where
        there are fewer rows.
        """
        k = min(k, len(self))
        if k <= 0:
            return np.empty(0, np.float32), np.empty(0, np.int64)
        query = np.ascontiguousarray(vector, np.float32)[None]
        found, nodes = self._graph.search(
            query, min(k, self._graph.ntotal), params=self._parameters
        )
        # Node -1 stands for "no more found".
        of_node = [
            self._rows[self._starts[node] : self._starts[node + 1]][:k]
            for node in nodes[0]
            if node >= 0
        ]
        rows = np.concatenate(of_node)
        scores = np.repeat(found[0][nodes[0] >= 0], [len(part) for part in of_node])
        order = np.lexsort((rows, -scores))[:k]
        return scores[order], rows[order]


def best(scores: Scores, k: int) -> Rows:
    """The rows of the ``k`` highest of ``scores``, best first, equal ones by row."""
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, np.int64)
    # Which of the rows equal to the last one argpartition takes is anyone's guess: take them all.
    rows = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
    return rows[np.argsort(-scores[rows], kind="stable")][:k].astype(np.int64)


def _faiss() -> ModuleType:
    """The faiss library, imported when first needed.

    Raises:
        ConfigError: if it is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise ConfigError(
            f"more than {FLAT_LIMIT:,} vectors need faiss: pip install 'frontdesk[faiss]'"
        ) from error
    module: ModuleType = faiss
    return module


def _why(error: Exception) -> str:
    """What went wrong, without faiss's own function and line."""
    return str(error).strip().splitlines()[-1].rpartition("failed: ")[2]
