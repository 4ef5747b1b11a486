"""Fit the answerability score (``rag/answerability.py``) for an embedder, and write its weights.

    python tools/fit_answerability.py --data DIR --cache DIR [--embedder minilm]

DIR of ``--data`` holds ``dstc10_kb.jsonl``, ``dstc_wrong_context_numbers.jsonl`` and
``asr_word_confusions.jsonl`` (see ``bench/public/dstc.py``). Needs torch, which the product does
not: ``pip install torch==2.13.0``. It takes some 20 minutes, and prints the figures of a quarter
of the businesses, scored by a model that was fitted on the others.

The sample clinic takes no part: its floors are measured on its own questions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from answerability_data import MADE, Business, Case, made, number, public
from answerability_model import Model, Seen, score, train
from tqdm import tqdm

from bench.public import dstc
from rag import rivals
from rag.answerability import DATA, FEATURES, FORMAT, look_at, rarity_of
from rag.embed import Embedder, Embedding
from rag.embedders import make
from rag.floor import auc
from rag.index import Index
from rag.packed_arrays import packed
from rag.reader import Words

ROOT = Path(__file__).resolve().parent.parent
PARTS, WANTED = 4, 10
# A wrong number spoken is the worst error.
_NUMBER = 3.0


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


def words_of(index: Index) -> Words:
    """Every word piece of an index, under ids that are the same in every index."""
    count = len(index.piece_ids)
    own = np.asarray(index.piece_ids).astype(np.int64)
    names = np.array([number(piece) for piece in index.vocabulary], np.int64)
    rarity = rarity_of(own, index)
    return Words(index.piece_vectors[0:count], names[own], rarity, np.array([count]))


def see(case: Case, index: Index, said: Words, embedded: Embedded) -> Seen | None:
    """What the model sees of one question; None where there is nothing to learn from."""
    asked = embedded(case.query.text)
    hits = index.search(asked.vector, WANTED + len(case.right))
    view = look_at(case.query, asked, hits, index)
    right = np.array(case.right_sentences(index, view.numbers.tolist()), bool)
    if not len(right) or not asked.pieces or (case.right and not right.any()):
        return None
    is_right = np.array([hit.passage.text in case.right for hit in hits], bool)
    ids = np.array([number(piece) for piece in asked.pieces], np.int64)
    return Seen(
        asked=Words(asked.piece_vectors, ids, view.asked.weight, np.array([len(ids)])),
        said=said,
        rows=np.asarray(index.sentence_rows)[view.numbers, 2:4],
        view=view,
        right=right,
        elsewhere=~is_right[view.hits],
        weight=_NUMBER if case.states_number else 1.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One question: its business, which figures it belongs to, and what the model sees.

    ``stated`` (sentences,) is the same number for sentences that are no rivals of each other.
    """

    business: str
    kind: str
    seen: Seen
    stated: np.ndarray


def see_all(own: Iterable[Business], embedder: Embedder) -> list[Row]:
    """Every question of some businesses."""
    embedded = Embedded(embedder)
    found = []
    for one in tqdm(own, "businesses", disable=not sys.stderr.isatty()):
        said = words_of(one.index)
        # Sentences without a value are each on their own.
        groups = {}
        stated = np.array(
            [
                groups.setdefault(rivals.values(facts) or number, len(groups))
                for number, facts in enumerate(one.index.facts)
            ]
        )
        for case in one.cases:
            seen = see(case, one.index, said, embedded)
            if seen:
                found.append(Row(one.id, kind_of(one, case), seen, stated[seen.view.numbers]))
    return found


Sums = tuple[np.ndarray, np.ndarray]


def figures(sums: Sequence[Sums], seen: Sequence[Seen]) -> dict[str, float]:
    """The figures of ``bench.public.dstc`` for some questions.

    ``refused_unanswered``: the share refused by the same floor of those that nothing answers.
    """
    answered = [(*both, one) for both, one in zip(sums, seen, strict=True) if one.right.any()]
    nothing = [z.max() for (z, _), one in zip(sums, seen, strict=True) if not one.right.any()]
    best = np.array([z.max() for z, _, _ in answered])
    without = np.array([gone[one.elsewhere].max(initial=-30) for _, gone, one in answered])
    floor = np.quantile(best, dstc.OVER_REFUSAL, method="lower")
    found = {
        "n": len(answered),
        "right_first": float(np.mean([one.right[z.argmax()] for z, _, one in answered])),
        "refused_at_5": float((without < floor).mean()),
        "auc": auc(best, without),
    }
    if len(nothing) > len(answered) / 10:
        found |= {
            "unanswered": len(nothing),
            "refused_unanswered": float(np.mean(nothing < floor)),
            "auc_unanswered": auc(best, np.array(nothing)),
        }
    return {name: round(value, 4) for name, value in found.items()}


def stood(
    row: Row, sums: np.ndarray, among: np.ndarray
) -> tuple[tuple[float, float, float], bool] | None:
    """What the standing of the best sentence is made of, and whether it is right."""
    if not among.any():
        return None
    best = int(np.where(among, sums, -np.inf).argmax())
    others = among & (row.stated != row.stated[best])
    rival = float(sums[others].max(initial=-np.inf))
    return rivals.seen(float(sums[best]), rival), bool(row.seen.right[best])


def fit_standing(rows: Sequence[Row], sums: Sequence[Sums]) -> np.ndarray:
    """The weights of :func:`rag.rivals.standing`: a logistic regression, by Newton's method.

    Of every question the best sentence, with the passages that answer it and without.
    """
    found = []
    for row, (there, gone) in zip(rows, sums, strict=True):
        every = np.ones(len(there), bool)
        found += filter(None, (stood(row, there, every), stood(row, gone, row.seen.elsewhere)))
    values = np.array([one for one, _ in found])
    right = np.array([is_right for _, is_right in found], float)
    weights = np.zeros(values.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-values @ weights))
        curve = (values * (chance * (1 - chance))[:, None]).T @ values
        weights -= np.linalg.solve(curve + 1e-3 * np.eye(len(weights)), values.T @ (chance - right))
    return weights


def kind_of(one: Business, case: Case) -> str:
    """Which figures a question belongs to."""
    return f"{one.kind}, numbers" if one.kind == "answers" and case.states_number else one.kind


def as_json(model: Model) -> dict[str, Any]:
    """The weights by feature."""
    sets = {}
    for n, name in enumerate(("without_question", "with_question")):
        values = model.weights[n].tolist()
        sets[name] = {
            **{key: round(getattr(model, key)[n].item(), 4) for key in ("bias", "behind", "read")},
            "weights": {f: round(v, 4) for f, v in zip(FEATURES, values, strict=True)},
        }
    return sets


def is_left_out(business: str) -> bool:
    """Whether a business is of the quarter that the figures are of."""
    return number(business) % PARTS == 0


def left_out(rows: Sequence[Row], dim: int) -> tuple[dict[str, Any], np.ndarray, float]:
    """The figures of a quarter of the businesses, scored by a model fitted on the others; the
    weights of the standing, fitted on what that model makes of them; and the floor, of the
    standing, that over-refuses 5 % of those that answers alone are looked up in."""
    is_out = [is_left_out(row.business) for row in rows]
    kept = [row.seen for row, out in zip(rows, is_out, strict=True) if not out]
    judged = [row for row, out in zip(rows, is_out, strict=True) if out]
    sums = score(train(kept, dim), [row.seen for row in judged])
    kinds = np.array([row.kind for row in judged])
    found = {}
    for kind in sorted(set(kinds)):
        own = np.flatnonzero(kinds == kind).tolist()
        found[kind] = figures([sums[n] for n in own], [judged[n].seen for n in own])
    weights = fit_standing(judged, sums)
    best = [
        one[0] @ weights
        for row, (there, _) in zip(judged, sums, strict=True)
        if row.kind.startswith("answers")
        and (one := stood(row, there, np.ones(len(there), bool)))
        and one[1]
    ]
    floor = float(np.quantile(best, dstc.OVER_REFUSAL, method="lower"))
    return found, weights, floor


def fit(rows: Sequence[Row], embedder: Embedder) -> dict[str, Any]:
    """Fit everything; the table that is written."""
    found, standing, floor = left_out(rows, embedder.dim)
    model = train([row.seen for row in rows], embedder.dim)
    made_up = sum(row.kind == "made" for row in rows)
    return {
        "format": FORMAT,
        "embedder": {"name": embedder.name, "hash": embedder.hash},
        "date": datetime.now(UTC).date().isoformat(),
        "data": [
            {"set": str(MADE.relative_to(ROOT)), "questions": made_up},
            {"set": dstc.KB_FILE, "questions": len(rows) - made_up},
        ],
        "left_out_businesses": found,
        "floors": {"en": round(1 / (1 + float(np.exp(-floor))), 4)},
        "standing": [round(weight, 4) for weight in standing.tolist()],
        **as_json(model),
        "reader": {name: packed(values) for name, values in model.arrays().items()},
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
    rows = see_all(made(chosen.data, embedder), embedder)
    rows += see_all(public(chosen.data, chosen.cache / embedder.name, embedder), embedder)
    table = fit(rows, embedder)
    path = DATA / f"answerability-{embedder.name}.json"
    path.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
    print(json.dumps({name: table[name] for name in ("left_out_businesses", "floors")}, indent=1))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
