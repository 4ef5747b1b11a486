"""Text in, verdict out. Synchronous and pure: no sockets, no sleeps, no clocks that decide.

Small enough to use without the rest: ``rewrite``, ``search``, ``verify`` and ``answer`` are the
answer path. Importing this package loads no model; the first search does.
"""

from __future__ import annotations

from rag.answer import answer
from rag.evaluate import evaluate_answers, evaluate_retrieval
from rag.floor import calibrate
from rag.index import Index
from rag.query import make_query
from rag.rewrite import rewrite
from rag.search import search
from rag.store import open_index
from rag.types import (
    Check,
    Decision,
    Draft,
    Hit,
    Passage,
    Policy,
    Query,
    Reason,
    Verdict,
)
from rag.verify import verify

__all__ = [
    "Check",
    "Decision",
    "Draft",
    "Hit",
    "Index",
    "Passage",
    "Policy",
    "Query",
    "Reason",
    "Verdict",
    "answer",
    "calibrate",
    "evaluate_answers",
    "evaluate_retrieval",
    "make_query",
    "open_index",
    "rewrite",
    "search",
    "verify",
]
