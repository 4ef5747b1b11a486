"""Fit the answerability score (``rag/answerability.py``) for an embedder, and write its weights.

    python tools/fit_answerability.py --data DIR --cache DIR [--embedder minilm]

DIR of ``--data`` holds ``dstc10_kb.jsonl`` and ``dstc_wrong_context_numbers.jsonl`` (see
``bench/public/dstc.py``). Needs torch, which the product does not: ``pip install torch==2.13.0``.
It takes about five minutes, and prints the figures of three-fold cross-validation by business.

Stacked: the weights are fitted on features from lenses that did not see the business: for half
of the businesses trained on two thirds of all others, for the other half on other lines of
business only, so that the weights trust the lens as far as it goes elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from answerability_data import Case, businesses, cases, clinic_cases, index_of, number
from answerability_model import (
    Fitted,
    Scored,
    Seen,
    Tokens,
    apply,
    padded,
    train_lens,
    train_weights,
)
from tqdm import tqdm

from bench.public import dstc
from rag import documents
from rag.answerability import DATA, FEATURES, Lens, look_at, packed, rarity_of
from rag.building import build
from rag.embed import Embedder, Embedding
from rag.embedders import make
from rag.floor import auc
from rag.index import Index

ROOT = Path(__file__).resolve().parent.parent
CLINIC = ROOT / "kb" / "clinic"
FOLDS, WANTED, AT_MOST = 3, 10, 150


class Embedded:
    """The questions, each embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Embedding] = {}

    def __call__(self, text: str) -> Embedding:
        """The embedding of a question."""
        if text not in self._known:
            self._known[text] = self._embedder.embed(text, query=True)
        return self._known[text]


def thinned(all_of: Sequence[dstc.Business]) -> set[str]:
    """At most 150 of each line of business, so that none outweighs the rest in the weights."""
    order = sorted(all_of, key=lambda one: number(one.id))
    seen: Counter[str] = Counter()
    kept = set()
    for one in order:
        seen[one.domain] += 1
        if seen[one.domain] <= AT_MOST:
            kept.add(one.id)
    return kept


def tokens_of(own: Sequence[Case], index: Index, embedded: Embedded) -> Tokens:
    """One business as the lens is trained on it."""
    count = len(index.kb.passages)
    bounds = [index.sentence_rows[index.sentence_numbers(n).start][2] for n in range(count)]
    ids = np.asarray(index.piece_ids)
    found = [embedded(case.query.text) for case in own]
    sizes = [len(one.pieces) for one in found]
    shares = [index.weights(one.pieces, ()) for one in found]
    right = [[p.text in case.right for p in index.kb.passages] for case in own]
    return Tokens(
        pieces=torch.tensor(index.piece_vectors[: len(ids)]),
        passages=torch.tensor(np.repeat(np.arange(count), np.diff([*bounds, len(ids)]))),
        rarity=torch.tensor(rarity_of(ids, index), dtype=torch.float32),
        asked=torch.tensor(np.concatenate([one.piece_vectors for one in found])),
        questions=torch.tensor(np.repeat(np.arange(len(own)), sizes)),
        shares=torch.tensor(np.concatenate(shares)),
        right=torch.tensor(right),
        weight=torch.tensor([3.0 if case.states_number else 1.0 for case in own]),
    )


def see(case: Case, index: Index, lens: Lens, embedded: Embedded) -> Seen:
    """What the model sees of one question, ten passages beside the right ones."""
    asked = embedded(case.query.text)
    hits = index.search(asked.vector, WANTED + len(case.right))
    view = look_at(case.query, asked, hits, index, lens)
    return Seen(
        view,
        np.array(case.right_sentences(index, view.numbers.tolist())),
        np.array([hit.passage.text in case.right for hit in hits]),
        case.states_number,
        case.asked is not None,
    )


def cross_validated(batch: dict[str, torch.Tensor], groups: Sequence[str]) -> Scored:
    """Every question scored by weights that were fitted without its business."""
    folds = np.array([number(group) % FOLDS for group in groups])
    parts = []
    for fold in range(FOLDS):
        model = train_weights(batch, np.flatnonzero(folds != fold))
        parts.append(apply(model, batch))
    pick = np.arange(len(folds))
    return Scored(
        *(
            np.stack([getattr(part, name) for part in parts])[folds, pick]
            for name in Scored.__slots__
        )
    )


def figures(scored: Scored, rows: np.ndarray) -> dict[str, float]:
    """The figures of ``bench.public.dstc`` for some questions."""
    score, without = scored.score[rows], scored.without[rows]
    floor = np.quantile(score, dstc.OVER_REFUSAL, method="lower")
    return {
        "n": int(rows.sum()),
        "right_first": round(float(scored.right_first[rows].mean()), 4),
        "refused_at_5": round(float((without < floor).mean()), 4),
        "auc": round(auc(score, without), 4),
    }


def as_json(model: Fitted) -> dict[str, Any]:
    """The weights by feature."""
    sets = {}
    for n, name in enumerate(("without_question", "with_question")):
        values = model.weights[n].tolist()
        sets[name] = {
            "bias": round(model.bias[n].item(), 4),
            "behind": round(model.behind[n].item(), 4),
            "weights": {f: round(v, 4) for f, v in zip(FEATURES, values, strict=True)},
        }
    return sets


def fit(data: Path, cache: Path, embedder: Embedder) -> dict[str, Any]:
    """Fit everything; the table that is written."""
    embedded = Embedded(embedder)
    chosen = businesses(data)
    weighed = thinned(chosen)
    own_cases = list(cases(chosen, embedder))
    plain = [index_of(one, cache, embedder, titles=False) for one in tqdm(chosen, "answers")]
    tokens = [
        tokens_of(own, index, embedded)
        for own, index in zip(tqdm(own_cases, "embed"), plain, strict=True)
    ]

    def lens_without(leave_out: str | int | None) -> Lens:
        kept = [
            part
            for one, part in zip(chosen, tokens, strict=True)
            if leave_out not in (one.domain, number(one.id) % FOLDS)
        ]
        return train_lens(kept, embedder.dim)

    domains = [name for name, count in Counter(c.domain for c in chosen).items() if count > 50]
    keys: list[str | int | None] = [*range(FOLDS), *domains, None]
    lenses = {key: lens_without(key) for key in tqdm(keys, "lenses")}
    seen: list[Seen] = []
    kinds: list[str] = []
    groups: list[str] = []
    for n, (one, own) in enumerate(zip(tqdm(chosen, "look"), own_cases, strict=True)):
        if one.id not in weighed:
            continue
        titled = index_of(one, cache, embedder, titles=True)
        by_domain = number(one.id) // FOLDS % 2 and one.domain in domains
        lens = lenses[one.domain if by_domain else number(one.id) % FOLDS]
        for case in own:
            sets = {"answers": plain[n], **({"questions": titled} if case.is_reworded else {})}
            for kind, index in sets.items():
                seen.append(see(case, index, lens, embedded))
                kinds.append(f"{kind}, numbers" if case.states_number else kind)
                groups.append(case.group)
    # Not opened: its floors are measured on the weights that are fitted here.
    clinic = build(documents.load(CLINIC), embedder, {})
    for case in clinic_cases(CLINIC, clinic):
        seen.append(see(case, clinic, lenses[None], embedded))
        kinds.append("clinic")
        groups.append(case.group)
    batch = padded(seen)
    model = train_weights(batch, np.arange(len(seen)))
    scored = cross_validated(batch, groups)
    names = np.array(kinds)
    is_public = names != "clinic"
    on_answers = np.char.startswith(names, "answers") & scored.right_first
    floor = float(np.quantile(scored.score[on_answers], dstc.OVER_REFUSAL, method="lower"))
    lens_parts = {name: packed(getattr(lenses[None], name)) for name in Lens.__slots__}
    return {
        "embedder": {"name": embedder.name, "hash": embedder.hash},
        "date": datetime.now(UTC).date().isoformat(),
        "data": [
            {"set": dstc.KB_FILE, "businesses": len(chosen), "questions": int(is_public.sum())},
            {"set": "kb/clinic/questions.jsonl", "questions": int((~is_public).sum())},
        ],
        "cross_validated": {
            name: figures(scored, names == name) for name in sorted(set(kinds) - {"clinic"})
        },
        "floors": {"en": round(1 / (1 + float(np.exp(-floor))), 4)},
        **as_json(model),
        "lens": lens_parts,
    }


def main() -> int:
    """Fit, write, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public data")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the indexes built")
    parser.add_argument("--embedder", default="minilm")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    embedder = make(chosen.embedder)
    table = fit(chosen.data, chosen.cache / embedder.name, embedder)
    path = DATA / f"answerability-{embedder.name}.json"
    path.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    print(json.dumps({name: table[name] for name in ("cross_validated", "floors")}, indent=1))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
