"""What the settings say about retrieval, as the objects that ``rag`` takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.settings import Settings
from frontdesk import ConfigError
from rag import Index, Policy, open_index
from rag.chunkers import RESERVED
from rag.embed import Embedder
from rag.embedders import make
from rag.entry import Recipe
from rag.rerank import CrossEncoder

if TYPE_CHECKING:
    from agent.question_maker import QuestionMaker


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that ``retrieval.embedder`` names.

    Raises:
        ConfigError: if it is remote and ``[embeddings]`` does not say where, or its key is not set;
            if it does not read as much as ``retrieval.chunk_tokens``.
        ModelFileError: if one of its files is missing or altered.
    """
    embedder = _embedder(settings)
    most, size = embedder.max_tokens - RESERVED, settings.retrieval.chunk_tokens
    if size > most:
        raise ConfigError(
            f"retrieval.chunk_tokens is {size}, but the embedder {embedder.name!r} reads {most} "
            f"tokens of a passage; set it to {most} or less"
        )
    return embedder


def _embedder(settings: Settings) -> Embedder:
    if settings.retrieval.embedder != "remote":
        return make(settings.retrieval.embedder)
    from agent.remote_embedder import Endpoint, RemoteEmbedder

    endpoint = settings.embeddings.model_dump()
    return RemoteEmbedder(Endpoint(**{**endpoint, "dimensions": endpoint["dimensions"] or None}))


def recipe_of(settings: Settings) -> Recipe:
    """How the documents are cut and indexed."""
    retrieval = settings.retrieval
    return Recipe(
        chunker=retrieval.chunker,
        tokens=retrieval.chunk_tokens,
        expand=retrieval.expand,
        sparse=retrieval.hybrid,
        maker=settings.questions.model if retrieval.expand else "",
    )


def maker_of(settings: Settings) -> QuestionMaker | None:
    """The model that makes questions from the passages; None if none is set or wanted.

    Raises:
        ConfigError: if ``[questions]`` does not say where and which, or its key is not set.
    """
    server = settings.questions
    if not settings.retrieval.expand or not (server.base_url or server.model):
        return None
    from agent.question_maker import QuestionMaker
    from agent.remote import Server

    return QuestionMaker(Server(**server.model_dump()))


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
        repair=retrieval.repair,
        places=retrieval.places,
    )


def index_of(settings: Settings) -> Index:
    """The index of the documents, built if it is not there. See :func:`rag.open_index`."""
    return open_index(settings.kb, embedder_of(settings), recipe_of(settings))
