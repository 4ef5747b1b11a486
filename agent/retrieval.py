"""What the settings say about retrieval, as the objects that ``rag`` takes."""

from __future__ import annotations

from pathlib import Path

from agent.settings import Settings
from rag import Index, Policy, open_index
from rag.embed import Embedder
from rag.embedders import make
from rag.entry import Recipe
from rag.rerank import CrossEncoder


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that ``retrieval.embedder`` names.

    Raises:
        ConfigError: if it is remote and ``[embeddings]`` does not say where, or its key is not set.
        ModelFileError: if one of its files is missing or altered.
    """
    if settings.retrieval.embedder != "remote":
        return make(settings.retrieval.embedder)
    from agent.remote_embedder import Endpoint, RemoteEmbedder

    return RemoteEmbedder(Endpoint(**settings.embeddings.model_dump()))


def recipe_of(settings: Settings) -> Recipe:
    """How the documents are cut and indexed."""
    retrieval = settings.retrieval
    return Recipe(
        chunker=retrieval.chunker,
        tokens=retrieval.chunk_tokens,
        expand=retrieval.expand,
        sparse=retrieval.hybrid,
    )


def policy_of(settings: Settings) -> Policy:
    """How an answer is decided.

    Raises:
        ConfigError: if the reranker's folder does not hold one.
    """
    retrieval = settings.retrieval
    return Policy(
        candidates=retrieval.candidates,
        hybrid=retrieval.hybrid,
        deadline_ms=retrieval.deadline_ms,
        reranker=CrossEncoder(Path(retrieval.reranker)) if retrieval.reranker else None,
    )


def index_of(settings: Settings) -> Index:
    """The index of the documents, built if it is not there. See :func:`rag.open_index`."""
    return open_index(settings.kb, embedder_of(settings), recipe_of(settings))
