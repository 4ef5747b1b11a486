"""Vectors without the model, for corpora that would take it a day.

Each word piece has the mean of the vectors that the real model gave it in a sample of the same
corpus. A text's vector is the mean of its pieces', through the linear map (ridge regression) that
comes closest to the real vectors in the sample, with some noise of the text's own, drawn by a hash
of it. What comes out lies near the real vectors of such texts, in the same clusters of template,
business and place: ``python -m bench.made_vectors`` prints how near. Questions are embedded by the
real model.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from bench import synthetic
from rag.embed import Embedder, Embedding, Progress, Vectors, encode_each

_SAMPLE = 2000
_RIDGE = 0.1
_NOISE = 0.1  # the length of the noise, against a text's unit vector


class MadeVectors:
    """An embedder of the texts of ``bench.synthetic``, comparable with the ``real`` one.

    It bears the real one's name and hash, so that an index built with it is read with that. Safe
    to share between threads.
    """

    def __init__(self, real: Embedder, language: str = "en", seed: int = 0) -> None:
        self._real = real
        self.name, self.hash = real.name, real.hash
        self.dim, self.max_tokens = real.dim, real.max_tokens
        found = [real.embed(text) for text in sample(language, _SAMPLE, seed)]
        pieces = [piece for one in found for piece in one.pieces]
        numbers = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
        rows = np.array([numbers[piece] for piece in pieces])
        sums = np.zeros((len(numbers), self.dim), np.float32)
        np.add.at(sums, rows, np.concatenate([one.piece_vectors for one in found]))
        means = sums / np.bincount(rows)[:, None]
        self._vectors: dict[str, Vectors] = dict(zip(numbers, means, strict=True))
        pooled = np.stack([self._rows(one.pieces).mean(axis=0) for one in found])
        square = pooled.T @ pooled + _RIDGE * np.eye(self.dim, dtype=np.float32)
        self._map = np.linalg.solve(square, pooled.T @ np.stack([one.vector for one in found]))

    def encode(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Vectors:
        """One unit vector a text: float32, shape ``(len(texts), dim)``."""
        return encode_each(self, texts, query=query, progress=progress)

    def embed(self, text: str, *, query: bool = False) -> Embedding:
        """One text with its word pieces."""
        spans = tuple(self._real.token_spans(text))
        pieces = pieces_of(text, spans)
        rows = self._rows(pieces)
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
        noise = np.random.default_rng(seed).standard_normal(self.dim, np.float32)
        vector = _unit(_unit(rows.mean(axis=0) @ self._map) + _NOISE * _unit(noise))
        return Embedding(vector, pieces, _unit(rows), spans)

    def embed_all(self, texts: Sequence[str]) -> list[Embedding]:
        """Each of some texts with its word pieces."""
        return [self.embed(text) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """The real ones."""
        return self._real.token_spans(text)

    def _rows(self, pieces: Sequence[str]) -> Vectors:
        return np.stack([self._vector(piece) for piece in pieces])

    def _vector(self, piece: str) -> Vectors:
        """That of a piece; one that is not in the sample is embedded by itself, once."""
        found = self._vectors.get(piece)
        if found is None:
            found = self._vectors[piece] = self._real.embed(piece.removeprefix("##")).vector
        return found


def pieces_of(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The word pieces at ``spans`` in BERT's form: lower case, ``##`` where a word goes on."""
    pieces, last = [], -1
    for start, end in spans:
        goes_on = start == last and text[start].isalnum() and text[start - 1].isalnum()
        pieces.append(("##" if goes_on else "") + text[start:end].lower())
        last = end
    return tuple(pieces)


def sample(language: str, count: int, seed: int) -> list[str]:
    """Passages of ``bench.synthetic``, each of another business."""
    rng = random.Random(f"{seed} sample")
    numbers = rng.sample(range(100 * count), count)
    return [rng.choice(synthetic.business(language, n, seed).facts).text for n in numbers]


def nearness(real: Embedder, count: int = 300) -> dict[str, float]:
    """Means over texts outside the sample, of the cosines to the real vectors.

    ``same`` is of a text's two vectors, ``others`` of one to another text's real vector,
    ``others_real`` of two texts' real vectors.
    """
    made = MadeVectors(real)
    texts = sample("en", count, seed=1)
    a, b = made.encode(texts), real.encode(texts)
    apart = ~np.eye(count, dtype=bool)
    means = {
        "same": np.diag(a @ b.T).mean(),
        "others": (a @ b.T)[apart].mean(),
        "others_real": (b @ b.T)[apart].mean(),
    }
    return {name: round(float(value), 3) for name, value in means.items()}


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit.astype(np.float32)


if __name__ == "__main__":
    from rag.embed import default_embedder

    print(nearness(default_embedder()))
