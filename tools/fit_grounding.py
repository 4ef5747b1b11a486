"""Fit the grounding check (``rag/grounding``), and write its weights and limits.

    python tools/fit_grounding.py --data DIR

DIR holds the files of ``bench/public/claims.py``. Only the development half of each set is used:
the benchmark reports the other. Two logistic models are fitted, one on what the words tell and
one on that and the embedder's vectors. A claim of several sentences is as doubtful as its worst,
so of an unsupported one the sentence counts that the model of the round before doubts most.

A feature whose weight comes out against its meaning (``LOWERS`` lists those that lower the doubt)
only mends what another overdoes; it is left out, and the rest fitted again.

Every set weighs the same, its supported and unsupported claims alike. The limit is the one of the
best mean of recall and acceptance over the three sets of claims, under the condition that people's
own answers out of FAQs are accepted as often as ``ACCEPTED``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from tqdm import tqdm

from bench.public.claims import Claim, Remembering, claims
from rag.embed import default_embedder
from rag.grounding.evidence import evidence_of, sentence_of, stated
from rag.grounding.features import BY_EMBEDDING, BY_WORDS, by_embedding, seen
from rag.grounding.weights import FILE

# Who is not accepted hears the sentence quoted in place of the model's words.
ACCEPTED = 0.80
# Of what the words alone let pass or stop, at most this share is wrong.
WRONG_YES, WRONG_NO = 0.03, 0.05
# Supported claims that have less overlap than any other, and are not spoken for it.
STRANGE = 0.05
ROUNDS, PENALTY = 5, 1.0
LOWERS = frozenset({"overlap", "together", "similarity", "whole", "lacking_close"})
_FAQ = "faq_answers"


class Rows:
    """The sentences of all claims: ``values`` (sentences, features), ``owner`` their claim."""

    def __init__(self, some: Sequence[Claim], embedder: Remembering) -> None:
        values, owner = [], []
        for number, claim in enumerate(tqdm(some, unit="claim", disable=not sys.stderr.isatty())):
            known = evidence_of(claim.evidence)
            for text in stated(claim.text):
                one = seen(sentence_of(text), known)
                found = {**one.values, **by_embedding(one, embedder)}
                values.append([found[name] for name in (*BY_WORDS, *BY_EMBEDDING)])
                owner.append(number)
        self.values, self.owner = np.array(values), np.array(owner)


def fit(
    values: np.ndarray,
    owner: np.ndarray,
    is_wrong: np.ndarray,
    weight: np.ndarray,
    names: Sequence[str],
) -> tuple[np.ndarray, float]:
    """Weights and bias; a weight of 0 for what is left out."""
    signs = np.array([-1 if name in LOWERS else 1 for name in names])
    used = np.ones(len(names), bool)
    while True:
        weights, bias = _fit(values[:, used], owner, is_wrong, weight)
        against = weights * signs[used]
        if against.min() >= 0:
            found = np.zeros(len(names))
            found[used] = weights
            return found, bias
        scaled = against * values[:, used].std(0)
        used[np.flatnonzero(used)[int(scaled.argmin())]] = False


def _fit(
    values: np.ndarray, owner: np.ndarray, is_wrong: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, float]:
    """By the worst sentence of what is wrong."""
    mean, scale = values.mean(0), values.std(0) + 1e-6
    scaled = (values - mean) / scale
    used = np.ones(len(values), bool)
    found = np.zeros(values.shape[1] + 1)
    for _ in range(ROUNDS):
        own = owner[used]
        found = _newton(scaled[used], is_wrong[own].astype(float), weight[own])
        used = _worst(scaled @ found[:-1], owner, is_wrong)
    weights = found[:-1] / scale
    return weights, float(found[-1] - (weights * mean).sum())


def _newton(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    x = np.c_[x, np.ones(len(x))]
    found = np.zeros(x.shape[1])
    penalty = np.diag([PENALTY] * (len(found) - 1) + [1e-6])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ found))
        slope = x.T @ (weight * (p - y)) + penalty @ found
        step = np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + penalty, slope)
        found -= step
        if np.abs(step).max() < 1e-7:
            break
    return found


def _worst(doubt: np.ndarray, owner: np.ndarray, is_wrong: np.ndarray) -> np.ndarray:
    highest = np.full(len(is_wrong), -np.inf)
    np.maximum.at(highest, owner, doubt)
    return ~is_wrong[owner] | (doubt == highest[owner])


def of_claims(
    values: np.ndarray, owner: np.ndarray, model: tuple[np.ndarray, float], n: int
) -> np.ndarray:
    """The doubt of each claim: that of its worst sentence."""
    doubt = 1 / (1 + np.exp(-(values @ model[0] + model[1])))
    found = np.zeros(n)
    np.maximum.at(found, owner, doubt)
    return found


def limit_of(some: Sequence[Claim], doubt: np.ndarray) -> float:
    """The limit that the module describes."""
    is_wrong = np.array([not one.is_supported for one in some])
    names = np.array([one.set for one in some])
    answers = np.sort(doubt[(names == _FAQ) & ~is_wrong])
    lowest = answers[min(len(answers) - 1, int(ACCEPTED * len(answers)))]
    best, limit = -1.0, 1.0
    for one in np.linspace(lowest, 0.99, 200):
        means = [
            (doubt[own & is_wrong] >= one).mean() + (doubt[own & ~is_wrong] < one).mean()
            for own in (names == name for name in sorted(set(names)) if name != _FAQ)
        ]
        if np.mean(means) > best:
            best, limit = float(np.mean(means)), float(one)
    return limit


def least_overlap(some: Sequence[Claim], rows: Rows) -> float:
    """What all but ``STRANGE`` of the supported claims have, the three sets weighing the same."""
    found = np.ones(len(some))
    np.minimum.at(found, rows.owner, rows.values[:, BY_WORDS.index("overlap")])
    names = np.array([one.set if one.is_supported else "" for one in some])
    sets = sorted(set(names) - {"", _FAQ})
    shares = [(value, sum((found[names == n] < value).mean() for n in sets)) for value in
              np.linspace(0, 1, 101)]  # fmt: skip
    return float(max(value for value, share in shares if share <= STRANGE * len(sets)))


def sure(doubt: np.ndarray, is_wrong: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Below the first and above the second, what the words say is not asked further."""
    order = np.argsort(doubt)
    wrong = np.cumsum((weight * is_wrong)[order]) / np.cumsum(weight[order])
    right = np.cumsum((weight * ~is_wrong)[order[::-1]]) / np.cumsum(weight[order[::-1]])
    low, high = np.flatnonzero(wrong <= WRONG_YES), np.flatnonzero(right <= WRONG_NO)
    return (
        float(doubt[order[low[-1]]]) if len(low) else 0.0,
        float(doubt[order[::-1][high[-1]]]) if len(high) else 1.0,
    )


def main() -> int:
    """Fit, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    chosen = parser.parse_args()
    embedder = default_embedder()
    some = [one for one in claims(chosen.data) if one.half == "development"]
    some = [one for one in some if stated(one.text)]
    rows = Rows(some, Remembering(embedder))
    is_wrong = np.array([not one.is_supported for one in some])
    counts = Counter((one.set, one.is_supported) for one in some)
    weight = np.array([500 / counts[one.set, one.is_supported] for one in some])
    written = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "data": {
            name: sum(one.set == name for one in some)
            for name in dict.fromkeys(o.set for o in some)
        },
    }
    for name, count in (("words", len(BY_WORDS)), ("embedding", rows.values.shape[1])):
        values = rows.values[:, :count]
        names = (*BY_WORDS, *BY_EMBEDDING)[:count]
        model = fit(values, rows.owner, is_wrong, weight, names)
        doubt = of_claims(values, rows.owner, model, len(some))
        kept = [(n, w) for n, w in zip(names, model[0], strict=True) if w]
        found: dict[str, object] = {
            "weights": {n: round(float(w), 4) for n, w in kept},
            "bias": round(model[1], 4),
            "limit": round(limit_of(some, doubt), 4),
        }
        if name == "words":
            low, high = sure(doubt, is_wrong, weight)
            found |= {"sure_yes": round(low, 4), "sure_no": round(high, 4)}
            found["least_overlap"] = round(least_overlap(some, rows), 4)
        else:
            found["embedder"] = embedder.hash
        written[name] = found
    FILE.write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
