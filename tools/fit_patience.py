"""Fit the model of whole utterances (``agent/completeness.py``) and write its weights.

    python tools/fit_patience.py --data DIR

DIR holds public questions (see ``SOURCES``). Half of them, and all that they begin with, are
fitted; the figures printed are those of the other half, in which no weight has a part. The sample
businesses take no part. It takes some seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agent.completeness import DATA, WEIGHTS, hashed, split
from bench.data import lacking
from bench.public.rows import read
from rag.floor import auc
from rag.packed_arrays import packed

SOURCES = {
    "clinc_oos.jsonl": ("text",),
    "stackfaq.jsonl": ("question", "paraphrases"),
    "dstc10_kb.jsonl": ("title",),
    "dstc_wrong_context_numbers.jsonl": ("question",),
    "noiseqa_xquad_questions.jsonl": ("question_en", "question_asr_human"),
    "followup_rewrite_cast.jsonl": ("query", "rewrite"),
    "followup_rewrite_mtrag.jsonl": ("query", "rewrite"),
    "covid_question_pairs.jsonl": ("question_1", "question_2"),
}
_KNOWN_TIMES, _LONGEST = 4, 25
_EPOCHS, _BATCH, _RATE, _DECAY = 5, 256, 0.1, 1e-5
# One word is seldom all that is heard before a pause; it counts for less.
_LONE = 0.3

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """``features`` (n, kinds) are hashed; ``whole`` (n,) 1.0 for what is an utterance; weights."""

    features: npt.NDArray[np.int64]
    whole: Floats
    weight: Floats


def utterances(folder: Path) -> dict[str, None]:
    """Every distinct public utterance, as the words the model knows; a business's name masked."""
    found: dict[str, None] = {}
    for name, keys in SOURCES.items():
        for row in read(folder / name):
            for key in keys:
                texts = row[key] if isinstance(row[key], list) else [row[key]]
                for text in texts:
                    entity = row.get("entity")
                    if key == "title" and entity:
                        text = re.sub(re.escape(entity), "place", text, flags=re.IGNORECASE)
                    found[" ".join(split(text))] = None
    found.pop("", None)
    return found


def half(text: str) -> int:
    """Which half an utterance belongs to: 0 is fitted."""
    return hashlib.sha256(text.encode()).digest()[0] % 2


def examples(texts: Sequence[str], every: Set[str], known: Set[str]) -> Examples:
    """Each utterance, and each of its beginnings with a weight that makes them one together."""
    rows = list(_rows(texts, every, known))
    features, whole, weight = (np.array(column) for column in zip(*rows, strict=True))
    return Examples(features, whole.astype(float), weight)


def _rows(
    texts: Sequence[str], every: Set[str], known: Set[str]
) -> Iterator[tuple[list[int], bool, float]]:
    for text in texts:
        words = text.split()
        if not 2 <= len(words) <= _LONGEST:
            continue
        yield hashed(words, known), True, 1.0
        for count in range(1, len(words)):
            share = (1.0 if count > 1 else _LONE) / (len(words) - 1)
            yield hashed(words[:count], known), " ".join(words[:count]) in every, share


def fit(seen: Examples, seed: int = 0) -> tuple[Floats, float]:
    """Logistic regression by Adagrad (Duchi et al. 2011): weights and bias."""
    rng = np.random.default_rng(seed)
    weights, squares, bias = np.zeros(WEIGHTS), np.full(WEIGHTS, 1e-8), 0.0
    for _ in range(_EPOCHS):
        order = rng.permutation(len(seen.whole))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            index = seen.features[batch]
            odds = weights[index].sum(axis=1) + bias
            error = (1 / (1 + np.exp(-odds)) - seen.whole[batch]) * seen.weight[batch]
            step = np.bincount(index.ravel(), np.repeat(error, index.shape[1]), WEIGHTS)
            used = np.unique(index)
            gradient = step[used] + _DECAY * _BATCH * weights[used]
            squares[used] += gradient**2
            weights[used] -= _RATE * gradient / np.sqrt(squares[used])
            bias -= 0.002 * float(error.sum())
    return weights, bias


def main() -> int:
    """Fit, report, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    if missing := lacking(folder, SOURCES):
        print(missing, file=sys.stderr)
        return 2
    every = utterances(folder)
    fitted, other = ([text for text in every if half(text) == which] for which in (0, 1))
    times = Counter(word for text in fitted for word in text.split())
    known = {word for word, count in times.items() if count >= _KNOWN_TIMES}
    weights, bias = fit(examples(fitted, every.keys(), known))
    held = examples(other, every.keys(), known)
    odds = weights[held.features].sum(axis=1) + bias
    whole = held.whole > 0
    figures = {
        "utterances": len(other),
        "auc": round(float(auc(odds[whole], odds[~whole])), 3),
        "beginnings_taken_for_whole": {
            f"{share} % of whole ones missed": round(
                float((odds[~whole] > np.percentile(odds[whole], share)).mean()), 3
            )
            for share in (5, 10, 20)
        },
    }
    print(json.dumps(figures, indent=2))
    rows = {
        "held_out": figures,
        "known": " ".join(sorted(known)),
        "bias": round(bias, 4),
        "weights": packed(weights),
    }
    DATA.write_text(json.dumps(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
