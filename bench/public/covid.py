"""Pairs of health questions that ask the same, or don't, over a public-health FAQ.

deepset-ai/COVID-QA, ``covid_question_pairs.jsonl`` and ``covid_faq_kb.jsonl``:
https://github.com/deepset-ai/COVID-QA (Apache-2.0; texts of CDC, WHO and FDA). The first question
of a pair is one of the FAQ. The second is asked of the whole FAQ, of the FAQ without the passage
of the first, and of that passage alone: with an answer if the pair is similar, without if not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.public.errors import Case, cross_fitted, rows_of
from bench.public.knowledge import Row, ask, build_index
from bench.public.rows import read, table
from rag.embed import Embedder, default_embedder

FILES = ("covid_question_pairs.jsonl", "covid_faq_kb.jsonl")


def run(
    data: Path,
    *,
    embedder: Embedder | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Error rates over the whole FAQ, and over pairs of a question and one passage."""
    by_question: dict[str, Row] = {}
    for n, faq in enumerate(read(data / FILES[1])):
        by_question.setdefault(faq["question"], Row(f"kb-covid{n}", faq["answer"], faq["question"]))
    rows = list(by_question.values())
    index = build_index(rows, embedder or default_embedder())
    every = frozenset(row.passage_id for row in rows)
    whole, pairs = [], []
    groups = {row.id: n for n, row in enumerate(rows)}
    for n, pair in enumerate(read(data / FILES[0])):
        gold = by_question.get(pair["question_1"])
        if gold is None:
            continue
        text, group, own = pair["question_2"], groups[gold.id], frozenset({gold.passage_id})
        if pair["similar"] == "1":
            whole.append(Case("similar", group, ask(f"{n}", text, gold)))
            whole.append(Case("without its passage", group, ask(f"-{n}", text, None), own))
            pairs.append(Case("similar", group, ask(f"{n}", text, gold), every - own))
        else:
            pairs.append(Case("not similar", group, ask(f"{n}", text, None), every - own))
    total = 2 * (len(whole) + len(pairs))

    def of_pairs(done: int, _: int) -> None:
        if progress:
            progress(2 * len(whole) + done, total)

    def of_whole(done: int, _: int) -> None:
        if progress:
            progress(done, total)

    return {
        "passages": len(rows),
        "whole": cross_fitted(index, whole, progress=of_whole),
        "pairs": cross_fitted(index, pairs, progress=of_pairs),
    }


def printed(figures: dict[str, Any]) -> str:
    """The figures as two tables."""
    return "\n".join(
        table((title, "rate", "AUC"), rows_of(figures[part]))
        for part, title in (("whole", "COVID FAQ, whole"), ("pairs", "COVID FAQ, one passage"))
    )
