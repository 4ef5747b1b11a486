"""What questions made from the passages are worth: ranking by the closest key, with and without.

python -m bench.expansion ../shared/data

Over the businesses of DSTC10 track 2 in which nobody asks a wrong-context question, each one's
answers as a knowledge base, its own questions asked. The rules were written with the sample
clinic in view, not with these.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.public.dstc import QUESTIONS_FILE, Business, businesses
from bench.results import write_result
from rag import documents, questions
from rag.calibration import SAMPLE_KB
from rag.embed import Embedder, Vectors, default_embedder
from rag.expand import made_questions
from rag.floor import auc
from rag.rewrite import rewrite
from rag.sentences import split_sentences
from rag.types import Passage

Case = tuple[Sequence[Passage], Sequence[tuple[str, frozenset[int]]]]
"""The passages of one business; and its questions, each with the numbers of the right passages."""


def run(data: Path, kb: Path, every: int = 2, embedder: Embedder | None = None) -> dict[str, Any]:
    """Figures with and without made keys, over one in ``every`` business, and over ``kb``."""
    embedder = embedder or default_embedder()
    scored = {
        json.loads(line)["entity_id"]
        for line in (data / QUESTIONS_FILE).read_text("utf-8").splitlines()
    }
    others = [one for one in businesses(data) if one.id not in scored][::every]
    return {
        "businesses": len(others),
        "dstc": _figures(map(_of_business, others), embedder, len(others)),
        "sample": _figures([_of_folder(kb)], embedder, 1),
    }


def _of_business(one: Business) -> Case:
    passages = [
        Passage(f"faq#{n}", "faq", "", faq.answer, 0, 0, "") for n, faq in enumerate(one.faqs)
    ]
    asked = []
    for faq in one.faqs:
        right = frozenset(n for n, other in enumerate(one.faqs) if other.answer == faq.answer)
        asked.append((rewrite(faq.question), right))
    return passages, asked


def _of_folder(folder: Path) -> Case:
    kb = documents.load(folder)
    numbers = {passage.id: n for n, passage in enumerate(kb.passages)}
    rows = questions.read(folder / questions.QUESTIONS_FILE)
    typed = questions.asked(rows, [questions.TYPED], fillers=kb.fillers)
    return kb.passages, [
        (one.query.text, frozenset(numbers[name] for name in one.question.relevant))
        for one in typed
        if one.question.relevant
    ]


def _figures(cases: Iterable[Case], embedder: Embedder, total: int) -> dict[str, Any]:
    first = {"without": 0, "with": 0}
    scores: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}
    n = passages_seen = made_seen = 0
    for passages, asked in tqdm(cases, total=total, disable=not sys.stderr.isatty()):
        plain = [_keys(embedder, _statements(passage), query=False) for passage in passages]
        made = [_keys(embedder, made_questions(passage), query=True) for passage in passages]
        passages_seen += len(passages)
        made_seen += sum(len(one) for one in made)
        for text, right in asked:
            vector = embedder.embed(text, query=True).vector
            n += 1
            for name, extra in (("without", None), ("with", made)):
                close = np.array([_closest(k, plain, extra, vector) for k in range(len(plain))])
                first[name] += int(close.argmax()) in right
                rest = [score for k, score in enumerate(close.tolist()) if k not in right]
                scores[name].append((float(close.max()), max(rest, default=-1.0)))
    return {
        "questions": n,
        "passages": passages_seen,
        "made_a_passage": round(made_seen / passages_seen, 2),
        **{
            name: {
                "right_first": round(first[name] / n, 4),
                "auc": round(auc(*np.array(scores[name]).T), 4),
            }
            for name in first
        },
    }


def _closest(
    passage: int, plain: Sequence[Vectors], made: Sequence[Vectors] | None, vector: Vectors
) -> float:
    """The cosine of a passage's closest key."""
    best = float((plain[passage] @ vector).max())
    return max(best, float((made[passage] @ vector).max(initial=-1.0))) if made else best


def _statements(passage: Passage) -> list[str]:
    sentences = split_sentences(passage.text)
    return [passage.text, *(sentences if len(sentences) > 1 else ())]


def _keys(embedder: Embedder, texts: Sequence[str], *, query: bool) -> Vectors:
    return embedder.encode(list(texts), query=query)


def main() -> int:
    """Measure, print and write bench/results/expansion.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the public data")
    parser.add_argument("--kb", type=Path, default=SAMPLE_KB)
    parser.add_argument("--every", type=int, default=2, help="one in so many businesses")
    parser.add_argument("--no-save", action="store_true")
    args = parser.parse_args()
    figures = run(args.data, args.kb, args.every)
    if not args.no_save:
        write_result("expansion", figures)
    print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
