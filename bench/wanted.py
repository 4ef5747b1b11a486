"""From which likeness two questions ask the same, and how well that is told.

The threshold is chosen on paraphrases of one set (StackFAQ) and scored on pairs of another
(COVID question pairs): https://github.com/ML-Recipes/BERT-FAQ, https://github.com/deepset-ai/COVID-QA

python -m bench.wanted --data FOLDER
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.insight.clusters import LIKE
from bench.data import lacking
from bench.results import write_result
from rag.embed import default_embedder
from rag.rewrite import rewrite

CHOSEN_ON, SCORED_ON = "stackfaq.jsonl", "covid_question_pairs.jsonl"
PRECISION = 0.98
"""Of wordings from many sites, most of which are of other topics: those of one business are closer.
Two answers to write that are taken for one are worse than one that is listed twice.
"""

Pairs = tuple[NDArray[np.float64], NDArray[np.bool_]]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write bench/results/wanted.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    args = parser.parse_args(argv)
    problem = lacking(args.data, (CHOSEN_ON, SCORED_ON))
    if problem:
        print(problem, file=sys.stderr)
        return 2
    chosen_on, scored_on = _paraphrases(args.data / CHOSEN_ON), _pairs(args.data / SCORED_ON)
    found = _threshold(*chosen_on)
    figures = {
        "least_precision": PRECISION,
        "found": found,
        "in_use": LIKE,
        "chosen_on": {"data": CHOSEN_ON, **scored(*chosen_on, LIKE)},
        "scored_on": {"data": SCORED_ON, **scored(*scored_on, LIKE)},
    }
    print(json.dumps(figures, indent=2))
    write_result("wanted", figures)
    return 0


def scored(close: NDArray[np.float64], same: NDArray[np.bool_], like: float) -> dict[str, float]:
    """Precision and recall of "asks the same" from ``like`` on."""
    said = close >= like
    right = int((said & same).sum())
    return {
        "pairs": len(same),
        "same": int(same.sum()),
        "precision": round(right / max(1, int(said.sum())), 3),
        "recall": round(right / max(1, int(same.sum())), 3),
    }


def _threshold(close: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """The lowest of two digits with the precision that is asked for."""
    levels = np.arange(0.4, 1.0, 0.01)
    good = [level for level in levels if scored(close, same, level)["precision"] >= PRECISION]
    return round(float(min(good)), 2)


def _paraphrases(path: Path) -> Pairs:
    """Every pair of wordings of StackFAQ's questions; those of one question are the same."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    texts = [(n, text) for n, row in enumerate(rows) for text in row["paraphrases"]]
    vectors = _vectors([text for _, text in texts])
    pairs = list(itertools.combinations(range(len(texts)), 2))
    left, right = np.array(pairs).T
    close = np.einsum("ij,ij->i", vectors[left], vectors[right], dtype=np.float64)
    return close, np.array([texts[a][0] == texts[b][0] for a, b in pairs])


def _pairs(path: Path) -> Pairs:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    left = _vectors([row["question_1"] for row in rows])
    right = _vectors([row["question_2"] for row in rows])
    close = np.einsum("ij,ij->i", left, right, dtype=np.float64)
    return close, np.array([row["similar"][:1] == "1" for row in rows])


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """As the questions of calls are looked up: rewritten first."""
    return default_embedder().encode([rewrite(text) or text for text in texts], query=True)


if __name__ == "__main__":
    sys.exit(main())
