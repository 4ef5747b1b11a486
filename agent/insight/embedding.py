"""Questions to vectors, each only once: a page that is opened again costs no model again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.embed import Embedder

_KEPT = 20_000


class Embedding:
    """Vectors of questions by the embedder that ``embedder`` gives; safe between threads.

    ``progress(done, total)`` is called as new questions are done.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._embedder = embedder
        self._progress = progress
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()

    def __call__(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (questions, dim)."""
        embedder = self._embedder()
        with self._lock:
            new = [
                text
                for text in dict.fromkeys(questions)
                if (embedder.hash, text) not in self._known
            ]
            if new:
                vectors = embedder.encode(new, query=True, progress=self._progress)
                self._known.update(
                    ((embedder.hash, text), vector)
                    for text, vector in zip(new, vectors, strict=True)
                )
            found = [self._known[embedder.hash, text] for text in questions]
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return np.asarray(found, np.float32).reshape(len(questions), embedder.dim)
