"""Which way to chunk finds the passages best: the chunkers side by side on one question set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontdesk import KnowledgeBaseError
from rag.chunkers import CHUNKERS, Source, chunk
from rag.embed import Embedder, Vectors
from rag.ranking import DEPTH, figures

TOKENS = 64
"""The size compared at unless another is asked for: most passages of a call's answers fit into one
chunk of the usual 200, which leaves four of the five chunkers nothing to differ in."""

_COLUMNS = {
    "recall_at_1": "recall@1",
    "recall_at_3": "recall@3",
    "hit_at_10": "hit@10",
    "mrr": "MRR",
    "ndcg": "nDCG@10",
    "chunks": "chunks",
    "mean_tokens": "tokens a chunk",
    "build_s": "build s",
    "query_p50_ms": "query ms p50",
}
_DECIMALS = {"chunks": 0, "mean_tokens": 1, "build_s": 1, "query_p50_ms": 2}

Progress = Callable[[str, int, int], None]
"""Called with a chunker's name, and how many passages and questions of how many are done."""


def bake_off(
    documents: Sequence[tuple[str, Source]],
    questions: Iterable[tuple[str, Collection[str]]],
    embedder: Embedder,
    *,
    names: Sequence[str] = tuple(CHUNKERS),
    tokens: int = TOKENS,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """How well each chunker in ``names`` finds the passages ``documents`` (id, source).

    A question is a text and the ids of the passages that answer it; one without ids is skipped,
    and counted in ``skipped``. A passage ranks where its best chunk does, once.

    ``chunkers`` maps each name to the figures of :func:`rag.ranking.figures`, the number of
    ``chunks``, the ``mean_tokens`` of their embedded texts, the seconds to cut and embed them
    (``build_s``), and the median time from a question's text to its passages (``query_p50_ms``).

    Raises:
        ConfigError: if there is no chunker of a name, or ``tokens`` is too small.
        KnowledgeBaseError: if no passage holds text, or no question names a passage.
    """
    rows = [(text, frozenset(relevant)) for text, relevant in questions]
    asked = [row for row in rows if row[1]]
    if not asked:
        raise KnowledgeBaseError(
            f"none of {len(rows)} questions names the passage that answers it; "
            "fill in the key `relevant`"
        )
    if not any(source.text.strip() for _, source in documents):
        raise KnowledgeBaseError(f"none of {len(documents)} passages holds text; add documents")
    found = {
        name: _measure(name, documents, asked, embedder, tokens, progress or _silent)
        for name in names
    }
    return {
        "embedder": embedder.name,
        "tokens": tokens,
        "passages": len(documents),
        "questions": len(asked),
        "skipped": len(rows) - len(asked),
        "chunkers": found,
    }


def table(result: dict[str, Any]) -> str:
    """The result of :func:`bake_off` as a Markdown table that also lines up on a terminal."""
    rows = [["chunker", *_COLUMNS.values()]]
    for name, found in result["chunkers"].items():
        rows.append([name, *(_cell(key, found[key]) for key in _COLUMNS)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |"
        for row in (rows[0], rule, *rows[1:])
    ]
    return "\n".join(
        [
            f"{result['embedder']}, chunks of up to {result['tokens']} tokens, "
            f"{result['passages']} passages, {result['questions']} questions "
            f"({result['skipped']} without a gold passage skipped)",
            "",
            *lines,
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Chunked:
    """The chunks of all passages: unit ``vectors`` (chunks, dim), and ``owners`` (chunks,)."""

    ids: tuple[str, ...]
    owners: NDArray[np.intp]
    vectors: Vectors

    def ranked(self, vector: Vectors) -> list[str]:
        """The ids of the best passages for a unit ``vector`` (dim,), each by its best chunk."""
        order = np.argsort(-(self.vectors @ vector), kind="stable")
        found: dict[str, None] = {}
        for owner in self.owners[order].tolist():
            found[self.ids[owner]] = None
            if len(found) == DEPTH:
                break
        return list(found)


def _measure(
    name: str,
    documents: Sequence[tuple[str, Source]],
    asked: Sequence[tuple[str, frozenset[str]]],
    embedder: Embedder,
    tokens: int,
    progress: Progress,
) -> dict[str, Any]:
    total = len(documents) + len(asked)
    began = perf_counter_ns()
    owners: list[int] = []
    texts: list[str] = []
    vectors: list[Vectors] = []
    for number, (_, source) in enumerate(documents):
        own = [one.embed_text for one in chunk(name, source, embedder, tokens=tokens)]
        if own:
            vectors.append(embedder.encode(own))
        owners += [number] * len(own)
        texts += own
        progress(name, number + 1, total)
    chunked = _Chunked(
        tuple(passage_id for passage_id, _ in documents),
        np.array(owners, np.intp),
        np.concatenate(vectors),
    )
    build_s = (perf_counter_ns() - began) / 1e9
    rankings, times_ms = [], []
    for done, (text, relevant) in enumerate(asked):
        began = perf_counter_ns()
        ranked = chunked.ranked(embedder.embed(text, query=True).vector)
        times_ms.append((perf_counter_ns() - began) / 1e6)
        rankings.append((ranked, relevant))
        progress(name, len(documents) + done + 1, total)
    return {
        **figures(rankings),
        "chunks": len(texts),
        "mean_tokens": round(sum(len(embedder.token_spans(t)) for t in texts) / len(texts), 1),
        "build_s": round(build_s, 2),
        "query_p50_ms": round(float(np.percentile(times_ms, 50, method="lower")), 2),
    }


def _cell(key: str, value: float) -> str:
    return f"{value:.{_DECIMALS.get(key, 3)}f}"


def _silent(_stage: str, _done: int, _total: int) -> None:
    pass
