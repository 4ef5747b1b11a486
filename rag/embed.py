"""What an embedder is: texts to unit vectors. The embedders themselves are in ``rag.embedders``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """One text: its unit ``vector`` (dim,), and each word piece with its own unit vector.

    ``pieces`` are written as BERT does: one that continues a word starts with ``##``.
    ``piece_vectors`` is (pieces, dim), or (0, dim) from an embedder that gives none; ``spans``
    are the pieces' character ranges in the text.
    """

    vector: Vectors
    pieces: tuple[str, ...]
    piece_vectors: Vectors
    spans: tuple[tuple[int, int], ...]


class Embedder(Protocol):
    """Anything that turns texts into unit vectors.

    ``hash`` names the model, its vocabulary and its prefixes: vectors of different hashes are not
    comparable. ``dim`` is the length of a vector, ``max_tokens`` how many tokens of a text are
    read. ``query`` marks a question, as against a passage, for the models that tell them apart.
    """

    @property
    def name(self) -> str:
        """What the registry calls it."""
        ...

    @property
    def hash(self) -> str:
        """What its vectors can be compared under."""
        ...

    @property
    def dim(self) -> int:
        """The length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read, special ones included."""
        ...

    def encode(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Vectors:
        """One unit vector a text: float32, shape ``(len(texts), dim)``.

        ``progress(done, total)`` is called as texts are done.
        """
        ...

    def embed(self, text: str, *, query: bool = False) -> Embedding:
        """One text with its word pieces, from a single run of the model."""
        ...

    def embed_all(self, texts: Sequence[str]) -> list[Embedding]:
        """Each of some passages with its word pieces, in as few requests as the model allows."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character ranges of the model's own tokens over the whole text, special ones left out."""
        ...


def encode_each(
    embedder: Embedder, texts: Sequence[str], *, query: bool, progress: Progress | None
) -> Vectors:
    """What ``encode`` gives, for an embedder that reads one text at a time."""
    vectors = np.empty((len(texts), embedder.dim), np.float32)
    for row, text in enumerate(texts):
        vectors[row] = embedder.embed(text, query=query).vector
        if progress is not None:
            progress(row + 1, len(texts))
    return vectors


@cache
def default_embedder() -> Embedder:
    """The English embedder, made once a process at the first call.

    Raises:
        ModelFileError: if a model file is missing or altered.
    """
    from rag.embedders import make

    return make("minilm")
