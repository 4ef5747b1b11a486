"""How well the passages of an index are ranked: by meaning, by words too, raw and rewritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag.answer import best_answer
from rag.bm25 import Bm25
from rag.fusion import rrf
from rag.index import Index
from rag.questions import TYPED, Asked, Question, asked
from rag.ranking import DEPTH, figures
from rag.types import Query

LEGS = ("dense", "hybrid", "words", "quoted")
"""Cosine; cosine and words fused by rank; words alone; and the order in which the answer is taken
from the passages, whatever the floor is."""

FORMS: dict[str, Callable[[Query], Query]] = {
    "raw": lambda query: replace(query, text=query.raw, focus=()),
    "rewritten": lambda query: query,
}

# Each side of a hybrid brings in this many passages.
_POOL = 50


@dataclass(frozen=True, slots=True)
class Rankings:
    """The passages of ``index`` in the order of each of :data:`LEGS`.

    ``words`` ranks ``index.kb.passages`` by the words of heading, question and text.
    """

    index: Index
    words: Bm25

    @classmethod
    def of(cls, index: Index) -> Rankings:
        """With the index's own words, or with an index of words made here."""
        if index.words is not None:
            return cls(index, index.words)
        passages = index.kb.passages
        texts = [" ".join(filter(None, (p.heading, p.question, p.text))) for p in passages]
        return cls(index, Bm25.build(texts))

    def ids(self, query: Query) -> dict[str, list[str]]:
        """The best 10 passages for what ``query`` looks up, best first, by leg."""
        vector = self.index.embedder.embed(query.text, query=True).vector
        dense = [number for number, _ in self.index.nearest_passages(vector, _POOL)]
        words = [int(row) for row in self.words.search(query.text, _POOL)[1]]
        passages = self.index.kb.passages
        legs = {
            "dense": dense,
            "hybrid": rrf((dense, words)),
            "words": words,
        }
        ids = {leg: [passages[n].id for n in found[:DEPTH]] for leg, found in legs.items()}
        best = best_answer(query, self.index)
        return {**ids, "quoted": [hit.passage.id for hit in best.hits[:DEPTH]]}


def evaluate_retrieval(
    index: Index,
    questions: Sequence[Asked],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """The figures of ``eval retrieval --json``: ``raw`` and ``rewritten``, each by leg.

    Over the questions that have relevant passages. ``core`` counts how often a relevant passage
    comes first for the questions of kind ``core``, as typed and as first heard.
    """
    rankings = Rankings.of(index)
    answerable = [one for one in questions if one.question.relevant]
    core = _core([one.question for one in questions], index)
    total = len(answerable) + sum(map(len, core.values()))
    done = 0

    def ranked(group: Sequence[Asked]) -> dict[str, dict[str, list[Any]]]:
        nonlocal done
        pairs: dict[str, dict[str, list[Any]]] = {f: {leg: [] for leg in LEGS} for f in FORMS}
        for one in group:
            for form, of in FORMS.items():
                for leg, ids in rankings.ids(of(one.query)).items():
                    pairs[form][leg].append((ids, one.question.relevant))
            done += 1
            if progress:
                progress(done, total)
        return pairs

    by_form = ranked(answerable)
    return {
        **{f: {leg: figures(pairs) for leg, pairs in legs.items()} for f, legs in by_form.items()},
        "core": {
            source: {
                "n": len(group),
                **{
                    form: {leg: _first_right(pairs) for leg, pairs in legs.items()}
                    for form, legs in ranked(group).items()
                },
            }
            for source, group in core.items()
        },
    }


def _core(questions: Sequence[Question], index: Index) -> dict[str, list[Asked]]:
    """The core questions as typed, and as the recogniser heard them first."""
    rows = list({question.id: question for question in questions}.values())
    heard = [replace(question, heard={}) for question in rows]
    sources = {
        "typed": asked(rows, [TYPED], fillers=index.kb.fillers),
        "heard": asked(heard, fillers=index.kb.fillers),
    }
    return {
        name: [one for one in group if one.question.kind == "core" and one.question.relevant]
        for name, group in sources.items()
    }


def _first_right(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> int:
    return sum(bool(ids) and ids[0] in relevant for ids, relevant in pairs)
