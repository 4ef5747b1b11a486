"""Vectors from an OpenAI-compatible server (``POST BASE/embeddings``), over httpx, synchronous.

Its tokens are not known here: ``token_spans`` gives words, and there are no piece vectors, so
what compares word by word falls back to comparing words.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from agent.remote import Remote, Server
from frontdesk import EmbedderError
from rag.embed import Embedding, Progress, Vectors

_BATCH = 64
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Endpoint(Server):
    """Where vectors come from, and how texts are written for the model there.

    ``dimensions`` asks the server for shorter vectors, for models that have them. ``max_tokens``
    is counted in words here (see above), so set it to about two thirds of the model's own limit.
    """

    query_prefix: str = ""
    passage_prefix: str = ""
    dimensions: int | None = None
    max_tokens: int = 340


class RemoteEmbedder:
    """An embedder on another machine; safe to share between threads.

    ``dim`` is learned from the first answer (asking for it makes a request if there was none).

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """

    name = "remote"

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.max_tokens = endpoint.max_tokens
        parts = (
            endpoint.model,
            str(endpoint.dimensions),
            endpoint.query_prefix,
            endpoint.passage_prefix,
        )
        self.hash = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        self._remote = Remote(
            endpoint,
            "/embeddings",
            kind="embeddings",
            error=EmbedderError,
            transport=transport,
            sleep=sleep,
        )
        self._dim = endpoint.dimensions
        self._lock = threading.Lock()

    @property
    def dim(self) -> int:
        """The length of a vector.

        Raises:
            EmbedderError: if it has to be asked for and the server does not answer.
        """
        return self._dim or self._request(["dimensions"]).shape[1]

    def encode(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Vectors:
        """One unit vector a text: float32, shape ``(len(texts), dim)``, 64 texts a request.

        Raises:
            EmbedderError: if the server cannot be reached, refuses, or answers something else.
        """
        prefix = self.endpoint.query_prefix if query else self.endpoint.passage_prefix
        parts = []
        for start in range(0, len(texts), _BATCH):
            batch = [prefix + text for text in texts[start : start + _BATCH]]
            parts.append(self._request(batch))
            if progress is not None:
                progress(start + len(batch), len(texts))
        return np.concatenate(parts) if parts else np.empty((0, self.dim), np.float32)

    def embed(self, text: str, *, query: bool = False) -> Embedding:
        """One text with its words as pieces, lower case; ``piece_vectors`` is (0, dim).

        Raises:
            EmbedderError: as for :meth:`encode`.
        """
        return self._with_words(text, self.encode([text], query=query)[0])

    def embed_all(self, texts: Sequence[str]) -> list[Embedding]:
        """Each of some passages with its words as pieces, 64 texts a request.

        Raises:
            EmbedderError: as for :meth:`encode`.
        """
        return [self._with_words(*one) for one in zip(texts, self.encode(texts), strict=True)]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character ranges of words and punctuation marks: the server does not tell its tokens."""
        return [match.span() for match in _WORD.finditer(text)]

    def _with_words(self, text: str, vector: Vectors) -> Embedding:
        spans = self.token_spans(text)
        return Embedding(
            vector=vector,
            pieces=tuple(text[start:end].lower() for start, end in spans),
            piece_vectors=np.empty((0, self.dim), np.float32),
            spans=tuple(spans),
        )

    def close(self) -> None:
        """Close the connections."""
        self._remote.close()

    def _request(self, batch: list[str]) -> Vectors:
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "input": batch,
            "encoding_format": "float",
        }
        if self.endpoint.dimensions is not None:
            body["dimensions"] = self.endpoint.dimensions
        return self._vectors(self._remote.post(body), len(batch))

    def _vectors(self, answer: httpx.Response, count: int) -> Vectors:
        """The unit vectors of an answer, in the order of the texts."""
        try:
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError) as problem:
            raise self._remote.failure(
                f"answered something else than embeddings ({problem!r}); check base_url (it ends "
                "in /v1 on most servers)"
            ) from problem
        if vectors.ndim != 2 or len(vectors) != count:
            raise self._remote.failure(
                f"answered {len(vectors)} vectors for {count} texts; check that it serves an "
                "embedding model"
            )
        self._learn(vectors.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._remote.failure(
                "answered an empty or infinite vector; check that it serves an embedding model"
            )
        unit: Vectors = vectors / lengths
        return unit

    def _learn(self, dim: int) -> None:
        with self._lock:
            self._dim = self._dim or dim
        if dim != self._dim:
            raise self._remote.failure(
                f"answered vectors of {dim} numbers, not {self._dim}; check dimensions and that "
                "the model has not changed"
            )
