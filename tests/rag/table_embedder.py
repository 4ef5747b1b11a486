"""An embedder whose vectors are written down, for tests of what is done with them."""

import hashlib

import numpy as np

from rag.embed import Embedding


class TableEmbedder:
    """``table`` maps a text to its vector; any other text has one of its own, far from the rest."""

    name, hash, dim, max_tokens = "table", "table", 16, 256

    def __init__(self, table):
        self._table = table

    def embed(self, text, *, query=False):
        words = text.split()
        spans, at = [], 0
        for word in words:
            at = text.index(word, at)
            spans.append((at, at + len(word)))
            at += len(word)
        vectors = np.stack([self._vector(w) for w in words]) if words else np.empty((0, self.dim))
        return Embedding(self._vector(text), tuple(words), vectors.astype(np.float32), tuple(spans))

    def encode(self, texts, *, query=False, progress=None):
        return np.stack([self._vector(text) for text in texts])

    def embed_all(self, texts):
        return [self.embed(text) for text in texts]

    def token_spans(self, text):
        return list(self.embed(text).spans)

    def _vector(self, text):
        if text in self._table:
            vector = np.zeros(self.dim, np.float32)
            vector[: len(self._table[text])] = self._table[text]
        else:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
            vector = np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)
            vector[:4] = 0
        return vector / np.linalg.norm(vector)
