"""Paraphrases of questions about web applications, by people who were shown the question.

ML-Recipes/BERT-FAQ, ``stackfaq.jsonl``: https://github.com/ML-Recipes/BERT-FAQ (code MIT,
StackExchange texts CC-BY-SA). Each question with its first answer is a passage. The same
paraphrases with their own passage left out, and the questions of another collection
(``covid_faq_kb.jsonl``), have no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.public.errors import Case, cross_fitted, rows_of
from bench.public.knowledge import Row, ask, build_index
from bench.public.rows import read, table
from rag.embed import Embedder, default_embedder

FILES = ("stackfaq.jsonl", "covid_faq_kb.jsonl")


def run(
    data: Path,
    *,
    embedder: Embedder | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Error rates of paraphrases, with and without their passage, and of others' questions."""
    faqs = read(data / FILES[0])
    rows = [
        Row(f"kb-stackfaq{n}", faq["answers"][0], faq["question"]) for n, faq in enumerate(faqs)
    ]
    cases = []
    for n, (faq, row) in enumerate(zip(faqs, rows, strict=True)):
        for at, text in enumerate(faq["paraphrases"]):
            name = f"{n}-{at}"
            cases.append(Case("paraphrases", n, ask(name, text, row)))
            without = frozenset({row.passage_id})
            cases.append(Case("without their passage", n, ask(f"-{name}", text, None), without))
    for n, other in enumerate(read(data / FILES[1])):
        cases.append(Case("of other FAQs", n, ask(f"other-{n}", other["question"], None)))
    index = build_index(rows, embedder or default_embedder())
    return {"passages": len(rows), **cross_fitted(index, cases, progress=progress)}


def printed(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    return table(("StackFAQ", "rate", "AUC"), rows_of(figures))
