"""A knowledge base made of rows, and questions asked of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag import building, make_query
from rag.documents import KnowledgeBase, Source
from rag.embed import Embedder
from rag.entry import Recipe
from rag.index import Index
from rag.questions import TYPED, Asked, Question
from rag.rewrite import default_fillers
from rag.sentences import split_sentences
from rag.types import Decision, Passage


@dataclass(frozen=True, slots=True)
class Row:
    """One document of one passage: its ``text``, and the ``question`` that it answers, if any."""

    id: str
    text: str
    question: str | None = None
    language: str = "en"

    @property
    def passage_id(self) -> str:
        """The id of its passage."""
        return f"{self.id}#1"


def build_index(rows: Sequence[Row], embedder: Embedder, recipe: Recipe | None = None) -> Index:
    """An index of ``rows`` as the product builds one, without floors."""
    passages = []
    for row in rows:
        text = " ".join(row.text.split())
        digest = hashlib.sha256(text.encode()).hexdigest()
        passages.append(
            Passage(
                id=row.passage_id,
                doc=row.id,
                heading="",
                text=text,
                start=0,
                end=len(text),
                sha256=digest,
                question=row.question,
                language=row.language,
            )
        )
    kb = KnowledgeBase(
        folder=Path("public"),
        passages=tuple(passages),
        texts={passage.doc: passage.text for passage in passages},
        fillers=default_fillers(),
        mishearings=(),
        sha256="",
        sources=tuple(Source(p.doc, p.doc, p.sha256, n, 1) for n, p in enumerate(passages)),
    )
    return building.build(kb, embedder, {}, recipe)


def ask(name: str, text: str, gold: Row | None) -> Asked:
    """A typed question; its answer is right if it is a sentence of ``gold``.

    Without ``gold`` it is one to refuse.
    """
    facts = (tuple(split_sentences(" ".join(gold.text.split()))),) if gold else ()
    question = Question(
        id=name,
        text=text,
        asr="",
        context=None,
        relevant=(gold.passage_id,) if gold else (),
        decision=Decision.ANSWERED if gold else Decision.REFUSED,
        facts=facts,
        kind="",
        heard={},
    )
    return Asked(question, TYPED, make_query(text))
