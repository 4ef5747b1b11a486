"""Which of 240 passages comes first for questions as typed, as read aloud, and in Hindi.

XQuAD passages (google-deepmind/xquad, CC-BY-SA-4.0) in English and Hindi, and the questions of
NoiseQA (https://github.com/noiseQA/NoiseQA, MIT): as written, as a recogniser heard them from
people, and in Hindi. Of the orders, ``quoted`` is the product's own: first comes the passage of
the sentence that it would speak; ``quoted, hybrid`` is the same with ``retrieval.hybrid``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.public.knowledge import Row, build_index
from bench.public.rows import read, table
from rag import Policy, make_query
from rag.answer import best_answer
from rag.embedders import make
from rag.entry import Recipe
from rag.retrieval_eval import LEGS, Rankings

FILES = ("xquad_passages_en_hi.jsonl", "noiseqa_xquad_questions.jsonl")
PUBLISHED_BM25 = {"clean": 0.913, "heard": 0.771, "hindi": 0.9}
COLUMNS = {"clean": "question_en", "heard": "question_asr_human", "hindi": "question_hi"}
# Embedder, language of the passages, and which questions are asked of them.
SETS = (
    ("minilm", "en", ("clean", "heard")),
    ("e5", "hi", ("hindi",)),
    ("e5", "en", ("clean", "heard", "hindi")),
)
HYBRID = "quoted, hybrid"
ORDERS = (*LEGS, HYBRID)


def run(data: Path, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Top-1 by embedder and language of the passages, kind of question, and order."""
    passages, questions = read(data / FILES[0]), read(data / FILES[1])
    total = len(questions) * sum(len(kinds) for _, _, kinds in SETS)
    done = 0
    top1: dict[str, dict[str, dict[str, float]]] = {}
    for name, language, kinds in SETS:
        rows = [Row(p["id"], p[language], language=language) for p in passages]
        rankings = Rankings.of(build_index(rows, make(name), Recipe(sparse=True)))
        found = top1[f"{name}, {language}"] = {}
        for kind in kinds:
            right = dict.fromkeys(ORDERS, 0)
            for question in questions:
                gold = f"{question['passage']}#1"
                for order, first in _first(rankings, question[COLUMNS[kind]]).items():
                    right[order] += first == gold
                done += 1
                if progress:
                    progress(done, total)
            found[kind] = {order: round(n / len(questions), 4) for order, n in right.items()}
    return {
        "passages": len(passages),
        "questions": len(questions),
        "published_bm25": PUBLISHED_BM25,
        "top1": top1,
    }


def printed(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    rows: list[list[object]] = []
    for name, kinds in figures["top1"].items():
        for kind, found in kinds.items():
            same = not (name.endswith(", en") and kind == "hindi")
            published = figures["published_bm25"][kind] if same else ""
            rows.append([name, kind, published, *(found[order] for order in ORDERS)])
    return table(("XQuAD, top-1", "questions", "BM25 published", *ORDERS), rows)


def _first(rankings: Rankings, text: str) -> dict[str, str]:
    """The id of the passage that comes first, by order."""
    query = make_query(text)
    first = {leg: ids[0] for leg, ids in rankings.ids(query).items() if ids}
    wide = best_answer(query, rankings.index, Policy(hybrid=True))
    return {**first, HYBRID: wide.hits[0].passage.id}
